//! Fields of a robot, and the JSON view of a robot with some of them.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    id::RobotId,
    robot::{Entry, Robot},
};

/// A field of a robot.
///
/// ```
/// use robot_core::Field;
///
/// assert_eq!(Field::list("name,year")?, [Field::Name, Field::Year]);
/// assert!(Field::list("name,colour").is_err());
/// # Ok::<(), robot_core::ParseFieldsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Field {
    /// All fields, in their default order.
    pub const ALL: &[Self] = &[Self::Id, Self::Name, Self::Type, Self::Year];
    /// The fields of a robot in a list, a search and a GET by id, unless the client chooses others.
    pub(crate) const DEFAULT_VIEW: &[Self] = &[Self::Id, Self::Name];
    /// The fields of a robot in the reply to its creation.
    pub(crate) const CREATED_VIEW: &[Self] = &[Self::Name, Self::Type, Self::Year, Self::Id];

    /// Whether an [`Entry`] has this field.
    pub(crate) fn is_in_entry(self) -> bool {
        matches!(self, Self::Id | Self::Name)
    }

    /// The name of the field, as in JSON.
    ///
    /// ```
    /// use robot_core::Field;
    ///
    /// assert_eq!(Field::ALL.iter().map(|field| field.as_str()).collect::<Vec<_>>().join(","), "id,name,type,year");
    /// ```
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Name => "name",
            Self::Type => "type",
            Self::Year => "year",
        }
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
    #[error("fields has '{0}', which is no field; the fields are id,name,type,year")]
    Unknown(String),
    /// This field is repeated.
    #[error("fields has '{}' twice; name it once", .0.as_str())]
    Repeated(Field),
}

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldValue<'a> {
    Id(RobotId),
    Text(&'a str),
    Number(i64),
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

/// What a view shows fields of: a robot, or its entry.
pub(crate) trait Visible {
    /// The value of a field; `None` if an entry does not have it.
    fn value(&self, field: Field) -> Option<FieldValue<'_>>;
}

impl Visible for Robot {
    fn value(&self, field: Field) -> Option<FieldValue<'_>> {
        Some(match field {
            Field::Id => FieldValue::Id(self.id()),
            Field::Name => FieldValue::Text(self.name()),
            Field::Type => FieldValue::Text(self.robot_type().as_str()),
            Field::Year => FieldValue::Number(self.year()),
        })
    }
}

impl Visible for Entry {
    fn value(&self, field: Field) -> Option<FieldValue<'_>> {
        match field {
            Field::Id => Some(FieldValue::Id(self.id())),
            Field::Name => Some(FieldValue::Text(self.name())),
            Field::Type | Field::Year => None,
        }
    }
}

/// Some fields of a robot, as a JSON object.
pub(crate) struct View<'a, T = Robot> {
    pub(crate) robot: &'a T,
    pub(crate) fields: &'a [Field],
}

impl<T: Visible> Serialize for View<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.fields.len()))?;
        for field in self.fields {
            if let Some(value) = self.robot.value(*field) {
                object.serialize_entry(field.as_str(), &value)?;
            }
        }
        object.end()
    }
}

impl Serialize for Robot {
    /// An object with all fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = Field::ALL;
        View {
            robot: self,
            fields,
        }
        .serialize(serializer)
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
