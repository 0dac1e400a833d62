//! The JSON view of a robot with some of its fields.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{field::Field, robot::Robot};

/// Some fields of a robot, as a JSON object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) robot: &'a Robot,
    pub(crate) fields: &'a [Field],
}

impl Serialize for View<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.fields.len()))?;
        for field in self.fields {
            if let Some(value) = self.robot.value_of(field) {
                object.serialize_entry(field.name(), &value)?;
            }
        }
        object.end()
    }
}

impl Serialize for Robot {
    /// An object with all fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for field in Field::DEFAULT {
            if let Some(value) = self.value_of(field) {
                object.serialize_entry(field.name(), &value)?;
            }
        }
        let own = self.values().own();
        for name in own.names() {
            object.serialize_entry(name, &own.get(name))?;
        }
        object.serialize_entry(Field::REVISION.name(), &self.revision())?;
        object.end()
    }
}
