//! Which robots a list, a search or a count contains.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    ops::{Bound, RangeBounds},
};

use memchr::memmem::Finder;

use super::condition::{Comparison, Condition};
use crate::model::{Definition, Field, Robot, RobotId, Value, fold};

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    containing: String,
    is_folded: bool,
    /// Folded words, each once, each of which the name or a field of `searched` contains.
    words: Vec<String>,
    searched: Vec<Field>,
    fields: Vec<FieldFilter>,
}

/// The values of a field that robots may have. A robot must meet all conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFilter {
    /// The field.
    pub field: Field,
    /// The value is one of these, where `None` is no value; any if there are none.
    pub any_of: Vec<Option<Value<'static>>>,
    /// The value is equal or greater.
    pub from: Option<Value<'static>>,
    /// The value is equal or less.
    pub to: Option<Value<'static>>,
}

impl FieldFilter {
    fn matches(&self, robot: &Robot) -> bool {
        let value = robot.value_of(self.field);
        let reaches = |limit: &Value<'_>| {
            value
                .as_ref()
                .is_some_and(|value| value.compare(limit).is_ge())
        };
        let exceeds = |limit: &Value<'_>| {
            value
                .as_ref()
                .is_none_or(|value| value.compare(limit).is_gt())
        };
        (self.any_of.is_empty() || self.any_of.contains(&value))
            && self.from.as_ref().is_none_or(reaches)
            && !self.to.as_ref().is_some_and(exceeds)
    }
}

