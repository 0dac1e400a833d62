//! What of a robot is shown, and how much of a text.

use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    pages::PageItem,
    robot::{Entry, Robot, RobotId},
};

/// A field of a robot, to be shown or left out.
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
    /// All of them, in the order in which they are shown where nobody chooses.
    pub const ALL: &[Self] = &[Self::Id, Self::Name, Self::Type, Self::Year];
    /// The fields of a robot in a list, in a search and by id, unless a client chooses others.
    pub(crate) const OF_A_VIEW: &[Self] = &[Self::Id, Self::Name];
    /// The fields of a robot that was added.
    pub(crate) const OF_A_CREATION: &[Self] = &[Self::Name, Self::Type, Self::Year, Self::Id];

    /// Whether the entry of a robot has this field.
    pub(crate) fn is_of_an_entry(self) -> bool {
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

    /// The fields that a text lists, with commas between them.
    ///
    /// # Errors
    /// A name is that of no field, or is there twice.
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

/// A text is no list of fields.
///
/// ```
/// use robot_core::{Field, ParseFieldsError};
///
/// assert_eq!(Field::list("name,name"), Err(ParseFieldsError::Repeated(Field::Name)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseFieldsError {
    /// It has this name, which is that of no field.
    #[error("fields has '{0}', which is no field; the fields are id,name,type,year")]
    Unknown(String),
    /// It has this field twice.
    #[error("fields has '{}' twice; name it once", .0.as_str())]
    Repeated(Field),
}

/// What a client gets to see some fields of: a robot, or its entry, which has id and name alone.
pub(crate) trait Visible: PageItem {
    fn id(&self) -> RobotId;

    /// The whole robot, if this is one.
    fn whole(&self) -> Option<&Robot>;
}

impl Visible for Robot {
    fn id(&self) -> RobotId {
        self.id()
    }

    fn whole(&self) -> Option<&Robot> {
        Some(self)
    }
}

impl Visible for Entry {
    fn id(&self) -> RobotId {
        self.id()
    }

    fn whole(&self) -> Option<&Robot> {
        None
    }
}

/// A robot as a client sees it: some of its fields.
pub(crate) struct View<'a, T = Robot> {
    pub(crate) robot: &'a T,
    pub(crate) fields: &'a [Field],
}

impl<T: Visible> Serialize for View<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.fields.len()))?;
        for field in self.fields {
            let key = field.as_str();
            match (field, self.robot.whole()) {
                (Field::Id, _) => object.serialize_entry(key, &self.robot.id())?,
                (Field::Name, _) => object.serialize_entry(key, self.robot.name())?,
                (Field::Type, Some(robot)) => {
                    object.serialize_entry(key, robot.robot_type().as_str())?;
                }
                (Field::Year, Some(robot)) => object.serialize_entry(key, &robot.year())?,
                // Nobody asks an entry for these.
                (Field::Type | Field::Year, None) => {}
            }
        }
        object.end()
    }
}

/// A client's own text as a message repeats it: enough of it to be recognised.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const LIMIT: usize = 40;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
