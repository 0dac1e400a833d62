//! Fields of a robot: what a definition says about each.

use std::{borrow::Cow, fmt, ptr, sync::Arc};

use super::{format::Format, kind::Kind, value::Value};

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

static ID: Properties = Properties::new(
    Member::Id,
    Kind::Id,
    ["id", "ID", "1"],
    "Assigned by the service, and never used again.",
);
static NAME: Properties = Properties::new(
    Member::Name,
    Kind::Text {
        max_length: NAME_LENGTH_LIMIT,
        format: Format::Any,
    },
    ["name", "Name", "R2-D2"],
    "Any characters but NUL, compared byte for byte.",
);
const TYPES: &[Cow<'_, str>] = &[
    Cow::Borrowed("droid"),
    Cow::Borrowed("mechanical"),
    Cow::Borrowed("virtual"),
];
static TYPE: Properties = Properties::new(
    Member::Type,
    Kind::Choice(Cow::Borrowed(TYPES)),
    ["type", "Type", "droid"],
    "",
);
static YEAR: Properties = Properties::new(
    Member::Year,
    Kind::Integer {
        minimum: 0,
        maximum: i64::MAX,
    },
    ["year", "Year", "1977"],
    "",
);
static REVISION: Properties = Properties::new(
    Member::Revision,
    Kind::Integer {
        minimum: 1,
        maximum: i64::MAX,
    },
    ["revision", "Revision", "1"],
    "The number of the last change of the robot, among all changes of the catalogue.",
);

static CREATED_AT: Properties = Properties::new(
    Member::CreatedAt,
    Kind::Timestamp,
    ["created_at", "Created", "2026-05-31T12:00:00.000Z"],
    "When the robot was added.",
);
static UPDATED_AT: Properties = Properties::new(
    Member::UpdatedAt,
    Kind::Timestamp,
    ["updated_at", "Updated", "2026-05-31T12:00:00.000Z"],
    "When the robot was last changed.",
);
static UPDATED_BY: Properties = Properties::new(
    Member::UpdatedBy,
    Kind::Text {
        max_length: NAME_LENGTH_LIMIT,
        format: Format::Any,
    },
    ["updated_by", "Updated by", "anna"],
    "Who has changed the robot last: the name of a token, or of a user.",
);

impl Field {
    /// The id.
    pub const ID: Self = Self(Owner::BuiltIn(&ID));
    /// The name.
    pub const NAME: Self = Self(Owner::BuiltIn(&NAME));
    /// The type.
    pub const TYPE: Self = Self(Owner::BuiltIn(&TYPE));
    /// The year.
    pub const YEAR: Self = Self(Owner::BuiltIn(&YEAR));
    /// The revision.
    pub const REVISION: Self = Self(Owner::BuiltIn(&REVISION));
    /// When the robot was added.
    pub const CREATED_AT: Self = Self(Owner::BuiltIn(&CREATED_AT));
    /// When the robot was last changed.
    pub const UPDATED_AT: Self = Self(Owner::BuiltIn(&UPDATED_AT));
    /// Who has changed the robot last.
    pub const UPDATED_BY: Self = Self(Owner::BuiltIn(&UPDATED_BY));

    /// The fields of an [`Audit`](crate::Audit), which a robot has only where they are named. A field with such a name that an
    /// earlier version has defined takes its place.
    pub const AUDIT: &[Self] = &[Self::CREATED_AT, Self::UPDATED_AT, Self::UPDATED_BY];
    /// All fields of the built-in definition, except those of [`AUDIT`](Self::AUDIT).
    pub const ALL: &[Self] = &[Self::ID, Self::NAME, Self::TYPE, Self::YEAR, Self::REVISION];
    /// The fields of a robot in JSON, in files and in tables, unless others are chosen: the id, and
    /// what clients can set. Those of the built-in definition.
    pub const DEFAULT: &[Self] = Self::ALL.split_at(Self::ALL.len() - 1).0;
    /// The fields that clients can set. Those of the built-in definition.
    pub const SETTABLE: &[Self] = Self::DEFAULT.split_at(1).1;
    /// The fields of a robot in a list, a search and a GET by id, unless the client chooses others.
    pub(crate) const DEFAULT_VIEW: &[Self] = &[Self::ID, Self::NAME];
}

/// A field of a robot, which belongs to its definition. Fields are equal if all that their definitions say about them
/// is equal.
///
/// ```
/// use robot_core::Field;
///
/// assert_eq!(Field::TYPE.choices(), ["droid", "mechanical", "virtual"]);
/// assert_eq!(Field::names(Field::DEFAULT), "id,name,type,year");
/// ```
#[derive(Clone)]
pub struct Field(Owner);

/// The properties of a field, which are freed with the last definition or field that has them.
#[derive(Clone)]
enum Owner {
    BuiltIn(&'static Properties),
    Definition(Arc<Properties>),
}

/// What a definition says about a field.
#[derive(Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent keywords"
)]
pub(super) struct Properties {
    pub(super) name: Cow<'static, str>,
    pub(super) title: Cow<'static, str>,
    pub(super) description: Cow<'static, str>,
    /// A value, as text.
    pub(super) example: &'static str,
    pub(super) member: Member,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
    pub(super) is_unique: bool,
    pub(super) is_indexed: bool,
    pub(super) is_searched: bool,
}