impl Filter {
    /// The filter that every robot meets.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            containing: String::new(),
            is_folded: false,
            words: Vec::new(),
            searched: Vec::new(),
            fields: Vec::new(),
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
        self.is_folded = true;
        self
    }

    /// Only robots of which the name, or a field that searches include, contains each word of a text, without
    /// case and diacritics.
    #[must_use]
    pub fn with_words(mut self, text: &str, definition: &Definition) -> Self {
        let words: BTreeSet<_> = fold(text).split_whitespace().map(str::to_owned).collect();
        self.words = words.into_iter().collect();
        self.searched = definition
            .own()
            .filter(|field| field.is_searched())
            .collect();
        self
    }

    /// Only the robots with exactly this name.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.field(Field::NAME).any_of = vec![Some(name.into().into())];
        self
    }

    /// Also robots of this type. Without a call, robots of all types meet the filter.
    #[must_use]
    pub fn of_type(mut self, robot_type: impl Into<String>) -> Self {
        let robot_type = Some(Value::from(robot_type.into()));
        let types = &mut self.field(Field::TYPE).any_of;
        if !types.contains(&robot_type) {
            types.push(robot_type);
        }
        self
    }

    /// Only robots of these years.
    ///
    /// ```
    /// use robot_core::{Filter, Value};
    ///
    /// let filter = Filter::all().years(1970..1980);
    /// assert_eq!(filter.fields()[0].to, Some(Value::Integer(1979)));
    /// ```
    #[must_use]
    pub fn years(mut self, years: impl RangeBounds<i64>) -> Self {
        // Beyond 64 bits there is no year.
        let limit = |bound: Bound<&i64>, step| match bound {
            Bound::Included(year) => Some(Some(*year)),
            Bound::Excluded(year) => year.checked_add(step).map(Some),
            Bound::Unbounded => Some(None),
        };
        let range = limit(years.start_bound(), 1).zip(limit(years.end_bound(), -1));
        let (from, to) = range.unwrap_or((Some(i64::MAX), Some(i64::MIN)));
        let of_year = self.field(Field::YEAR);
        (of_year.from, of_year.to) = (from.map(Value::Integer), to.map(Value::Integer));
        self
    }

    /// Only robots that meet this condition, too; `None` is no value. Of several values of a
    /// [repeatable](Condition::is_repeatable) condition, a robot has any.
    ///
    /// ```
    /// use robot_core::{Definition, Filter};
    ///
    /// let mut conditions = Definition::built_in().conditions();
    /// let is_from = conditions.find(|condition| condition.name() == "year_from");
    /// let condition = is_from.ok_or("missing")?;
    /// let filter = Filter::all().and(condition, condition.parse("1970")?);
    /// assert_eq!(filter, Filter::all().years(1970..));
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn and(mut self, condition: Condition, value: Option<Value<'_>>) -> Self {
        let value = value.map(Value::into_owned);
        let range = self.field(condition.field());
        match condition.comparison() {
            Comparison::From => range.from = value,
            Comparison::To => range.to = value,
            Comparison::Is if condition.field() == Field::YEAR && value.is_some() => {
                (range.from, range.to) = (value.clone(), value);
            }
            Comparison::Is if !condition.is_repeatable() => range.any_of = vec![value],
            Comparison::Is if range.any_of.contains(&value) => {}
            Comparison::Is => range.any_of.push(value),
        }
        self
    }

    /// Whether it has a condition that excludes this one: a value and a range do, and two values of a condition that
    /// is not [repeatable](Condition::is_repeatable).
    #[must_use]
    pub fn excludes(&self, condition: Condition) -> bool {
        let Some(range) = self.of_field(condition.field()) else {
            return false;
        };
        let has_value = !range.any_of.is_empty();
        let (has_from, has_to) = (range.from.is_some(), range.to.is_some());
        match condition.comparison() {
            Comparison::Is => has_from || has_to || (has_value && !condition.is_repeatable()),
            Comparison::From => has_from || has_value,
            Comparison::To => has_to || has_value,
        }
    }

    /// Only robots with this value of a field.
    pub(crate) fn with(mut self, field: Field, value: Value<'static>) -> Self {
        self.field(field).any_of = vec![Some(value)];
        self
    }

    /// The conditions for a field. Those for ids are first, because no other index finds fewer robots.
    fn field(&mut self, field: Field) -> &mut FieldFilter {
        let index = self.fields.iter().position(|one| one.field == field);
        let index = index.unwrap_or_else(|| {
            let index = if field == Field::ID {
                0
            } else {
                self.fields.len()
            };
            let filter = FieldFilter {
                field,
                any_of: Vec::new(),
                from: None,
                to: None,
            };
            self.fields.insert(index, filter);
            index
        });
        &mut self.fields[index]
    }

    /// The ids of which robots must have one.
    pub(crate) fn ids(&self) -> Option<impl Iterator<Item = RobotId>> {
        let of_ids = self.fields.first().filter(|one| one.field == Field::ID)?;
        Some(of_ids.any_of.iter().flatten().filter_map(|id| match id {
            Value::Id(id) => Some(*id),
            _ => None,
        }))
    }

    /// The text that names contain; `""` for any name.
    #[must_use]
    pub fn get_containing(&self) -> &str {
        &self.containing
    }

    /// Whether that text is compared without case and diacritics.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.is_folded
    }

    /// The words of [`with_words`](Self::with_words), folded.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The conditions for fields, one for each field.
    #[must_use]
    pub fn fields(&self) -> &[FieldFilter] {
        &self.fields
    }

    /// The least and the greatest value of a field.
    #[cfg(feature = "http")]
    pub(crate) fn of_field(&self, field: Field) -> Option<&FieldFilter> {
        self.fields.iter().find(|one| one.field == field)
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
        if self.is_folded {
            fold(&self.containing)
        } else {
            Cow::Borrowed(&self.containing)
        }
    }

    /// Whether there are no conditions.
    #[cfg(feature = "http")]
    pub(crate) fn is_met_by_all(&self) -> bool {
        self.containing.is_empty() && self.words.is_empty() && self.fields.is_empty()
    }

    /// Whether the text that names contain is the only condition.
    #[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
    pub(crate) fn has_only_text(&self) -> bool {
        self.fields.is_empty() && self.words.is_empty()
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
        let mut fields = self.filter.fields.iter();
        fields.all(|field| field.matches(robot))
            && self.matches_name(robot.name())
            && (self.filter.words.is_empty() || self.has_words(robot))
    }

    /// Whether a name meets the condition for the text that names contain.
    pub(crate) fn matches_name(&self, name: &str) -> bool {
        let name = if self.filter.is_folded {
            fold(name)
        } else {
            Cow::Borrowed(name)
        };
        self.containing.find(name.as_bytes()).is_some()
    }

    fn has_words(&self, robot: &Robot) -> bool {
        let values = self
            .filter
            .searched
            .iter()
            .filter_map(|field| robot.value_of(*field));
        let texts = values.map(|value| fold(&value.to_string()).into_owned());
        let texts: Vec<_> = texts.chain([fold(robot.name()).into_owned()]).collect();
        let mut words = self.filter.words.iter();
        words.all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }
}
