//! How texts become values: those of a file, and stored ones of a field that gets another kind.

use std::borrow::Cow;

use super::{date::DateOrder, field::Field, kind::Kind, text::excerpt, value::Value};

/// Texts that stand for no value in many files, if the other values of the column are no texts.
pub(crate) const NULLS: [&str; 8] = ["NA", "N/A", r"\N", "NULL", "null", "None", "-", "?"];

/// How the texts of a column become values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Texts that stand for no value.
    pub(crate) nulls: Vec<String>,
    pub(crate) has_decimal_comma: bool,
    pub(crate) dates: Option<DateOrder>,
    /// Whether blanks around texts are no part of them.
    pub(crate) trims: bool,
}

impl Reading {
    /// A text of the file without the blanks that are no part of it; `None` if it stands for no value.
    pub(crate) fn present<'t>(&self, text: &'t str, is_text: bool) -> Option<&'t str> {
        let text = if self.trims || !is_text {
            text.trim()
        } else {
            text
        };
        let is_null = text.is_empty() || self.nulls.iter().any(|null| null == text);
        (!is_null).then_some(text)
    }

    /// The text that the field parses; `None` if it stands for no value.
    pub(crate) fn text<'t>(
        &self,
        field: &Field,
        text: &'t str,
    ) -> Result<Option<Cow<'t, str>>, String> {
        let kind = field.kind();
        let is_text = matches!(kind, Kind::Text { .. }) && !kind.is_time();
        let Some(text) = self.present(text, is_text) else {
            return Ok(None);
        };
        Ok(Some(match kind {
            Kind::Integer { .. } | Kind::Number { .. } => {
                let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
                let mut digits = unsigned.chars().map(|character| character.is_ascii_digit());
                if unsigned.starts_with('0') && digits.nth(1) == Some(true) {
                    return Err(format!(
                        "{field} must be {}; the zeros at the beginning of {} would be lost",
                        field.requirement(),
                        excerpt(text)
                    ));
                }
                self.number(text, matches!(kind, Kind::Integer { .. }))
            }
            Kind::Boolean => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => "true".into(),
                "false" | "no" | "0" => "false".into(),
                _ => text.into(),
            },
            _ => {
                let read = kind.time().map(|time| time.read);
                let value =
                    read.and_then(|read| read(text, self.dates).or_else(|| read(text, None)));
                value.unwrap_or(text.into())
            }
        }))
    }

    /// A number as in JSON, such as `0.5` for `+,5`.
    fn number<'t>(&self, text: &'t str, is_integer: bool) -> Cow<'t, str> {
        let text = text.strip_prefix('+').unwrap_or(text);
        let text = if is_integer { whole(text) } else { text };
        let mut text = Cow::Borrowed(text);
        if self.has_decimal_comma {
            text = text.replace(',', ".").into();
        }
        match text
            .strip_prefix("-.")
            .map(|decimals| ("-", decimals))
            .or_else(|| Some(("", text.strip_prefix('.')?)))
        {
            Some((sign, decimals)) => format!("{sign}0.{decimals}").into(),
            None => text,
        }
    }
}

impl Field {
    /// The value of this field that a value of another kind becomes; `None` if it becomes none.
    pub(crate) fn convert(&self, value: &Value<'_>) -> Option<Value<'static>> {
        let text = value.to_string();
        let text = Reading::default().text(self, &text).ok()??;
        let value = self.parse_value(&text).ok()?.into_owned();
        self.check(&value).is_empty().then_some(value)
    }
}

/// A number without decimals that are zero: `2008` for `2008.0`.
pub(crate) fn whole(number: &str) -> &str {
    match number.split_once('.') {
        Some((digits, zeros)) if zeros.bytes().all(|byte| byte == b'0') && !zeros.is_empty() => {
            digits
        }
        _ => number,
    }
}
