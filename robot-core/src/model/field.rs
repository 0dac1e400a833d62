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

/// What a view shows fields of: a robot, or its entry, which has only id and name.
pub(crate) trait Visible {
    fn id(&self) -> RobotId;

    fn name(&self) -> &str;

    /// The robot; `None` for an entry.
    fn robot(&self) -> Option<&Robot>;
}

impl Visible for Robot {
    fn id(&self) -> RobotId {
        self.id()
    }

    fn name(&self) -> &str {
        self.name()
    }

    fn robot(&self) -> Option<&Robot> {
        Some(self)
    }
}

impl Visible for Entry {
    fn id(&self) -> RobotId {
        self.id()
    }

    fn name(&self) -> &str {
        self.name()
    }

    fn robot(&self) -> Option<&Robot> {
        None
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
            let key = field.as_str();
            match (field, self.robot.robot()) {
                (Field::Id, _) => object.serialize_entry(key, &self.robot.id())?,
                (Field::Name, _) => object.serialize_entry(key, self.robot.name())?,
                (Field::Type, Some(robot)) => {
                    object.serialize_entry(key, robot.robot_type().as_str())?;
                }
                (Field::Year, Some(robot)) => object.serialize_entry(key, &robot.year())?,
                // Entries are read only for views without these fields.
                (Field::Type | Field::Year, None) => {}
            }
        }
        object.end()
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
