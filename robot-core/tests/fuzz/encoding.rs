//! Percent-encoding in all the ways that clients write it, and a naive decoder.

use proptest::{collection::vec, prelude::*};

/// How one byte is written.
#[derive(Debug, Clone, Copy)]
enum Style {
    /// As it is, where that is possible.
    Plain,
    Upper,
    Lower,
}

/// These bytes, each written in one way or another. What has a meaning of its own in a path or a
/// query is never plain.
pub(crate) fn encoded(
    bytes: impl Strategy<Value = Vec<u8>>,
) -> impl Strategy<Value = (Vec<u8>, String)> {
    let style = prop_oneof![
        4 => Just(Style::Plain),
        1 => Just(Style::Upper),
        1 => Just(Style::Lower),
    ];
    (bytes, vec(style, 1..20)).prop_map(|(bytes, styles)| {
        let written = bytes.iter().zip(styles.iter().cycle());
        let text = written.map(|(byte, style)| write(*byte, *style)).collect();
        (bytes, text)
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

/// The bytes that a text means. A `%` that two hexadecimal digits do not follow is itself.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::new();
    while let Some((byte, behind)) = rest.split_first() {
        rest = behind;
        let digits = behind.first_chunk::<2>().filter(|_| *byte == b'%');
        let value = digits.and_then(|&[high, low]| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(high)? * 16 + digit(low)?).ok()
        });
        if value.is_some() {
            rest = &behind[2..];
        }
        bytes.push(value.unwrap_or(*byte));
    }
    bytes
}
