//! The order of a list, and a place in it.

use std::{cmp::Ordering, fmt, str::FromStr};

use crate::model::{
    Entry, Field, Robot, RobotId, listed,
    text::{deserialize_from_text, serialize_as_text},
};

/// The order of a list. The default is by name, ascending.
///
/// ```
/// use robot_core::{Direction, Sort, SortKey};
///
/// let sort: Sort = "-year".parse()?;
/// assert_eq!(sort, Sort { key: SortKey::Year, direction: Direction::Descending });
/// assert_eq!(sort.to_string(), "-year");
/// assert_eq!(Sort::default().to_string(), "name");
/// # Ok::<(), robot_core::ParseSortError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sort {
    /// What robots are compared by.
    pub key: SortKey,
    /// Whether the least or the greatest key comes first.
    pub direction: Direction,
}

/// What the robots of a list are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The name, by its bytes.
    #[default]
    Name,
    /// The year, and robots of the same year by their ids.
    Year,
    /// The id, that is the order in which robots were added.
    Id,
}

/// The direction of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// The least key is first.
    #[default]
    Ascending,
    /// The greatest key is first.
    Descending,
}

impl Sort {
    /// All orders.
    pub const ALL: [Self; 6] = {
        use Direction::{Ascending, Descending};
        [
            Self::new(SortKey::Name, Ascending),
            Self::new(SortKey::Name, Descending),
            Self::new(SortKey::Year, Ascending),
            Self::new(SortKey::Year, Descending),
            Self::new(SortKey::Id, Ascending),
            Self::new(SortKey::Id, Descending),
        ]
    };

    const fn new(key: SortKey, direction: Direction) -> Self {
        Self { key, direction }
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
        let ascending = match self.key {
            SortKey::Name => one.name().cmp(other.name()),
            SortKey::Year => (one.year(), one.id()).cmp(&(other.year(), other.id())),
            SortKey::Id => one.id().cmp(&other.id()),
        };
        self.direction.of(ascending)
    }

    /// All orders, in a sentence.
    ///
    /// ```
    /// assert_eq!(robot_core::Sort::names(), "name, -name, year, -year, id or -id");
    /// ```
    #[must_use]
    pub fn names() -> String {
        let names = Self::ALL.map(|sort| sort.to_string());
        listed(&names.each_ref().map(String::as_str), "or")
    }
}

impl Direction {
    /// The order in this direction.
    fn of(self, ascending: Ordering) -> Ordering {
        match self {
            Self::Ascending => ascending,
            Self::Descending => ascending.reverse(),
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = match self.key {
            SortKey::Name => Field::NAME,
            SortKey::Year => Field::YEAR,
            SortKey::Id => Field::ID,
        };
        match self.direction {
            Direction::Ascending => write!(formatter, "{field}"),
            Direction::Descending => write!(formatter, "-{field}"),
        }
    }
}

impl FromStr for Sort {
    type Err = ParseSortError;

    fn from_str(text: &str) -> Result<Self, ParseSortError> {
        let known = Self::ALL.into_iter().find(|sort| sort.to_string() == text);
        known.ok_or(ParseSortError)
    }
}

serialize_as_text!(Sort, Cursor);
deserialize_from_text!(Sort, Cursor);

/// A text names no order.
///
/// ```
/// # use robot_core::Sort;
/// let error = "price".parse::<Sort>().unwrap_err();
/// assert_eq!(error.to_string(), "sort must be name, -name, year, -year, id or -id");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("sort must be {}", Sort::names())]
pub struct ParseSortError;

/// The order of a list, and the place in it where a page starts: at the beginning, or after a robot,
/// which need not exist any more.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Cursor, Draft, Filter, MemoryCatalogue, PageRequest};
///
/// let catalogue = MemoryCatalogue::new();
/// let hal = catalogue.add(Draft::new("HAL 9000", "virtual", 1968))?;
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// let cursor = Cursor::after("year".parse()?, &hal);
/// let page = catalogue.page(PageRequest { filter: &Filter::all(), cursor: &cursor, limit: 10 })?;
/// assert_eq!(page[0].name(), "R2-D2");
/// // As text, for another program.
/// assert_eq!(cursor.to_string().parse(), Ok(cursor));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    place: CursorPlace,
    direction: Direction,
}

/// What robots are compared by, and the values of the last robot before the page; `None` at the
/// beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CursorPlace {
    /// A name, or any other text.
    Name(Option<String>),
    /// A year, and the id of the robot.
    Year(Option<(i64, RobotId)>),
    /// An id.
    Id(Option<RobotId>),
}

impl Default for Cursor {
    fn default() -> Self {
        Self::start(Sort::default())
    }
}

