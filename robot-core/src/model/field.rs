//! Fields of a robot: what a definition says about each.

use std::fmt;

use super::{format::Format, kind::Kind, revision::Revision, value::Value};

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
        is_unique: true,
        ..Properties::DEFAULT
    });
    /// The name.
    pub const NAME: Self = Self(&Properties {
        name: "name",
        title: "Name",
        description: "Any characters but NUL, compared byte for byte.",
        example: "R2-D2",
        member: Member::Name,
        kind: Kind::Text {
            max_length: NAME_LENGTH_LIMIT,
            format: Format::Any,
        },
        is_unique: true,
        ..Properties::DEFAULT
    });
    /// The type.
    pub const TYPE: Self = Self(&Properties {
        name: "type",
        title: "Type",
        example: "droid",
        member: Member::Type,
        kind: Kind::Choice(&["droid", "mechanical", "virtual"]),
        ..Properties::DEFAULT
    });
    /// The year.
    pub const YEAR: Self = Self(&Properties {
        name: "year",
        title: "Year",
        example: "1977",
        member: Member::Year,
        kind: Kind::Integer {
            minimum: 0,
            maximum: i64::MAX,
        },
        is_indexed: true,
        from_name: "year_from",
        to_name: "year_to",
        ..Properties::DEFAULT
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
        ..Properties::DEFAULT
    });

    /// All fields of the built-in definition.
    pub const ALL: &[Self] = &[Self::ID, Self::NAME, Self::TYPE, Self::YEAR, Self::REVISION];
    /// The fields of a robot in JSON, in files and in tables, unless others are chosen: the id, and
    /// what clients can set. Those of the built-in definition.
    pub const DEFAULT: &[Self] = Self::ALL.split_at(Self::ALL.len() - 1).0;
    /// The fields that clients can set. Those of the built-in definition.
    pub const SETTABLE: &[Self] = Self::DEFAULT.split_at(1).1;
    /// The fields of a robot in a list, a search and a GET by id, unless the client chooses others.
    pub(crate) const DEFAULT_VIEW: &[Self] = &[Self::ID, Self::NAME];
}

/// A field of a robot. Fields of equal names are equal.
///
/// ```
/// use robot_core::Field;
///
/// assert_eq!(Field::TYPE.choices(), ["droid", "mechanical", "virtual"]);
/// assert_eq!(Field::names(Field::DEFAULT), "id,name,type,year");
/// ```
#[derive(Clone, Copy)]
pub struct Field(pub(super) &'static Properties);

/// What a definition says about a field.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent keywords"
)]
pub(super) struct Properties {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// A value, as text.
    pub(super) example: &'static str,
    pub(super) member: Member,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    pub(super) is_unique: bool,
    pub(super) is_indexed: bool,
    pub(super) is_searched: bool,
    /// The names of conditions for a range.
    pub(super) from_name: &'static str,
    pub(super) to_name: &'static str,
}

impl Properties {
    pub(super) const DEFAULT: Self = Self {
        name: "",
        title: "",
        description: "",
        example: "",
        member: Member::Own,
        kind: Kind::Boolean,
        is_required: true,
        is_unique: false,
        is_indexed: false,
        is_searched: false,
        from_name: "",
        to_name: "",
    };
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
    /// The built-in field with this name, if clients can set it.
    pub(crate) fn built_in(name: &str) -> Option<Self> {
        let mut settable = Self::SETTABLE.iter().copied();
        settable.find(|field| field.name() == name)
    }

    /// The name, as in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// The name for people, as a heading.
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
        match self.kind() {
            Kind::Choice(choices) => choices,
            _ => &[],
        }
    }

    /// Whether none can be added without a value.
    #[must_use]
    pub const fn is_required(self) -> bool {
        self.0.is_required
    }

    /// Whether no two robots have the same value.
    #[must_use]
    pub const fn is_unique(self) -> bool {
        self.0.is_unique
    }

    /// Whether a store finds and sorts robots by this field without reading all of them.
    #[must_use]
    pub const fn is_indexed(self) -> bool {
        self.0.is_indexed || self.0.is_unique
    }

    /// Whether searches for words include the field.
    #[must_use]
    pub const fn is_searched(self) -> bool {
        self.0.is_searched
    }

    /// Whether the owner of the catalogue has added the field.
    #[must_use]
    pub fn is_own(self) -> bool {
        self.member() == Member::Own
    }

    /// Whether the values of this field before its change are converted, because its kind changes.
    pub(crate) fn converts(self, before: Self) -> bool {
        let is_choice = |field: Self| matches!(field.kind(), Kind::Choice(_));
        let (kind, old) = (self.kind(), before.kind());
        kind.json_type() != old.json_type()
            || is_choice(self) != is_choice(before)
            || kind.is_time() && kind.time() != old.time()
    }

    /// The names of the conditions for a range of values; empty if there are none.
    pub(crate) const fn range_names(self) -> [&'static str; 2] {
        [self.0.from_name, self.0.to_name]
    }

    pub(crate) const fn member(self) -> Member {
        self.0.member
    }

    /// Whether several robots may have the same value, or none, so that a place in a list needs an id.
    pub(crate) fn has_equals(self) -> bool {
        match self.member() {
            Member::Id => false,
            Member::Name => !self.is_unique(),
            _ => true,
        }
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
        let unique = if self.is_unique() { ", unique" } else { "" };
        self.kind().limits() + unique
    }

    /// What a value must be, for messages, such as `an integer from 0 to 99`.
    #[must_use]
    pub fn requirement(self) -> String {
        self.kind().requirement()
    }

    /// The names of fields, separated by commas.
    #[must_use]
    pub fn names(fields: &[Self]) -> String {
        let names: Vec<_> = fields.iter().map(|field| field.name()).collect();
        names.join(",")
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

    /// Whether a value is an empty text that is the same as none.
    pub(super) fn is_empty(self, value: &Value<'_>) -> bool {
        matches!(value, Value::Text(text) if text.is_empty()) && self.is_missing_if_empty()
    }

    /// Whether an empty text is the same as none.
    pub(super) fn is_missing_if_empty(self) -> bool {
        match self.kind() {
            Kind::Text { .. } => true,
            Kind::Choice(_) => self.is_own() || !self.is_required(),
            _ => false,
        }
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Field {}

impl AsRef<str> for Field {
    fn as_ref(&self) -> &str {
        self.name()
    }
}

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
