//! Text that is safe to show: a stored name must not drive the terminal that it is shown on.

use std::{borrow::Cow, fmt::Write};

/// The text, with an escape as in Rust's string literals (`\n`, `\u{1b}`) for each control
/// character, line separator and change of the writing direction. All else, the backslash
/// too, stays as it is, for this is to be read and not to be parsed.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_the_terminal) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if acts_on_the_terminal(character) {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "{}", character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn acts_on_the_terminal(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Line and paragraph separator; embeddings, overrides and isolates, which show
            // what follows them, other columns included, in another order.
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_as_escapes() {
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
    fn all_other_text_stays_as_it_is() {
        for text in ["", "  R2\\n", "Ørsted", "机器人", "👩‍🚀", "e\u{301}", "\"'"] {
            assert_eq!(printable(text), text);
        }
    }
}
