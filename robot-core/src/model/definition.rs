//! The definition of a robot: its fields, described once.
//!
//! Validation, JSON, CSV, filters, orders, the description of the HTTP API, the command line and the
//! web page read this list, so a new field is one more entry of [`Field::ALL`].

use std::{fmt, sync::LazyLock};

use super::{
    kind::{Kind, listed},
    revision::Revision,
    text::{deserialize_from_text, excerpt, serialize_as_text},
    value::Value,
    violation::Rule,
};

/// The maximum length of a name, in characters (Unicode scalar values).
///
/// ```
/// use robot_core::{Draft, NAME_LENGTH_LIMIT, ValidDraft};
///
/// let draft = |length| Draft::new("é".repeat(length), "droid", 1977);
/// assert!(ValidDraft::new(draft(NAME_LENGTH_LIMIT)).is_ok());
/// assert!(ValidDraft::new(draft(NAME_LENGTH_LIMIT + 1)).is_err());
/// ```
pub const NAME_LENGTH_LIMIT: usize = 255;

impl Field {
    /// The id.
    pub const ID: Self = Self(&Properties {
        name: "id",
        title: "ID",
        description: "Assigned by the service, and never used again.",
        example: "1",
        member: Member::Id,
        kind: Kind::Id,
        is_required: true,
        is_unique: true,
    });
    /// The name.
    pub const NAME: Self = Self(&Properties {
        name: "name",
        title: "Name",
        description: "Unique. Any characters but NUL, compared byte for byte.",
        example: "R2-D2",
        member: Member::Name,
        kind: Kind::Text {
            max_length: NAME_LENGTH_LIMIT,
        },
        is_required: true,
        is_unique: true,
    });
    /// The type.
    pub const TYPE: Self = Self(&Properties {
        name: "type",
        title: "Type",
        description: "",
        example: "droid",
        member: Member::Type,
        kind: Kind::Choice(&["droid", "mechanical", "virtual"]),
        is_required: true,
        is_unique: false,
    });
    /// The year.
    pub const YEAR: Self = Self(&Properties {
        name: "year",
        title: "Year",
        description: "",
        example: "1977",
        member: Member::Year,
        kind: Kind::Integer {
            minimum: 0,
            maximum: i64::MAX,
        },
        is_required: true,
        is_unique: false,
    });
    /// The revision.
    pub const REVISION: Self = Self(&Properties {
        name: "revision",
        title: "Revision",
        description: "Greater by one after each change.",
        example: "1",
        member: Member::Revision,
        kind: Kind::Integer {
            minimum: 1,
            maximum: Revision::GREATEST_RESTORED.get(),
        },
        is_required: true,
        is_unique: false,
    });

    /// All fields.
    pub const ALL: &[Self] = &[Self::ID, Self::NAME, Self::TYPE, Self::YEAR, Self::REVISION];
    /// The fields of a robot in JSON, in files and in tables, unless others are chosen: the id, and
    /// what clients can set.
    pub const DEFAULT: &[Self] = Self::ALL.split_at(Self::ALL.len() - 1).0;
    /// The fields that clients can set.
    pub const SETTABLE: &[Self] = Self::DEFAULT.split_at(1).1;
    /// The fields of a robot in a list, a search and a GET by id, unless the client chooses others.
    pub(crate) const DEFAULT_VIEW: &[Self] = &[Self::ID, Self::NAME];
}

/// A field of a robot.
///
/// ```
/// use robot_core::Field;
///
/// assert_eq!(Field::list("name,year")?, [Field::NAME, Field::YEAR]);
/// assert!(Field::list("name,colour").is_err());
/// assert_eq!(Field::TYPE.choices(), ["droid", "mechanical", "virtual"]);
/// # Ok::<(), robot_core::ParseFieldsError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Field(&'static Properties);

/// What the definition says about a field.
struct Properties {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    example: &'static str,
    member: Member,
    kind: Kind,
    is_required: bool,
    is_unique: bool,
}

/// Where a robot keeps the value of a field. The order is that of messages about several fields,
/// which the contract fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Member {
    Id,
    Revision,
    Type,
    Name,
    Year,
    /// Beside the values of other fields of the owner.
    Own,
}

impl Field {
    /// The place of messages about this field among those about others.
    pub(super) fn rank(self) -> (Member, Option<usize>) {
        let position = Self::ALL.iter().position(|one| *one == self);
        (self.member(), position)
    }
}

/// The fields that clients can set, in the order of messages about them.
static IN_ORDER_OF_MESSAGES: LazyLock<Vec<Field>> = LazyLock::new(|| {
    let mut fields = Field::SETTABLE.to_vec();
    fields.sort_by_key(|field| field.rank());
    fields
});

/// The fields of a robot in the reply to its creation.
static CREATED_VIEW: LazyLock<Vec<Field>> =
    LazyLock::new(|| [Field::SETTABLE, &[Field::ID]].concat());

impl Field {
    /// The name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The name as a heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// The kind of values.
    #[must_use]
    pub const fn kind(self) -> Kind {
        self.0.kind
    }

