//! Documents of definitions, as they are written.

use std::fmt::{self, Display};

use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::model::{
    definition::Definition,
    field::{Field, Member},
    format::Format,
    kind::Kind,
    value::Value,
};

impl Serialize for Definition {
    /// The document, with all properties of all fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fields<'a>(&'a Definition);

        impl Serialize for Fields<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut properties = serializer.serialize_map(None)?;
                for field in self.0.settable() {
                    properties.serialize_entry(field.name(), &Property(field))?;
                }
                for field in self.0.left_out() {
                    properties.serialize_entry(field.name(), &false)?;
                }
                properties.end()
            }
        }

        let mut document = serializer.serialize_map(None)?;
        if let Some(title) = &self.title {
            document.serialize_entry("title", title)?;
        }
        if let Some(noun) = &self.noun {
            document.serialize_entry("noun", noun)?;
        }
        document.serialize_entry("properties", &Fields(self))?;
        let required = self.settable().iter().filter(|field| field.is_required());
        let required: Vec<_> = required.map(Field::name).collect();
        document.serialize_entry("required", &required)?;
        document.end()
    }
}

/// The keywords of a field.
pub(in crate::model) struct Property<'a>(pub(in crate::model) &'a Field);

impl Serialize for Property<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let field = self.0;
        let mut property = serializer.serialize_map(None)?;
        property.serialize_entry("type", field.kind().json_type())?;
        match field.kind() {
            Kind::Text { max_length, format } => {
                property.serialize_entry("maxLength", &max_length)?;
                match format {
                    Format::Pattern(pattern) => {
                        property.serialize_entry("pattern", pattern.as_str())?;
                    }
                    Format::Named(format) => property.serialize_entry("format", format.name)?,
                    Format::Any => {}
                }
            }
            Kind::Choice(choices) => property.serialize_entry("enum", choices)?,
            Kind::Integer { minimum, maximum } => {
                // A built-in field without it has the minimum of the contract.
                if *minimum > i64::MIN || !field.is_own() {
                    property.serialize_entry("minimum", &minimum)?;
                }
                if *maximum < i64::MAX {
                    property.serialize_entry("maximum", &maximum)?;
                }
            }
            Kind::Number { minimum, maximum } => {
                if *minimum > f64::MIN {
                    property.serialize_entry("minimum", &Value::number(*minimum))?;
                }
                if *maximum < f64::MAX {
                    property.serialize_entry("maximum", &Value::number(*maximum))?;
                }
            }
            Kind::Id | Kind::Boolean | Kind::Timestamp => {}
        }
        if field.is_unique() || field.member() == Member::Name {
            property.serialize_entry("unique", &field.is_unique())?;
        }
        if field.is_own() && field.properties().is_indexed {
            property.serialize_entry("index", &true)?;
        }
        if field.is_searched() {
            property.serialize_entry("search", &true)?;
        }
        property.serialize_entry("title", field.title())?;
        let built_in = Field::built_in(field.name());
        if field.description() != built_in.map_or("", Field::description) {
            property.serialize_entry("description", field.description())?;
        }
        property.end()
    }
}

impl Display for Definition {
    /// The document, with an indent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&document)
    }
}

impl Definition {
    /// What differs in two definitions: the names of fields, or else that the title, the noun or the order does.
    pub(crate) fn differences<'a>(&'a self, other: &'a Self) -> Vec<&'a str> {
        let property = |definition: &Self, name| {
            let field = definition.field(name)?;
            Some((
                field.is_required(),
                serde_json::to_string(&Property(field)).ok(),
            ))
        };
        let all = self.settable().iter().chain(other.settable());
        let mut names: Vec<_> = all.map(Field::name).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| property(self, name) != property(other, name));
        if names.is_empty() {
            names.push("the title, the noun or the order of the fields");
        }
        names
    }
}

impl PartialEq for Definition {
    /// Whether the documents are the same.
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_string(self).ok() == serde_json::to_string(other).ok()
    }
}

impl Eq for Definition {}