impl Properties {
    /// The properties of a field without keywords.
    pub(super) const fn new(
        member: Member,
        kind: Kind,
        [name, title, example]: [&'static str; 3],
        description: &'static str,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: Cow::Borrowed(title),
            description: Cow::Borrowed(description),
            example,
            is_unique: matches!(member, Member::Id | Member::Name),
            is_indexed: matches!(member, Member::Year),
            member,
            kind,
            is_required: !matches!(
                member,
                Member::CreatedAt | Member::UpdatedAt | Member::UpdatedBy
            ),
            is_searched: false,
        }
    }
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
    CreatedAt,
    UpdatedAt,
    UpdatedBy,
    /// Beside the values of other fields of the owner.
    Own,
}

impl Field {
    /// The built-in field with this name, if clients can set it.
    pub(crate) fn built_in(name: &str) -> Option<&'static Self> {
        Self::SETTABLE.iter().find(|field| field.name() == name)
    }

    pub(super) fn defined(properties: Properties) -> Self {
        Self(Owner::Definition(Arc::new(properties)))
    }

    pub(super) fn properties(&self) -> &Properties {
        match &self.0 {
            Owner::BuiltIn(properties) => properties,
            Owner::Definition(properties) => properties,
        }
    }

    /// Whether the fields have the same name, whatever their definitions say about them.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        self.name() == other.name()
    }

    /// The name, as in JSON.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.properties().name
    }

    /// The name for people, as a heading.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.properties().title
    }

    /// The kind of values.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.properties().kind
    }

    /// The texts to choose from; none for a field of another kind.
    #[must_use]
    pub fn choices(&self) -> &[Cow<'static, str>] {
        match self.kind() {
            Kind::Choice(choices) => choices,
            _ => &[],
        }
    }

    /// Whether a robot needs a value of this field to be added.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.properties().is_required
    }

    /// Whether no two robots have the same value.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.properties().is_unique
    }

    /// Whether a store finds and sorts robots by this field without reading all of them.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        self.properties().is_indexed || self.is_unique()
    }

    /// Whether searches for words include the field.
    #[must_use]
    pub fn is_searched(&self) -> bool {
        self.properties().is_searched
    }

    /// Whether the owner of the catalogue has added the field.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.member() == Member::Own
    }

    /// Whether the values of this field before its change are converted, because its kind changes.
    pub(crate) fn converts(&self, before: &Self) -> bool {
        let is_choice = |field: &Self| matches!(field.kind(), Kind::Choice(_));
        let (kind, old) = (self.kind(), before.kind());
        kind.json_type() != old.json_type()
            || is_choice(self) != is_choice(before)
            || kind.is_time() && kind.time() != old.time()
    }

    /// Whether it is one of [`AUDIT`](Self::AUDIT).
    pub(crate) fn is_audit(&self) -> bool {
        use Member::{CreatedAt, UpdatedAt, UpdatedBy};
        matches!(self.member(), CreatedAt | UpdatedAt | UpdatedBy)
    }

    pub(super) fn description(&self) -> &str {
        &self.properties().description
    }

    pub(crate) fn member(&self) -> Member {
        self.properties().member
    }

    /// Whether several robots may have the same value, or none, so that a place in a list needs an id.
    pub(crate) fn has_equals(&self) -> bool {
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
    pub fn limits(&self) -> String {
        let unique = if self.is_unique() { ", unique" } else { "" };
        self.kind().limits() + unique
    }

    /// What a value must be, for messages, such as `an integer from 0 to 99`.
    #[must_use]
    pub fn requirement(&self) -> String {
        self.kind().requirement()
    }

    /// The names of fields, separated by commas.
    #[must_use]
    pub fn names(fields: &[Self]) -> String {
        let names: Vec<_> = fields.iter().map(Field::name).collect();
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
    pub fn parse_value<'t>(&self, text: &'t str) -> Result<Value<'t>, String> {
        self.kind().parse(text).ok_or_else(|| self.wrong_kind())
    }

    pub(super) fn wrong_kind(&self) -> String {
        format!("{self} must be {}", self.requirement())
    }

    /// Whether a value is an empty text that is the same as none.
    pub(super) fn is_empty(&self, value: &Value<'_>) -> bool {
        matches!(value, Value::Text(text) if text.is_empty()) && self.is_missing_if_empty()
    }

    /// Whether an empty text is the same as none.
    pub(super) fn is_missing_if_empty(&self) -> bool {
        match self.kind() {
            Kind::Text { .. } => true,
            Kind::Choice(_) => self.is_own() || !self.is_required(),
            _ => false,
        }
    }
}

impl PartialEq for Field {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.properties(), other.properties());
        ptr::eq(one, other) || one == other
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

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;
    use crate::model::Definition;

    #[test]
    fn dropped_definitions_keep_no_memory() {
        let mut size = 0;
        while size < 50 << 20 {
            let field = |number| {
                let text = format!("{size} {}", "x".repeat(900));
                format!(r#""f{number}":{{"type":"string","description":"{text}"}}"#)
            };
            let fields: Vec<_> = (0..60).map(field).collect();
            let document = format!(r#"{{"properties":{{{}}}}}"#, fields.join(","));
            size += document.len();
            let definition: Definition = document.parse().unwrap();
            let weak = |field: &Field| match &field.0 {
                Owner::BuiltIn(_) => Weak::new(),
                Owner::Definition(properties) => Arc::downgrade(properties),
            };
            let properties: Vec<_> = definition.own().map(weak).collect();
            assert_eq!(properties.len(), 60);
            assert!(properties.iter().all(|field| field.strong_count() > 0));
            drop(definition);
            assert!(properties.iter().all(|field| field.upgrade().is_none()));
        }
    }
}
