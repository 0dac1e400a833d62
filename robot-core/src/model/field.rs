//! Fields of a robot, and their values.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize, Serializer};

use super::id::RobotId;

/// A field of a robot.
///
/// ```
/// use robot_core::Field;
///
/// assert_eq!(Field::list("name,year")?, [Field::Name, Field::Year]);
/// assert!(Field::list("name,colour").is_err());
/// # Ok::<(), robot_core::ParseFieldsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Field {
    /// The id.
    Id,
    /// The name.
    Name,
    /// The type.
    Type,
    /// The year.
    Year,
    /// The revision.
    Revision,
}

impl Field {
    /// All fields.
    pub const ALL: &[Self] = &[Self::Id, Self::Name, Self::Type, Self::Year, Self::Revision];
    /// The fields of a robot in JSON, in files and in tables, unless others are chosen: what clients
    /// can set, and the id.
    pub const DEFAULT: &[Self] = &[Self::Id, Self::Name, Self::Type, Self::Year];
    /// The fields without which no robot can be added.
    pub(crate) const REQUIRED: &[Self] = &[Self::Name, Self::Type, Self::Year];
    /// The fields of a robot in a list, a search and a GET by id, unless the client chooses others.
    pub(crate) const DEFAULT_VIEW: &[Self] = &[Self::Id, Self::Name];
    /// The fields of a robot in the reply to its creation.
    pub(crate) const CREATED_VIEW: &[Self] = &[Self::Name, Self::Type, Self::Year, Self::Id];

    /// Whether an [`Entry`](crate::Entry) has this field.
    pub(crate) fn is_in_entry(self) -> bool {
        matches!(self, Self::Id | Self::Name)
    }

    /// The name of the field, as in JSON.
    ///
    /// ```
    /// use robot_core::Field;
    ///
    /// assert_eq!(Field::Type.as_str(), "type");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Type => "type",
            Self::Year => "year",
            Self::Revision => "revision",
        }
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
        let names: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
        names.join(",")
    }

    /// Parses field names separated by commas.
    ///
    /// # Errors
    /// A name is not that of a field, or is repeated.
    pub fn list(text: &str) -> Result<Vec<Self>, ParseFieldsError> {
        let mut fields = Vec::new();
        for name in text.split(',') {
            let field = Self::ALL
                .iter()
                .copied()
                .find(|field| field.as_str() == name)
                .ok_or_else(|| ParseFieldsError::Unknown(excerpt(name).into_owned()))?;
            if fields.contains(&field) {
                return Err(ParseFieldsError::Repeated(field));
            }
            fields.push(field);
        }
        Ok(fields)
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// Why a text is not a list of fields.
///
/// ```
/// use robot_core::{Field, ParseFieldsError};
///
/// assert_eq!(Field::list("name,name"), Err(ParseFieldsError::Repeated(Field::Name)));
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

/// The value of a field of a robot.
///
/// ```
/// use robot_core::{Draft, Field, RobotId, ValidDraft};
///
/// let robot = ValidDraft::new(Draft::new("R2-D2", "droid", 1977))?
///     .with_id(RobotId::new(7).ok_or("not positive")?);
/// let values: Vec<_> = Field::DEFAULT.iter().map(|field| robot.value(*field).to_string()).collect();
/// assert_eq!(values, ["7", "R2-D2", "droid", "1977"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldValue<'a> {
    /// An id.
    Id(RobotId),
    /// A text.
    Text(&'a str),
    /// A number.
    Number(i64),
}

impl fmt::Display for FieldValue<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Text(text) => text.fmt(formatter),
            Self::Number(number) => number.fmt(formatter),
        }
    }
}

impl Serialize for FieldValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => id.serialize(serializer),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i64(*number),
        }
    }
}

/// The beginning of a client's text, for a message that quotes it.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const LIMIT: usize = 40;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