impl Cursor {
    /// The beginning.
    #[must_use]
    pub const fn start(sort: Sort) -> Self {
        Self {
            place: match sort.key {
                SortKey::Name => CursorPlace::Name(None),
                SortKey::Year => CursorPlace::Year(None),
                SortKey::Id => CursorPlace::Id(None),
            },
            direction: sort.direction,
        }
    }

    /// The place after a robot.
    #[must_use]
    pub fn after(sort: Sort, robot: &Robot) -> Self {
        Self {
            place: match sort.key {
                SortKey::Name => CursorPlace::Name(Some(robot.name().to_owned())),
                SortKey::Year => CursorPlace::Year(Some((robot.year(), robot.id()))),
                SortKey::Id => CursorPlace::Id(Some(robot.id())),
            },
            direction: sort.direction,
        }
    }

    /// The place after an entry, unless the order is by year, which an entry does not have.
    pub(crate) fn after_entry(sort: Sort, entry: &Entry) -> Option<Self> {
        let place = match sort.key {
            SortKey::Name => CursorPlace::Name(Some(entry.name().to_owned())),
            SortKey::Year => return None,
            SortKey::Id => CursorPlace::Id(Some(entry.id())),
        };
        let direction = sort.direction;
        Some(Self { place, direction })
    }

    /// By name: the place before the first name that is greater than this text, by bytes.
    ///
    /// No name contains NUL, so the text ends there: exactly the names that are greater than `a` are
    /// greater than `a\0b`, which PostgreSQL does not accept.
    #[must_use]
    pub fn after_name(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.find('\0').unwrap_or(text.len()));
        Self {
            place: CursorPlace::Name(Some(text)),
            direction: Direction::Ascending,
        }
    }

    /// What robots are compared by, and where the page starts.
    #[must_use]
    pub fn place(&self) -> &CursorPlace {
        &self.place
    }

    /// Whether the least or the greatest key comes first.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The order.
    #[must_use]
    pub fn sort(&self) -> Sort {
        let key = match self.place {
            CursorPlace::Name(_) => SortKey::Name,
            CursorPlace::Year(_) => SortKey::Year,
            CursorPlace::Id(_) => SortKey::Id,
        };
        Sort::new(key, self.direction)
    }

    /// Whether a robot comes after this place.
    #[must_use]
    pub fn precedes(&self, robot: &Robot) -> bool {
        let ascending = match &self.place {
            CursorPlace::Name(Some(name)) => name.as_str().cmp(robot.name()),
            CursorPlace::Year(Some(place)) => place.cmp(&(robot.year(), robot.id())),
            CursorPlace::Id(Some(id)) => id.cmp(&robot.id()),
            CursorPlace::Name(None) | CursorPlace::Year(None) | CursorPlace::Id(None) => {
                return true;
            }
        };
        self.direction.of(ascending).is_lt()
    }

    /// The text after which names follow in ascending order, which needs no further column.
    pub(crate) fn ascending_name(&self) -> Option<&str> {
        match (&self.place, self.direction) {
            (CursorPlace::Name(name), Direction::Ascending) => {
                Some(name.as_deref().unwrap_or_default())
            }
            _ => None,
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.sort())?;
        match &self.place {
            CursorPlace::Name(Some(name)) => write!(formatter, ":{name}"),
            CursorPlace::Year(Some((year, id))) => write!(formatter, ":{year}:{id}"),
            CursorPlace::Id(Some(id)) => write!(formatter, ":{id}"),
            CursorPlace::Name(None) | CursorPlace::Year(None) | CursorPlace::Id(None) => Ok(()),
        }
    }
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let (sort, place) = match text.split_once(':') {
            Some((sort, place)) => (sort, Some(place)),
            None => (text, None),
        };
        let sort: Sort = sort.parse().map_err(|_| ParseCursorError)?;
        let Some(place) = place else {
            return Ok(Self::start(sort));
        };
        let place = match sort.key {
            // No cursor contains NUL.
            SortKey::Name if place.contains('\0') => return Err(ParseCursorError),
            SortKey::Name => CursorPlace::Name(Some(place.to_owned())),
            SortKey::Year => {
                let (year, id) = place.split_once(':').ok_or(ParseCursorError)?;
                let year = year.parse().map_err(|_| ParseCursorError)?;
                CursorPlace::Year(Some((year, id.parse().map_err(|_| ParseCursorError)?)))
            }
            SortKey::Id => CursorPlace::Id(Some(place.parse().map_err(|_| ParseCursorError)?)),
        };
        Ok(Self {
            place,
            direction: sort.direction,
        })
    }
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cursor is not one that a link of this service contains")]
pub struct ParseCursorError;
