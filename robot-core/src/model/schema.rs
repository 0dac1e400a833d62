//! JSON schemas of fields.

use serde_json::{Value as Json, json};

use super::{document::Property, field::Field, kind::Kind};

impl Field {
    /// The JSON schema of stored values. It has no limits and no choices, because those of an earlier or a newer
    /// definition may be others.
    #[must_use]
    pub fn json_schema(&self) -> Json {
        let mut schema = match self.kind() {
            Kind::Id => json!({ "type": "string", "pattern": "^[1-9][0-9]*$" }),
            Kind::Text { .. } => json!({ "type": "string", "minLength": 1 }),
            Kind::Timestamp => json!({ "type": "string", "format": "date-time" }),
            Kind::Integer { .. } => json!({ "type": "integer", "format": "int64" }),
            _ => json!({ "type": self.kind().json_type() }),
        };
        schema["title"] = self.title().into();
        let properties = self.properties();
        if !properties.description.is_empty() {
            schema["description"] = (&*properties.description).into();
        }
        let example = self.parse_value(properties.example).ok();
        if let Some(example) = example.filter(|example| self.check(example).is_empty()) {
            schema["examples"] = json!([example]);
        }
        schema
    }

    /// The JSON schema of values that clients send.
    #[must_use]
    pub fn json_schema_of_drafts(&self) -> Json {
        const LIMITS: [&str; 6] = [
            "enum",
            "maxLength",
            "pattern",
            "format",
            "minimum",
            "maximum",
        ];
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
            if let Some(Json::Array(choices)) = schema.get_mut("enum") {
                choices.push(Json::Null);
            }
            if let Some(length) = schema.get_mut("minLength") {
                // An empty text is none.
                *length = 0.into();
            }
        }
        schema
    }
}
