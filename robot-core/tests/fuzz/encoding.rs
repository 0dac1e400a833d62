//! Percent-encoding in all styles of clients, and a model of the decoder.

use proptest::{collection::vec, prelude::*};

/// The encoding of one byte.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// Unchanged if possible.
    Plain,
    Upper,
    Lower,
}

/// Bytes in random styles. Characters with a meaning in a path or a query are always encoded.
pub(crate) fn encoded(bytes: Vec<u8>) -> impl Strategy<Value = String> {
    let style = prop_oneof![
        4 => Just(Style::Plain),
        1 => Just(Style::Upper),
        1 => Just(Style::Lower),
    ];
    vec(style, 1..20).prop_map(move |styles| {
        let written = bytes.iter().zip(styles.iter().cycle());
        written.map(|(byte, style)| write(*byte, *style)).collect()
    })
}

fn write(byte: u8, style: Style) -> String {
    let may_be_plain = byte.is_ascii_graphic() && !b"/?%#&+=".contains(&byte);
    match style {
        Style::Plain if may_be_plain => char::from(byte).to_string(),
        Style::Plain | Style::Upper => format!("%{byte:02X}"),
        Style::Lower => format!("%{byte:02x}"),
    }
}

/// The decoded bytes. A `%` without two hexadecimal digits after it stands for itself.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::new();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let digits = after.first_chunk::<2>().filter(|_| *byte == b'%');
        let value = digits.and_then(|&[high, low]| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(high)? * 16 + digit(low)?).ok()
        });
        if value.is_some() {
            rest = &after[2..];
        }
        bytes.push(value.unwrap_or(*byte));
    }
    bytes
}
