//! How many robots there are of each type and decade.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::error::Result;
use crate::model::{Field, Robot, Value};

/// The numbers of robots by type and decade. In JSON, an object with all members.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, Filter, MemoryCatalogue};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// catalogue.add(Draft::new("C-3PO", "droid", 1977))?;
/// catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
/// let summary = catalogue.summary(&Filter::all())?;
/// assert_eq!(summary.count, 3);
/// assert_eq!(
///     serde_json::to_string(&summary.groups[0])?,
///     r#"{"type":"droid","decade":1970,"count":2}"#,
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of all robots.
    pub count: u64,
    /// The numbers by type, in the order of their names, and by decade; those without are last. A group without robots is
    /// missing.
    pub groups: Vec<SummaryGroup>,
}

/// The number of robots of a type and a decade.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SummaryGroup {
    /// The type, if they have any.
    #[serde(rename = "type")]
    pub robot_type: Option<String>,
    /// The first year of the decade, such as 1970, if they have a year.
    pub decade: Option<i64>,
    /// The number of robots.
    pub count: u64,
}

/// The number of robots that have the same values of some fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// The values, in the order of the fields; `None` is no value.
    pub values: Vec<Option<Value<'static>>>,
    /// The number of robots.
    pub count: u64,
}

impl Count {
    /// The numbers of these robots.
    pub(crate) fn of(robots: &[Robot], by: &[Field]) -> Vec<Self> {
        if by.is_empty() {
            let (values, count) = (Vec::new(), robots.len() as u64);
            return vec![Self { values, count }];
        }
        let value = |robot: &Robot, field: &Field| robot.value_of(field).map(Value::into_owned);
        let counts = robots.iter().map(|robot| Self {
            values: by.iter().map(|field| value(robot, field)).collect(),
            count: 1,
        });
        counts.collect()
    }
}

impl Summary {
    /// The summary of numbers of robots by type and year, in any order.
    pub fn new<T: Ord + Into<String>>(
        counts_by_year: impl IntoIterator<Item = (Option<T>, Option<i64>, u64)>,
    ) -> Self {
        // Robots without a type are last, and of each type those without a year.
        let mut counts = BTreeMap::new();
        for (robot_type, year, count) in counts_by_year {
            let decade = year.map(|year| year.saturating_sub(year.rem_euclid(10)));
            let place = (robot_type.is_none(), robot_type, decade.is_none(), decade);
            *counts.entry(place).or_default() += count;
        }
        let groups = counts.into_iter();
        let groups = groups.map(|((_, robot_type, _, decade), count)| SummaryGroup {
            robot_type: robot_type.map(Into::into),
            decade,
            count,
        });
        let groups: Vec<_> = groups.collect();
        Self {
            count: groups.iter().map(|group| group.count).sum(),
            groups,
        }
    }

    /// The summary of counts by type and year.
    pub(crate) fn of(counts: Vec<Count>) -> Self {
        Self::new(counts.into_iter().map(|Count { values, count }| {
            let mut values = values.into_iter();
            let robot_type = values.next().flatten().map(|value| value.to_string());
            let year = match values.next().flatten() {
                Some(Value::Integer(year)) => Some(year),
                _ => None,
            };
            (robot_type, year, count)
        }))
    }
}

/// A value of a field, or the year of times, and the number of robots that have it; `None` is no value.
pub type ValueCount = (Option<Value<'static>>, u64);

/// The numbers of robots by the values of a field, of times by their years. The least value is first; no
/// value is last. A text that is no time was stored before the field had times, and is none.
pub(crate) fn counted_values(
    field: &Field,
    counts: impl IntoIterator<Item = ValueCount>,
) -> Vec<ValueCount> {
    let counts = counts.into_iter().map(|(value, count)| {
        let value = match value.filter(|value| field.kind().is_valid_time(value)) {
            Some(Value::Text(time)) if field.kind().is_time() => {
                let year = time.split('-').next().unwrap_or_default();
                Some(Value::from(year.to_owned()))
            }
            value => value,
        };
        (value, count)
    });
    let mut counted = grouped(counts);
    counted.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) => one.compare(other),
        (one, other) => one.is_none().cmp(&other.is_none()),
    });
    counted
}

/// The numbers by value, each value once.
fn grouped(counts: impl IntoIterator<Item = ValueCount>) -> Vec<ValueCount> {
    let mut counted: HashMap<Option<String>, ValueCount> = HashMap::new();
    for (value, count) in counts {
        let text = value.as_ref().map(ToString::to_string);
        counted.entry(text).or_insert((value, 0)).1 += count;
    }
    counted.into_values().collect()
}

/// The values of a field that most robots have.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FrequentValues {
    /// The number of all robots.
    pub count: u64,
    /// The values with the numbers of their robots. The greatest number is first; of equal ones, that of the least value.
    /// No value is last, if there are such robots.
    pub groups: Vec<ValueCount>,
    /// The number of other values, and of the robots that have them.
    pub others: (u64, u64),
}

impl FrequentValues {
    /// Those of all numbers by value, up to a number of values.
    #[must_use]
    pub fn new(counts: impl IntoIterator<Item = ValueCount>, limit: usize) -> Self {
        let counted = grouped(counts);
        let robots = counted.iter().map(|(_, count)| count).sum();
        let values = counted.iter().filter(|(value, _)| value.is_some()).count();
        Self::of(counted, robots, values as u64, limit)
    }

    /// Those of the most frequent values, of which there are so many, also of robots.
    fn of(mut groups: Vec<ValueCount>, count: u64, values: u64, limit: usize) -> Self {
        groups.sort_by(|(one, robots), (other, of_other)| match (one, other) {
            (Some(one), Some(other)) => of_other.cmp(robots).then_with(|| one.compare(other)),
            (one, other) => one.is_none().cmp(&other.is_none()),
        });
        let none = groups.pop_if(|(value, _)| value.is_none());
        groups.truncate(limit);
        let other_values = values.saturating_sub(groups.len() as u64);
        groups.extend(none);
        let counted: u64 = groups.iter().map(|(_, robots)| robots).sum();
        let others = (other_values, count.saturating_sub(counted));
        Self {
            count,
            groups,
            others,
        }
    }

    /// Those of the rows that a statement returns, up to a number of rows. Each also has the number of all robots and that
    /// of all values.
    pub(crate) fn read(
        limit: usize,
        read: impl FnOnce(usize) -> Result<Vec<Count>>,
    ) -> Result<Self> {
        let rows = read(limit.saturating_add(1))?;
        let number = |row: &Count, place| match row.values.get(place) {
            Some(Some(Value::Integer(number))) => number.unsigned_abs(),
            _ => 0,
        };
        let (count, values) = rows
            .first()
            .map_or((0, 0), |row| (number(row, 1), number(row, 2)));
        let groups = rows
            .into_iter()
            .map(|mut row| (row.values.swap_remove(0), row.count));
        Ok(Self::of(groups.collect(), count, values, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Definition;

    #[test]
    fn dates_are_counted_by_year_and_other_texts_are_no_value() {
        let json = r#"{"properties":{"built":{"type":"string","format":"date"}}}"#;
        let definition: Definition = json.parse().unwrap();
        let texts = ["2021-01-01", "soon", "2020-12-31", "2021-05-31", "2021"];
        let counts = texts.map(|text| (Some(text.into()), 1));
        let counts = counted_values(
            definition.field("built").unwrap(),
            counts.into_iter().chain([(None, 1)]),
        );
        let expected = [
            (Some("2020".into()), 1),
            (Some("2021".into()), 2),
            (None, 3),
        ];
        assert_eq!(counts, expected);
    }
}
