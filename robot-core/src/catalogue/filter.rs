//! Which robots a list, a search or a count contains.

use std::{
    borrow::Cow,
    ops::{Bound, Not, RangeBounds},
};

use memchr::memmem::Finder;
use serde::{Deserialize, Deserializer, Serialize};

use super::condition::{Comparison, Condition};
#[cfg(feature = "http")]
use crate::model::Field;
use crate::model::{Member, Robot, Value, fold};

/// Conditions that robots meet. A robot must meet all of them.
///
/// A text is the filter of the robots whose names contain it, so [`Pages::new`](crate::Pages::new)
/// takes it instead.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, Filter, MemoryCatalogue, Pages};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// catalogue.add(Draft::new("BB-8", "droid", 2015))?;
/// catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
///
/// let filter = Filter::all().of_type("droid").years(..2000);
/// let names: Vec<String> = Pages::new(&catalogue, filter)
///     .flatten()
///     .flatten()
///     .map(|robot| robot.name().to_owned())
///     .collect();
/// assert_eq!(names, ["R2-D2"]);
/// # Ok::<(), robot_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Filter {
    #[serde(skip_serializing_if = "String::is_empty")]
    containing: String,
    #[serde(skip_serializing_if = "Not::not")]
    fold: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(
        rename = "type",
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "each_once"
    )]
    types: Vec<String>,
    #[serde(rename = "year_from", skip_serializing_if = "Option::is_none")]
    first_year: Option<i64>,
    #[serde(rename = "year_to", skip_serializing_if = "Option::is_none")]
    last_year: Option<i64>,
}

/// Deserializes types, of which some may be repeated.
fn each_once<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let types: Vec<String> = Vec::deserialize(deserializer)?;
    Ok(types.into_iter().fold(Filter::all(), Filter::of_type).types)
}

