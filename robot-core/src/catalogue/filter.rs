//! Which robots a list, a search or a count contains.

use std::{borrow::Cow, cmp::Ordering, collections::BTreeSet};

use memchr::memmem::Finder;

use super::condition::{Comparison, Condition};
use crate::model::{Definition, Field, Member, Robot, RobotId, Value, fold};

/// Conditions that robots meet. A robot must meet all of them.
///
/// A text is the filter of the robots whose names contain it, so [`Pages::new`](crate::Pages::new)
/// takes it instead.
///
/// ```
/// use robot_core::{CatalogueExt, Draft, Field, Filter, MemoryCatalogue, Pages};
///
/// let catalogue = MemoryCatalogue::new();
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// catalogue.add(Draft::new("BB-8", "droid", 2015))?;
/// catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
///
/// let filter = Filter::all().with(Field::TYPE, "droid").at_most(Field::YEAR, 1999);
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
    /// The text that names contain; `""` for any name.
    pub containing: String,
    /// Whether that text is compared without case and diacritics.
    pub is_folded: bool,
    /// Folded words, each once, each of which the name or a field of `searched` contains.
    words: Vec<String>,
    searched: Vec<Field>,
    /// The conditions for fields, one for each field.
    pub(crate) fields: Vec<FieldFilter>,
}

/// The values of a field that robots may have. A robot must meet all conditions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldFilter {
    /// The field.
    pub field: Field,
    /// The value is one of these, where `None` is no value; any if there are none.
    pub any_of: Vec<Option<Value<'static>>>,
    /// The value is none of these, where `None` is no value.
    pub none_of: Vec<Option<Value<'static>>>,
    /// The value contains all of these texts, without case and diacritics.
    pub containing: Vec<String>,
    /// The value is equal or greater.
    pub from: Option<Value<'static>>,
    /// The value is equal or less.
    pub to: Option<Value<'static>>,
}

impl FieldFilter {
    fn matches(&self, robot: &Robot) -> bool {
        let value = robot.value_of(&self.field);
        let compare = |limit: &Value<'_>| value.as_ref().map(|value| value.compare(limit));
        let (from, to) = (self.from.as_ref(), self.to.as_ref());
        (self.any_of.is_empty() || self.any_of.contains(&value))
            && !self.none_of.contains(&value)
            && (self.containing.is_empty() || value.as_ref().is_some_and(|value| self.is_in(value)))
            && from.is_none_or(|from| compare(from).is_some_and(Ordering::is_ge))
            && to.is_none_or(|to| compare(to).is_some_and(Ordering::is_le))
    }

    /// Whether a value contains all texts.
    fn is_in(&self, value: &Value<'_>) -> bool {
        let value = value.to_string();
        let folded = fold(&value);
        let mut texts = self.containing.iter();
        texts.all(|text| folded.contains(&*fold(text)))
    }

    /// Whether robots without a value do not meet the conditions.
    pub(crate) fn excludes_none(&self) -> bool {
        let is_excluded = !self.any_of.is_empty() && !self.any_of.contains(&None);
        is_excluded
            || self.none_of.contains(&None)
            || !self.containing.is_empty()
            || self.from.is_some()
            || self.to.is_some()
    }
}

