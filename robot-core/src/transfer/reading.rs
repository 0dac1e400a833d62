//! How the texts of a column become values.

use std::borrow::Cow;

use serde::Serialize;

use crate::model::{Field, Kind, draft_json::whole, excerpt, is_date};

/// Texts that stand for no value in many files, if the other values of the column are no texts.
pub(super) const NULLS: [&str; 8] = ["NA", "N/A", r"\N", "NULL", "null", "None", "-", "?"];

/// The order of day and month in dates that consist of numbers.
///
/// ```
/// use robot_core::transfer::DateOrder;
///
/// assert_eq!(DateOrder::of_name("dmy"), Some(DateOrder::DayFirst));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum DateOrder {
    /// As in 31.12.2020.
    #[serde(rename = "dmy")]
    DayFirst,
    /// As in 12/31/2020.
    #[serde(rename = "mdy")]
    MonthFirst,
}

impl DateOrder {
    /// The names, in the order of the variants.
    pub const NAMES: &[&str] = &["dmy", "mdy"];

    /// The order with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES.iter().zip([Self::DayFirst, Self::MonthFirst]);
        all.find_map(|(known, order)| (*known == name).then_some(order))
    }

    /// The date of a text in this order, as in ISO 8601.
    pub(super) fn parse(self, text: &str) -> Option<String> {
        let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
        let separator = date.chars().find(|character| !character.is_ascii_digit())?;
        if !matches!(separator, '.' | '/' | '-') || !is_midnight(time) {
            return None;
        }
        let parts: Vec<_> = date.split(separator).collect();
        let [one, other, year] = parts[..] else {
            return None;
        };
        let (day, month) = match self {
            Self::DayFirst => (one, other),
            Self::MonthFirst => (other, one),
        };
        let date = format!("{year}-{month:0>2}-{day:0>2}");
        is_date(&date).then_some(date)
    }
}

/// The date of a text in ISO 8601, if it has no other time than midnight.
pub(super) fn iso_date(text: &str) -> Option<&str> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    (is_date(date) && is_midnight(time)).then_some(date)
}

fn is_midnight(time: &str) -> bool {
    matches!(time, "" | "00:00" | "00:00:00" | "00:00:00.000")
}

/// How the texts of a column become values.
#[derive(Debug, Clone, Default)]
pub(super) struct Reading {
    /// Texts that stand for no value.
    pub(super) nulls: Vec<String>,
    pub(super) has_decimal_comma: bool,
    pub(super) dates: Option<DateOrder>,
    /// Whether blanks around texts are no part of them.
    pub(super) trims: bool,
}

impl Reading {
    /// A text of the file without the blanks that are no part of it; `None` if it stands for no value.
    pub(super) fn present<'t>(&self, text: &'t str, is_text: bool) -> Option<&'t str> {
        let text = if self.trims || !is_text {
            text.trim()
        } else {
            text
        };
        let is_null = text.is_empty() || self.nulls.iter().any(|null| null == text);
        (!is_null).then_some(text)
    }

    /// The text that the field parses; `None` if it stands for no value.
    pub(super) fn text<'t>(
        &self,
        field: Field,
        text: &'t str,
    ) -> Result<Option<Cow<'t, str>>, String> {
        let kind = field.kind();
        let is_text = matches!(kind, Kind::Text { .. }) && !kind.is_date();
        let Some(text) = self.present(text, is_text) else {
            return Ok(None);
        };
        Ok(Some(match kind {
            _ if kind.is_date() => {
                let date = self.dates.and_then(|order| order.parse(text));
                date.map_or_else(|| iso_date(text).unwrap_or(text).into(), Cow::Owned)
            }
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
            _ => text.into(),
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
