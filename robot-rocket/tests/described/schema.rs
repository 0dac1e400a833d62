//! Validation of bodies against the schemas of a document.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::Value;

const LOCATION: &str = "http://localhost/openapi.json";

/// The schemas of a document. Members that a schema does not describe are errors here.
pub(super) struct Validator {
    document: Value,
    schemas: Schemas,
    indices: BTreeMap<String, SchemaIndex>,
}

impl Validator {
    pub(super) fn new(document: &Value) -> Self {
        let mut document = document.clone();
        let all = &mut document["components"]["schemas"];
        close(all);
        let names: Vec<_> = all
            .as_object()
            .into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let added = compiler.add_resource(LOCATION, document.clone());
        added.unwrap_or_else(|error| panic!("{error}"));
        let mut schemas = Schemas::new();
        let indices = names.into_iter().map(|name| {
            let location = format!("{LOCATION}#/components/schemas/{name}");
            let index = compiler.compile(&location, &mut schemas);
            (name, index.unwrap_or_else(|error| panic!("{error}")))
        });
        let indices = indices.collect();
        Self {
            document,
            schemas,
            indices,
        }
    }

    /// The error of a value that does not match the schema with this name.
    pub(super) fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        let Some(index) = self.indices.get(name) else {
            return Err(format!("there is no schema {name}"));
        };
        let result = self.schemas.validate(value, *index);
        result.map_err(|error| format!("{error:#}"))
    }

    /// All members of the schemas with these names, and of those that they refer to.
    pub(super) fn members<'a>(&self, names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
        let found = Mutex::new(BTreeSet::new());
        for name in names {
            self.walk(
                name,
                &self.document["components"]["schemas"][name],
                None,
                &found,
            );
        }
        found.into_inner().unwrap_or_default()
    }

    /// The members of the schema with this name that a value has.
    pub(super) fn members_of(&self, name: &str, value: &Value) -> BTreeSet<String> {
        let found = Mutex::new(BTreeSet::new());
        self.walk(
            name,
            &self.document["components"]["schemas"][name],
            Some(value),
            &found,
        );
        found.into_inner().unwrap_or_default()
    }

    /// Adds the members of a schema, which is at `place`: all, or those that a value has.
    fn walk(
        &self,
        place: &str,
        schema: &Value,
        value: Option<&Value>,
        found: &Mutex<BTreeSet<String>>,
    ) {
        if let Some(name) = reference(schema) {
            return self.walk(
                name,
                &self.document["components"]["schemas"][name],
                value,
                found,
            );
        }
        for choice in schema["oneOf"].as_array().into_iter().flatten() {
            let is_chosen = value
                .zip(reference(choice))
                .is_none_or(|(value, name)| self.check(name, value).is_ok());
            if is_chosen {
                self.walk(place, choice, value, found);
            }
        }
        match value {
            None if schema["items"].is_null() => {}
            None => self.walk(place, &schema["items"], None, found),
            Some(value) => {
                for item in value.as_array().into_iter().flatten() {
                    self.walk(place, &schema["items"], Some(item), found);
                }
            }
        }
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let part = value.map(|value| value.get(name));
            if part == Some(None) {
                continue;
            }
            let place = format!("{place}.{name}");
            let is_new = found
                .lock()
                .is_ok_and(|mut found| found.insert(place.clone()));
            if is_new || value.is_some() {
                self.walk(&place, member, part.flatten(), found);
            }
        }
    }
}

/// The name of the schema that a schema refers to.
fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
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
