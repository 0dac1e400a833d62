//! The index of a field, and its name.

#[cfg(feature = "mysql")]
use super::errors::VALUES;
use super::errors::{INDEX, UNIQUE};
use crate::model::{Field, Kind, Member};

/// An index of a field.
pub(super) struct Index<'a> {
    pub(super) name: String,
    pub(super) field: &'a Field,
}

impl<'a> Index<'a> {
    /// The index of a field. Its name has the kind of values, for each of which the SQL is another one.
    pub(super) fn of(field: &'a Field) -> Self {
        let name = match (field.member() == Member::Name, field.is_unique()) {
            (true, true) => "robots_name".to_owned(),
            (true, false) => "robots_names".to_owned(),
            (false, is_unique) => {
                let kind = if is_unique { UNIQUE } else { INDEX };
                let values = match field.kind() {
                    Kind::Id | Kind::Integer { .. } | Kind::Timestamp => "integer",
                    Kind::Number { .. } => "number",
                    Kind::Boolean => "boolean",
                    Kind::Text { .. } | Kind::Choice(_) => "text",
                };
                format!("{kind}{values}_{field}")
            }
        };
        Self { name, field }
    }

    /// The name of the column with its values, if it has one. It is the same for unique and other indexes.
    #[cfg(feature = "mysql")]
    pub(super) fn column(&self) -> String {
        let name = self.name.replacen(UNIQUE, VALUES, 1);
        name.replacen(INDEX, VALUES, 1)
    }
}
