//! How many robots there are of each type and decade.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

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
    let mut counted: HashMap<Option<String>, ValueCount> = HashMap::new();
    for (value, count) in counts {
        let value = match value.filter(|value| field.kind().is_valid_time(value)) {
            Some(Value::Text(time)) if field.kind().is_time() => {
                let year = time.split('-').next().unwrap_or_default();
                Some(Value::from(year.to_owned()))
            }
            value => value,
        };
        let text = value.as_ref().map(ToString::to_string);
        counted.entry(text).or_insert((value, 0)).1 += count;
    }
    let mut counted: Vec<_> = counted.into_values().collect();
    counted.sort_by(|(one, _), (other, _)| match (one, other) {
        (Some(one), Some(other)) => one.compare(other),
        (one, other) => one.is_none().cmp(&other.is_none()),
    });
    counted
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
