//! The order of a list, and a place in it.

use std::{borrow::Cow, cmp::Ordering, fmt, str::FromStr};

use crate::model::{Definition, Field, Member, Robot, RobotId, Value, listed};

/// The order of a list. The default is by name, ascending. Robots of the same value are in the order of their
/// ids. Robots without a value come last in both directions.
///
/// ```
/// use robot_core::{Field, Sort};
///
/// let sort: Sort = "-year".parse()?;
/// assert_eq!(sort, Sort { field: Field::YEAR, is_descending: true });
/// assert_eq!(sort.to_string(), "-year");
/// assert_eq!(Sort::default().to_string(), "name");
/// # Ok::<(), robot_core::ParseSortError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sort {
    /// What robots are compared by: texts by their bytes.
    pub field: Field,
    /// Whether the greatest value comes first.
    pub is_descending: bool,
}

impl Default for Sort {
    fn default() -> Self {
        Self::ascending(Field::NAME)
    }
}

impl Sort {
    pub(crate) const BY_ID: Self = Self::ascending(Field::ID);

    const fn ascending(field: Field) -> Self {
        Self {
            field,
            is_descending: false,
        }
    }

    /// All orders of a definition.
    pub fn all(definition: &Definition) -> impl Iterator<Item = Self> + '_ {
        let orders = |field: &Field| {
            [false, true].map(|is_descending| Self {
                field: field.clone(),
                is_descending,
            })
        };
        definition.sortable().flat_map(orders)
    }

    /// Parses the name of an order.
    ///
    /// # Errors
    /// The definition has no such order.
    pub fn parse(text: &str, definition: &Definition) -> Result<Self, ParseSortError> {
        let known = Self::all(definition).find(|sort| sort.to_string() == text);
        known.ok_or_else(|| ParseSortError(Self::names(definition)))
    }

    /// Compares robots in this order.
    ///
    /// ```
    /// use robot_core::{CatalogueExt, Draft, MemoryCatalogue, Sort};
    ///
    /// let catalogue = MemoryCatalogue::new();
    /// let hal = catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
    /// let artoo = catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
    /// let newest: Sort = "-year".parse()?;
    /// assert!(newest.compare(&artoo, &hal).is_lt());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn compare(&self, one: &Robot, other: &Robot) -> Ordering {
        let (value, id) = (one.value_of(&self.field), one.id());
        let other = (other.value_of(&self.field), other.id());
        self.compare_place((value.as_ref(), Some(id)), other)
    }

    /// Compares a place with that of a robot. One without an id is after all robots of the value.
    fn compare_place(
        &self,
        (value, id): (Option<&Value<'_>>, Option<RobotId>),
        (other, other_id): (Option<Value<'_>>, RobotId),
    ) -> Ordering {
        let values = match (value, other) {
            (Some(value), Some(other)) => value.compare(&other),
            (None, None) => Ordering::Equal,
            (Some(_), None) => return Ordering::Less,
            (None, Some(_)) => return Ordering::Greater,
        };
        let order = match id {
            Some(id) => values.then(id.cmp(&other_id)),
            None if values.is_eq() => return Ordering::Greater,
            None => values,
        };
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }

    /// All orders of a definition, in a sentence.
    ///
    /// ```
    /// use robot_core::{Definition, Sort};
    ///
    /// let names = Sort::names(Definition::built_in());
    /// assert_eq!(names,
    ///     "name, -name, year, -year, id, -id, created_at, -created_at, updated_at or -updated_at",
    /// );
    /// ```
    #[must_use]
    pub fn names(definition: &Definition) -> String {
        let names: Vec<_> = Self::all(definition).map(|sort| sort.to_string()).collect();
        listed(&names.iter().map(String::as_str).collect::<Vec<_>>(), "or")
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_descending { "-" } else { "" };
        write!(formatter, "{sign}{}", self.field)
    }
}

impl FromStr for Sort {
    type Err = ParseSortError;

    /// An order of the built-in definition.
    fn from_str(text: &str) -> Result<Self, ParseSortError> {
        Self::parse(text, Definition::built_in())
    }
}

/// A text is not an order. Has the names of all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sort must be {0}")]
pub struct ParseSortError(String);

/// A place in a list: its order, and the place after a robot, or the beginning.
///
/// As text, it is the name of the order, and the value and the id of the robot.
///
/// ```
/// use robot_core::{Cursor, Sort};
///
/// let first = Cursor::start("-year".parse()?);
/// assert_eq!(first.to_string(), "-year");
/// assert_eq!(Cursor::after_name("R2-D2").to_string(), "name:R2-D2");
/// let place: Cursor = "year:1977:7".parse()?;
/// assert_eq!(*place.sort(), "year".parse()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cursor {
    sort: Sort,
    after: Option<Place>,
}

/// A place between robots: after the robot with this value and this id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The value that robots are sorted by.
    pub value: Option<Value<'static>>,
    /// Without an id, the place is after all robots with the value.
    pub id: Option<RobotId>,
}

