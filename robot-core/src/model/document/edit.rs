//! A definition that is being changed, as a document.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::DefinitionError;
use crate::model::{
    definition::{Definition, Noun},
    field::Field,
};

/// A definition that is being changed: the keywords of its fields as JSON, in the order of the fields.
///
/// ```
/// use robot_core::{Definition, DefinitionDraft};
///
/// let mut draft = DefinitionDraft::from(&**Definition::built_in());
/// draft.property("maker").insert("type".into(), "string".into());
/// let definition = draft.build()?;
/// assert!(definition.field("maker").is_some());
/// # Ok::<(), robot_core::DefinitionError>(())
/// ```
#[derive(Debug, Clone, Serialize)]
pub struct DefinitionDraft {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    noun: Option<Noun>,
    /// `None` for a built-in field that is left out.
    #[serde(serialize_with = "as_map")]
    properties: Vec<(String, Option<Map<String, Value>>)>,
    required: Vec<String>,
}

impl From<&Definition> for DefinitionDraft {
    fn from(definition: &Definition) -> Self {
        let document = json!(definition);
        let fields = definition.settable().iter();
        let all = fields.clone().chain(definition.left_out());
        let properties = all.map(|field| {
            let property = document["properties"][field.name()].as_object();
            (field.name().to_owned(), property.cloned())
        });
        let required = fields.filter(|field| field.is_required());
        Self {
            title: definition.title().map(str::to_owned),
            noun: definition.noun.clone(),
            properties: properties.collect(),
            required: required.map(|field| field.name().to_owned()).collect(),
        }
    }
}

impl DefinitionDraft {
    /// The keywords of a field. A field that is new has none, and is the last one.
    pub fn property(&mut self, name: &str) -> &mut Map<String, Value> {
        self.entry(name).get_or_insert_default()
    }

    fn entry(&mut self, name: &str) -> &mut Option<Map<String, Value>> {
        let properties = &mut self.properties;
        let index = properties.iter().position(|(other, _)| other == name);
        let index = index.unwrap_or_else(|| {
            properties.push((name.to_owned(), None));
            properties.len() - 1
        });
        &mut properties[index].1
    }

    /// Whether there is a field with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let mut fields = self.properties.iter();
        fields.any(|(other, property)| other == name && property.is_some())
    }

    /// Removes a field. A built-in one is left out.
    pub fn remove(&mut self, name: &str) {
        if Field::built_in(name).is_some() {
            *self.entry(name) = None;
        } else {
            self.properties.retain(|(other, _)| other != name);
        }
        self.require(name, false);
    }

    /// Sets whether every new robot needs a value of a field.
    pub fn require(&mut self, name: &str, is_required: bool) {
        self.required.retain(|other| other != name);
        self.required.extend(is_required.then(|| name.to_owned()));
    }

    /// The definition.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn build(&self) -> Result<Definition, DefinitionError> {
        serde_json::to_string(self).unwrap_or_default().parse()
    }
}

fn as_map<S: Serializer>(
    properties: &[(String, Option<Map<String, Value>>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let properties = properties.iter().map(|(name, property)| {
        let property = property.clone().map_or(Value::Bool(false), Value::Object);
        (name, property)
    });
    serializer.collect_map(properties)
}
