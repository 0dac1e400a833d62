//! Escapes for text from users, so that a stored name can't control the terminal.

use std::{
    borrow::Cow,
    io::{self, Write},
};

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

/// Writer of CSV or JSON to a terminal, line by line, each [`printable`].
#[derive(Default)]
pub(crate) struct Printable<W> {
    pub(crate) output: W,
    /// The begun line.
    pub(crate) line: Vec<u8>,
}

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if let Some(end) = self.line.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.line.split_off(end + 1);
            for line in String::from_utf8_lossy(&self.line).lines() {
                writeln!(self.output, "{}", printable(line))?;
            }
            self.line = rest;
        }
        Ok(bytes.len())
    }

    // Every output ends with a line break.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_a_terminal_are_printable() {
        let text = "a\u{1b}[31m,机\n\"\u{9b}2J\u{202e}\"\n";
        let mut printable = Printable::<Vec<u8>>::default();
        text.bytes()
            .for_each(|byte| printable.write_all(&[byte]).unwrap());
        let shown = "a\\u{1b}[31m,机\n\"\\u{9b}2J\\u{202e}\"\n";
        assert_eq!(String::from_utf8(printable.output).unwrap(), shown);
    }

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
