//! Validation of bodies by the schemas of a document.

use std::collections::BTreeMap;

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::Value;

const LOCATION: &str = "http://localhost/openapi.json";

/// The schemas of a document. Members that a schema does not describe are errors here.
pub(super) struct Validator {
    schemas: Schemas,
    indices: BTreeMap<String, SchemaIndex>,
}

impl Validator {
    pub(super) fn new(document: &Value) -> Self {
        let mut document = document.clone();
        let all = &mut document["components"]["schemas"];
        close(all);
        let names = all.as_object().into_iter().flat_map(|all| all.keys());
        let references: Vec<_> = names
            .map(|name| format!("#/components/schemas/{name}"))
            .collect();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let added = compiler.add_resource(LOCATION, document);
        added.unwrap_or_else(|error| panic!("{error}"));
        let mut schemas = Schemas::new();
        let indices = references.into_iter().map(|reference| {
            let index = compiler.compile(&format!("{LOCATION}{reference}"), &mut schemas);
            (reference, index.unwrap_or_else(|error| panic!("{error}")))
        });
        let indices = indices.collect();
        Self { schemas, indices }
    }

    /// The error of a value that does not match the schema of a reference.
    pub(super) fn check(&self, reference: &str, value: &Value) -> Result<(), String> {
        let index = self.indices.get(reference);
        let index = index.ok_or_else(|| format!("there is no schema {reference}"))?;
        let result = self.schemas.validate(value, *index);
        result.map_err(|error| format!("{error:#}"))
    }
}

/// Forbids members that are not described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            // A property may have this name, too.
            if members.get("properties").is_some_and(Value::is_object)
                && members.contains_key("type")
            {
                members.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
