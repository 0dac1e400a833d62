//! The JSON view of a robot with some of its fields.

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{
    field::{Field, Member},
    robot::{Entry, Robot},
    value::Value,
};

/// What a view shows fields of: a robot, or its entry.
pub(crate) trait Visible {
    /// The value of a field; `None` if an entry does not have it.
    fn get(&self, field: Field) -> Option<Value<'_>>;
}

impl Visible for Robot {
    fn get(&self, field: Field) -> Option<Value<'_>> {
        self.value_of(field)
    }
}

impl Visible for Entry {
    fn get(&self, field: Field) -> Option<Value<'_>> {
        match field.member() {
            Member::Id => Some(Value::Id(self.id())),
            Member::Name => Some(self.name().into()),
            _ => None,
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
            if let Some(value) = self.robot.get(*field) {
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
            if let Some(value) = self.value_of(*field) {
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