impl Filter {
    /// The filter that every robot meets.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            containing: String::new(),
            fold: false,
            name: None,
            types: Vec::new(),
            first_year: None,
            last_year: None,
        }
    }

    /// Only robots whose name contains this text, byte for byte. Every name contains `""`.
    #[must_use]
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.containing = text.into();
        self
    }

    /// Compares the text of [`containing`](Self::containing) without case and diacritics, as
    /// [`fold`] does.
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, Filter, MemoryCatalogue};
    ///
    /// let robot = MemoryCatalogue::new().add(Draft::new("Kateřina", "droid", 1977))?;
    /// assert!(Filter::from("KATERINA").folded().matches(&robot));
    /// assert!(!Filter::from("KATERINA").matches(&robot));
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.fold = true;
        self
    }

    /// Only the robot with exactly this name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Also robots of this type. Without a call, robots of all types meet the filter.
    #[must_use]
    pub fn of_type(mut self, robot_type: impl Into<String>) -> Self {
        let robot_type = robot_type.into();
        if !self.types.contains(&robot_type) {
            self.types.push(robot_type);
        }
        self
    }

    /// Only robots of these years.
    ///
    /// ```
    /// use robot_core::Filter;
    ///
    /// let filter = Filter::all().years(1970..1980);
    /// assert_eq!((filter.get_first_year(), filter.get_last_year()), (Some(1970), Some(1979)));
    /// ```
    #[must_use]
    pub fn years(mut self, years: impl RangeBounds<i64>) -> Self {
        self.last_year = match years.end_bound() {
            Bound::Included(year) => Some(*year),
            Bound::Excluded(year) => Some(year.saturating_sub(1)),
            Bound::Unbounded => None,
        };
        self.first_year = match years.start_bound() {
            Bound::Included(year) => Some(*year),
            Bound::Excluded(&i64::MAX) => {
                // No year is greater.
                self.last_year = Some(-1);
                Some(i64::MAX)
            }
            Bound::Excluded(year) => Some(year + 1),
            Bound::Unbounded => None,
        };
        self
    }

    /// Only robots that meet this condition, too. A value of another kind than the field's has no
    /// effect.
    ///
    /// ```
    /// use robot_core::{Condition, Filter};
    ///
    /// let is_from = Condition::all().iter().find(|condition| condition.name() == "year_from");
    /// let condition = is_from.ok_or("missing")?;
    /// let filter = Filter::all().and(condition, condition.parse("1970").ok_or("invalid")?);
    /// assert_eq!(filter, Filter::all().years(1970..));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn and(mut self, condition: &Condition, value: Value<'_>) -> Self {
        match (condition.field().member(), value) {
            (Member::Name, Value::Text(name)) => self.named(name),
            (Member::Type, Value::Text(robot_type)) => self.of_type(robot_type),
            (Member::Year, Value::Integer(year)) => {
                if condition.comparison() != Comparison::To {
                    self.first_year = Some(year);
                }
                if condition.comparison() != Comparison::From {
                    self.last_year = Some(year);
                }
                self
            }
            _ => self,
        }
    }

    /// The text that names contain; `""` for any name.
    #[must_use]
    pub fn get_containing(&self) -> &str {
        &self.containing
    }

    /// Whether that text is compared without case and diacritics.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.fold
    }

    /// The only name.
    #[must_use]
    pub fn get_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The types, each once; none for all types.
    #[must_use]
    pub fn get_types(&self) -> &[String] {
        &self.types
    }

    /// The first year.
    #[must_use]
    pub fn get_first_year(&self) -> Option<i64> {
        self.first_year
    }

    /// The last year.
    #[must_use]
    pub fn get_last_year(&self) -> Option<i64> {
        self.last_year
    }

    /// The least and the greatest value of a field.
    #[cfg(feature = "http")]
    pub(crate) fn range(&self, field: Field) -> (Option<i64>, Option<i64>) {
        match field.member() {
            Member::Year => (self.first_year, self.last_year),
            _ => (None, None),
        }
    }

    /// Whether a robot meets the filter.
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, Filter, MemoryCatalogue};
    ///
    /// let robot = MemoryCatalogue::new().add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert!(Filter::from("2-D").years(1977..).matches(&robot));
    /// assert!(!Filter::all().named("R2").matches(&robot));
    /// # Ok::<(), robot_core::Error>(())
    /// ```
    #[must_use]
    pub fn matches(&self, robot: &Robot) -> bool {
        self.matcher().matches(robot)
    }

    /// Tests many robots.
    pub(crate) fn matcher(&self) -> Matcher<'_> {
        Matcher {
            filter: self,
            containing: Finder::new(self.text().as_bytes()).into_owned(),
        }
    }

    /// Whether the text that names contain, folded if they are, has more characters than this.
    pub(crate) fn text_exceeds(&self, characters: usize) -> bool {
        self.text().chars().count() > characters
    }

    /// The text that names contain, folded if they are.
    fn text(&self) -> Cow<'_, str> {
        if self.fold {
            fold(&self.containing)
        } else {
            Cow::Borrowed(&self.containing)
        }
    }

    /// Whether the text that names contain is the only condition.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn has_only_text(&self) -> bool {
        self.name.is_none()
            && self.types.is_empty()
            && self.first_year.is_none()
            && self.last_year.is_none()
    }
}

impl From<&str> for Filter {
    fn from(text: &str) -> Self {
        Self::all().containing(text)
    }
}

impl From<String> for Filter {
    fn from(text: String) -> Self {
        Self::all().containing(text)
    }
}

impl From<&String> for Filter {
    fn from(text: &String) -> Self {
        Self::from(text.as_str())
    }
}

/// A filter, prepared for testing many robots.
pub(crate) struct Matcher<'a> {
    filter: &'a Filter,
    containing: Finder<'static>,
}

impl Matcher<'_> {
    pub(crate) fn matches(&self, robot: &Robot) -> bool {
        let filter = self.filter;
        let types = &filter.types;
        filter.name.as_ref().is_none_or(|name| name == robot.name())
            && (types.is_empty() || types.iter().any(|one| one == robot.robot_type()))
            && filter.first_year.is_none_or(|year| year <= robot.year())
            && filter.last_year.is_none_or(|year| robot.year() <= year)
            && self.matches_name(robot.name())
    }

    /// Whether a name meets the condition for the text that names contain.
    pub(crate) fn matches_name(&self, name: &str) -> bool {
        let name = if self.filter.fold {
            fold(name)
        } else {
            Cow::Borrowed(name)
        };
        self.containing.find(name.as_bytes()).is_some()
    }
}
