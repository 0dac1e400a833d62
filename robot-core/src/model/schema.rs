//! JSON schemas of fields.

use serde_json::{Value as Json, json};

use super::{
    field::Field,
    kind::{Format, Kind},
};

impl Field {
    /// The JSON schema of stored values. It has no choices, because a newer version may have more.
    #[must_use]
    pub fn json_schema(self) -> Json {
        let mut schema = match self.kind() {
            Kind::Id => json!({ "type": "string", "pattern": "^[1-9][0-9]*$" }),
            Kind::Text { max_length, .. } => json!({ "type": "string", "maxLength": max_length }),
            Kind::Choice(_) => json!({ "type": "string" }),
            Kind::Integer { minimum, .. } => {
                json!({ "type": "integer", "format": "int64", "minimum": minimum })
            }
            Kind::Number { .. } => json!({ "type": "number" }),
            Kind::Boolean => json!({ "type": "boolean" }),
        };
        if matches!(self.kind(), Kind::Text { .. }) {
            schema["minLength"] = 1.into();
        }
        if !self.description().is_empty() {
            schema["description"] = self.description().into();
        }
        schema["examples"] = match self.parse_value(self.example()) {
            Ok(example) => json!([example]),
            Err(_) => json!([]),
        };
        schema
    }

    /// The JSON schema of values that clients send.
    #[must_use]
    pub fn json_schema_of_drafts(self) -> Json {
        let mut schema = self.json_schema();
        match self.kind() {
            Kind::Choice(choices) => schema["enum"] = choices.into(),
            Kind::Integer { maximum, .. } if maximum < i64::MAX => {
                schema["maximum"] = maximum.into();
            }
            Kind::Number { minimum, maximum } => {
                if minimum > f64::MIN {
                    schema["minimum"] = minimum.into();
                }
                if maximum < f64::MAX {
                    schema["maximum"] = maximum.into();
                }
            }
            Kind::Text { format, .. } => {
                if let Format::Pattern(pattern) = format {
                    schema["pattern"] = pattern.as_str().into();
                }
                if let Some(name) = format.name() {
                    schema["format"] = name.into();
                }
            }
            _ => {}
        }
        if !self.is_required() {
            schema["type"] = json!([schema["type"], "null"]);
        }
        schema
    }
}
