//! Dates, and how files write them.

use std::borrow::Cow;

use serde::Serialize;

/// The order of day and month in dates that consist of numbers.
///
/// ```
/// use robot_core::DateOrder;
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
    /// The orders.
    pub(crate) const ALL: [Self; 2] = [Self::DayFirst, Self::MonthFirst];

    /// The names, in the order of the variants.
    pub const NAMES: &[&str] = &["dmy", "mdy"];

    /// The order with this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let mut all = Self::NAMES.iter().zip(Self::ALL);
        all.find_map(|(known, order)| (*known == name).then_some(order))
    }
}

/// The date of a text that has no other time than midnight: in an order of day and month, or else in ISO 8601.
pub(super) fn read_date(text: &str, order: Option<DateOrder>) -> Option<Cow<'_, str>> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let is_midnight = matches!(time, "" | "00:00" | "00:00:00" | "00:00:00.000");
    let date = match order {
        None => Cow::Borrowed(date),
        Some(order) => {
            let separator = date.chars().find(|character| !character.is_ascii_digit())?;
            let parts: Vec<_> = date.split(separator).collect();
            let ([day, month, year], true) = (&parts[..], ['.', '/', '-'].contains(&separator))
            else {
                return None;
            };
            let (day, month) = match order {
                DateOrder::DayFirst => (day, month),
                DateOrder::MonthFirst => (month, day),
            };
            format!("{year}-{month:0>2}-{day:0>2}").into()
        }
    };
    (is_midnight && is_date(&date)).then_some(date)
}

/// Whether a text is a date of the Gregorian calendar: `YYYY-MM-DD`.
pub(super) fn is_date(text: &str) -> bool {
    let date = text.parse::<jiff::civil::Date>();
    // Other texts have a time, too, or a negative year.
    text.len() == 10 && date.is_ok_and(|date| date.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for date in ["2020-02-29", "2000-02-29", "0001-01-01", "9999-12-31"] {
            assert!(is_date(date), "{date}");
        }
        for text in [
            "2021-02-29",
            "1900-02-29",
            "2020-13-01",
            "2020-00-10",
            "2020-04-31",
            "2020-4-1",
            "+020-04-01",
            "-000001-04-01",
            "2020-04-010",
            "2020/04/01",
            "",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