impl Cursor {
    /// The beginning of a list.
    #[must_use]
    pub const fn start(sort: Sort) -> Self {
        Self { sort, after: None }
    }

    /// The place after a robot.
    #[must_use]
    pub fn after(sort: Sort, robot: &Robot) -> Self {
        let value = robot.value_of(&sort.field).map(Value::into_owned);
        Self::at(sort, value, Some(robot.id()))
    }

    pub(super) fn at(sort: Sort, value: Option<Value<'static>>, id: Option<RobotId>) -> Self {
        let after = Some(Place { value, id });
        Self { sort, after }
    }

    /// The place after all names that are not greater than this text. A name that contains NUL does not exist,
    /// so that a text ends before it.
    #[must_use]
    pub fn after_name(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.find('\0').unwrap_or(text.len()));
        Self::at(Sort::default(), Some(text.into()), None)
    }

    /// The same place by the definition of the store that reads. Others have made the cursor: by an earlier definition,
    /// or by none, as [`Sort::default`]. A store decides here which field they mean, and nowhere else: the one that has
    /// the name now. The field of a filter stays, because the values that it has are of that field's kind.
    #[must_use]
    pub fn resolved(&self, definition: &Definition) -> Cow<'_, Self> {
        match definition.field(self.sort.field.name()) {
            Some(field) if *field != self.sort.field => {
                let mut resolved = self.clone();
                resolved.sort.field = field.clone();
                Cow::Owned(resolved)
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The same place in another order by the same field.
    pub(crate) fn sorted(self, sort: Sort) -> Self {
        Self { sort, ..self }
    }

    /// The place; `None` at the beginning.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.after.as_ref()
    }

    /// The order.
    #[must_use]
    pub fn sort(&self) -> &Sort {
        &self.sort
    }

    /// Whether a robot comes after the place.
    #[must_use]
    pub fn precedes(&self, robot: &Robot) -> bool {
        self.is_before(robot.value_of(&self.sort.field), robot.id())
    }

    /// Whether a robot comes after the place, whose id is this, and which has this value of the field that
    /// robots are sorted by.
    pub(crate) fn is_before(&self, of_robot: Option<Value<'_>>, robot: RobotId) -> bool {
        self.after.as_ref().is_none_or(|Place { value, id }| {
            // All robots of the value are before a place without an id.
            let is_before = id.is_none() && *value == of_robot;
            let place = (value.as_ref(), *id);
            !is_before && self.sort.compare_place(place, (of_robot, robot)).is_lt()
        })
    }

    /// The name and the id after which robots follow in ascending order of their names.
    pub(crate) fn ascending_name(&self) -> Option<(&str, Option<RobotId>)> {
        let is_by_name = self.sort.field.member() == Member::Name;
        if !is_by_name || self.sort.is_descending {
            return None;
        }
        match &self.after {
            Some(Place {
                value: Some(Value::Text(name)),
                id,
            }) => Some((name, *id)),
            Some(_) => None,
            None => Some(("", None)),
        }
    }

    /// Parses the text of a place in a catalogue with this definition.
    ///
    /// # Errors
    /// It is not one that this library has written.
    pub fn parse(text: &str, definition: &Definition) -> Result<Self, ParseCursorError> {
        let (sort, place) = match text.split_once(':') {
            Some((sort, place)) => (sort, Some(place)),
            None => (text, None),
        };
        let sort = Sort::parse(sort, definition).map_err(|_| ParseCursorError)?;
        let Some(place) = place else {
            return Ok(Self::start(sort));
        };
        // No cursor contains NUL.
        if place.contains('\0') {
            return Err(ParseCursorError);
        }
        let field = &sort.field;
        let with_id = || {
            let (value, id) = place.rsplit_once(':')?;
            Some((value, Some(id.parse().ok()?)))
        };
        let (value, id) = match with_id().filter(|_| field.has_equals()) {
            Some(place) => place,
            // Names may have been unique when the cursor was written.
            None if field.member() == Member::Name || !field.has_equals() => (place, None),
            None => return Err(ParseCursorError),
        };
        if value.is_empty() && id.is_some() {
            return Ok(Self::at(sort, None, id));
        }
        let value = field
            .parse_value(value)
            .map_err(|_| ParseCursorError)?
            .into_owned();
        let id = match value {
            Value::Id(id) => Some(id),
            _ => id,
        };
        Ok(Self::at(sort, Some(value), id))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.sort)?;
        let Some(Place { value, id }) = &self.after else {
            return Ok(());
        };
        formatter.write_str(":")?;
        if let Some(value) = value {
            write!(formatter, "{value}")?;
        }
        match id {
            Some(id) if self.sort.field.has_equals() => write!(formatter, ":{id}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    /// A place in a catalogue with the built-in definition.
    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        Self::parse(text, Definition::built_in())
    }
}

/// A text is not a [`Cursor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cursor is not one that a link of this service contains")]
pub struct ParseCursorError;
