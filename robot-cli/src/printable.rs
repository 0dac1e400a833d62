//! Escapes for text from users, so that a stored name can't control the terminal.

use std::borrow::Cow;

/// The text with control characters, line separators and bidirectional controls escaped as in Rust
/// (`\n`, `\u{1b}`). Backslashes stay: the result is for people, not for parsers.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::new();
    for character in text.chars() {
        if is_unsafe(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Line and paragraph separators, and bidirectional embeddings, overrides and
            // isolates, which reorder the following columns.
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        for (text, shown) in [
            ("a\u{1b}[31mb", r"a\u{1b}[31mb"),
            ("a\nb\tc\rd", r"a\nb\tc\rd"),
            ("\u{7f}\u{9b}2J", r"\u{7f}\u{9b}2J"),
            ("\u{202e}live\u{2028}", r"\u{202e}live\u{2028}"),
        ] {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn text_without_control_characters_is_unchanged() {
        for text in ["", "  R2\\n", "Ørsted", "机器人", "👩‍🚀", "e\u{301}", "\"'"] {
            assert_eq!(printable(text), text);
        }
    }
}
