//! JSON schemas of fields.

use serde_json::{Value as Json, json};

use super::{document::Property, field::Field, kind::Kind};

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
        schema["title"] = self.title().into();
        if !self.description().is_empty() {
            schema["description"] = self.description().into();
        }
        let example = self.parse_value(self.example()).ok();
        if let Some(example) = example.filter(|example| self.check(example).is_empty()) {
            schema["examples"] = json!([example]);
        }
        schema
    }

    /// The JSON schema of values that clients send.
    #[must_use]
    pub fn json_schema_of_drafts(self) -> Json {
        const LIMITS: [&str; 5] = ["enum", "pattern", "format", "minimum", "maximum"];
        let mut schema = self.json_schema();
        if let Ok(Json::Object(keywords)) = serde_json::to_value(Property(self)) {
            for (keyword, value) in keywords {
                if LIMITS.contains(&keyword.as_str()) {
                    schema[keyword] = value;
                }
            }
        }
        if !self.is_required() {
            schema["type"] = json!([schema["type"], "null"]);
        }
        schema
    }
}