    /// The texts to choose from; none for a field of another kind.
    #[must_use]
    pub const fn choices(self) -> &'static [&'static str] {
        self.kind().choices()
    }

    /// Whether every robot has a value, and none can be added without it.
    #[must_use]
    pub const fn is_required(self) -> bool {
        self.0.is_required
    }

    #[cfg(feature = "http")]
    pub(super) const fn description(self) -> &'static str {
        self.0.description
    }

    /// A value, as text.
    #[cfg(feature = "http")]
    pub(super) const fn example(self) -> &'static str {
        self.0.example
    }

    /// The fields whose values are kept together.
    pub(super) fn own() -> impl Iterator<Item = Self> {
        let settable = Self::SETTABLE.iter().copied();
        settable.filter(|field| field.member() == Member::Own)
    }

    pub(crate) const fn member(self) -> Member {
        self.0.member
    }

    /// The fields that clients can set, in the order of messages about them.
    pub(crate) fn in_order_of_messages() -> impl Iterator<Item = Self> {
        IN_ORDER_OF_MESSAGES.iter().copied()
    }

    /// The fields of a robot in the reply to its creation.
    pub(crate) fn created_view() -> &'static [Self] {
        &CREATED_VIEW
    }

    /// Whether an [`Entry`](crate::Entry) has this field.
    pub(crate) fn is_in_entry(self) -> bool {
        matches!(self.member(), Member::Id | Member::Name)
    }

    /// The names of the required fields, in a sentence: `name, type and year`.
    pub(crate) fn required_names() -> String {
        let required = Self::SETTABLE.iter().filter(|field| field.is_required());
        listed(
            &required.map(|field| field.name()).collect::<Vec<_>>(),
            "and",
        )
    }

    /// What values may be, for help texts.
    ///
    /// ```
    /// use robot_core::Field;
    ///
    /// assert_eq!(Field::NAME.limits(), "1 to 255 characters, unique");
    /// assert_eq!(Field::YEAR.limits(), "an integer, 0 or greater");
    /// ```
    #[must_use]
    pub fn limits(self) -> String {
        let unique = if self.0.is_unique { ", unique" } else { "" };
        self.kind().limits() + unique
    }

    /// What a value must be, for messages, such as `an integer from 0 to 99`.
    #[must_use]
    pub fn requirement(self) -> String {
        self.kind().requirement()
    }

    /// The names of fields, separated by commas: the text from which [`list`](Self::list) parses
    /// them.
    ///
    /// ```
    /// use robot_core::Field;
    ///
    /// assert_eq!(Field::names(Field::DEFAULT), "id,name,type,year");
    /// ```
    #[must_use]
    pub fn names(fields: &[Self]) -> String {
        let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
        names.join(",")
    }

    /// Parses field names separated by commas.
    ///
    /// # Errors
    /// A name is not that of a field, or is repeated.
    pub fn list(text: &str) -> Result<Vec<Self>, ParseFieldsError> {
        let mut fields = Vec::new();
        for name in text.split(',') {
            let field: Self = name.parse()?;
            if fields.contains(&field) {
                return Err(ParseFieldsError::Repeated(field));
            }
            fields.push(field);
        }
        Ok(fields)
    }

    /// Parses a value.
    ///
    /// # Errors
    /// The text is not of the field's kind: a message for people. Limits are checked by
    /// [`ValidDraft::new`](crate::ValidDraft::new).
    ///
    /// ```
    /// use robot_core::{Field, Value};
    ///
    /// assert_eq!(Field::YEAR.parse_value("1977"), Ok(Value::Integer(1977)));
    /// assert!(Field::YEAR.parse_value("MCMLXXVII").is_err());
    /// ```
    pub fn parse_value(self, text: &str) -> Result<Value<'_>, String> {
        self.kind().parse(text).ok_or_else(|| self.wrong_kind())
    }

    pub(super) fn wrong_kind(self) -> String {
        format!("{self} must be {}", self.requirement())
    }

    /// The rules that a value violates, except for uniqueness.
    pub(super) fn check(self, value: &Value<'_>) -> Vec<Rule> {
        match value {
            Value::Text(text) if text.is_empty() && self.is_missing_if_empty() => {
                vec![Rule::Missing]
            }
            value => self.kind().check(value),
        }
    }

    /// Whether an empty text is the same as none.
    pub(super) fn is_missing_if_empty(self) -> bool {
        self.is_required() && matches!(self.kind(), Kind::Text { .. })
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Field {}

impl fmt::Debug for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl std::str::FromStr for Field {
    type Err = ParseFieldsError;

    fn from_str(name: &str) -> Result<Self, ParseFieldsError> {
        let known = Self::ALL.iter().find(|field| field.name() == name);
        let unknown = || ParseFieldsError::Unknown(excerpt(name).into_owned());
        known.copied().ok_or_else(unknown)
    }
}

serialize_as_text!(Field);
deserialize_from_text!(Field);

/// Why a text is not a list of fields.
///
/// ```
/// use robot_core::{Field, ParseFieldsError};
///
/// assert_eq!(Field::list("name,name"), Err(ParseFieldsError::Repeated(Field::NAME)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFieldsError {
    /// No field has this name.
    #[error("fields has '{0}', which is not a field; the fields are {all}", all = Field::names(Field::ALL))]
    Unknown(String),
    /// This field is repeated.
    #[error("fields has '{0}' twice; name it once")]
    Repeated(Field),
}

#[cfg(test)]
impl Field {
    /// A field as owners define it.
    pub(super) const MAKER: Self = Self(&Properties {
        name: "maker",
        title: "Maker",
        description: "",
        example: "",
        member: Member::Own,
        kind: Kind::Text { max_length: 200 },
        is_required: false,
        is_unique: false,
    });
}