impl Filter {
    /// The filter that every robot meets.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
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
        let searched = definition.own().filter(|field| field.is_searched());
        self.searched = searched.filter(|_| !words.is_empty()).cloned().collect();
        self.words = words.into_iter().collect();
        self
    }

    /// Only robots with this value of a field. After several calls for a field, a robot has any of the values.
    #[must_use]
    pub fn with(self, field: Field, value: impl Into<Value<'static>>) -> Self {
        self.with_any(field, Some(value.into()))
    }

    /// Values that are compared with a field of choices, and are not among them. Robots may have such values from before
    /// the choices changed.
    pub(crate) fn unknown_choices(&self) -> impl Iterator<Item = (&Field, &Value<'static>)> {
        self.fields.iter().flat_map(|condition| {
            let choices = condition.field.choices();
            let is_unknown = |value: &&Value<'_>| match value {
                Value::Text(text) => !choices.is_empty() && !choices.contains(text),
                _ => false,
            };
            let values = condition.any_of.iter().chain(&condition.none_of);
            let values = values.flatten().filter(is_unknown);
            values.map(|value| (&condition.field, value))
        })
    }

    fn with_any(mut self, field: Field, value: Option<Value<'static>>) -> Self {
        add(&mut self.field(field).any_of, value);
        self
    }

    /// Only robots with this value of a field, or a greater one.
    #[must_use]
    pub fn at_least(mut self, field: Field, value: impl Into<Value<'static>>) -> Self {
        self.field(field).from = Some(value.into());
        self
    }

    /// Only robots with this value of a field, or a lesser one.
    #[must_use]
    pub fn at_most(mut self, field: Field, value: impl Into<Value<'static>>) -> Self {
        self.field(field).to = Some(value.into());
        self
    }

    /// Only robots that meet this condition, too; `None` is no value. Of several values of a
    /// [repeatable](Condition::is_repeatable) condition, a robot has any.
    ///
    /// ```
    /// use robot_core::{Definition, Field, Filter};
    ///
    /// let mut conditions = Definition::built_in().conditions();
    /// let is_from = conditions.find(|condition| condition.name() == "year_from");
    /// let condition = is_from.ok_or("missing")?;
    /// let filter = Filter::all().and(condition.clone(), condition.parse("1970")?);
    /// assert_eq!(filter, Filter::all().at_least(Field::YEAR, 1970));
    /// # Ok::<(), String>(())
    /// ```
    #[must_use]
    pub fn and(mut self, condition: Condition, value: Option<Value<'_>>) -> Self {
        let (field, value) = (condition.field, value.map(Value::into_owned));
        match (condition.comparison, value) {
            (Comparison::From, value) => self.field(field).from = value,
            (Comparison::To, value) => self.field(field).to = value,
            (Comparison::Is, Some(year)) if field.member() == Member::Year => {
                let range = self.at_least(field.clone(), year.clone());
                return range.at_most(field, year);
            }
            (Comparison::Is, value) => return self.with_any(field, value),
            (Comparison::Not, value) => add(&mut self.field(field).none_of, value),
            (Comparison::Contains, value) => {
                let text = value.map_or_else(String::new, |value| value.to_string());
                add(&mut self.field(field).containing, text);
            }
        }
        self
    }

    /// Whether it has a condition that excludes this one: a value and a range do, and two values of a condition that
    /// is not [repeatable](Condition::is_repeatable).
    #[must_use]
    pub fn excludes(&self, condition: &Condition) -> bool {
        let mut fields = self.fields.iter();
        let Some(range) = fields.find(|range| range.field.is(&condition.field)) else {
            return false;
        };
        let has_value = !range.any_of.is_empty();
        let (has_from, has_to) = (range.from.is_some(), range.to.is_some());
        match condition.comparison {
            Comparison::Is => has_from || has_to || (has_value && !condition.is_repeatable()),
            Comparison::From => has_from || has_value,
            Comparison::To => has_to || has_value,
            Comparison::Not | Comparison::Contains => false,
        }
    }

    /// The conditions for a field. Those for ids are first, because no other index finds fewer robots.
    fn field(&mut self, field: Field) -> &mut FieldFilter {
        let index = self.fields.iter().position(|one| one.field.is(&field));
        let index = index.unwrap_or_else(|| {
            let index = if field.member() == Member::Id {
                0
            } else {
                self.fields.len()
            };
            let filter = FieldFilter {
                field,
                any_of: Vec::new(),
                none_of: Vec::new(),
                containing: Vec::new(),
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
        let of_ids = self.fields.first();
        let of_ids = of_ids.filter(|one| one.field.member() == Member::Id)?;
        Some(of_ids.any_of.iter().flatten().filter_map(|id| match id {
            Value::Id(id) => Some(*id),
            _ => None,
        }))
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

    /// Whether a robot meets the filter.
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, Field, Filter, MemoryCatalogue};
    ///
    /// let robot = MemoryCatalogue::new().add(Draft::new("R2-D2", "droid", 1977))?;
    /// assert!(Filter::from("2-D").at_least(Field::YEAR, 1977).matches(&robot));
    /// assert!(!Filter::all().with(Field::NAME, "R2").matches(&robot));
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

    /// The text that names contain, folded if they are.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        if self.is_folded {
            fold(&self.containing)
        } else {
            Cow::Borrowed(&self.containing)
        }
    }

    /// Whether every robot meets the conditions, because there are none, or the text to compare is empty when it is
    /// folded.
    ///
    /// ```
    /// use robot_core::Filter;
    ///
    /// assert!(Filter::from("\u{301}").folded().is_met_by_all());
    /// assert!(!Filter::from("\u{301}").is_met_by_all());
    /// ```
    #[must_use]
    pub fn is_met_by_all(&self) -> bool {
        self.text().is_empty() && self.words.is_empty() && self.fields.is_empty()
    }

    /// Whether the text that names contain is the only condition.
    pub(crate) fn has_only_text(&self) -> bool {
        self.fields.is_empty() && self.words.is_empty()
    }
}

/// Adds a value, unless it is there.
fn add<T: PartialEq>(values: &mut Vec<T>, value: T) {
    if !values.contains(&value) {
        values.push(value);
    }
}

impl<T: Into<String>> From<T> for Filter {
    fn from(text: T) -> Self {
        Self::all().containing(text)
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
            .filter_map(|field| robot.value_of(field));
        let texts = values.map(|value| fold(&value.to_string()).into_owned());
        let texts: Vec<_> = texts.chain([fold(robot.name()).into_owned()]).collect();
        let mut words = self.filter.words.iter();
        words.all(|word| texts.iter().any(|text| text.contains(word.as_str())))
    }
}
