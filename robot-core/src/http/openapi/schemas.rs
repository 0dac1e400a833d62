//! Schemas that follow from the fields of a robot and from the parameters of queries.

use serde_json::{Map, Value as Json, json};

use crate::{
    catalogue::Sort,
    http::parameters::{LIMIT_MAXIMUM, Parameter, Value},
    model::{Field, Kind},
};

/// Adds the fields to the schemas of robots.
pub(super) fn add_fields(schemas: &mut Json) {
    let settable = Field::SETTABLE;
    let created = Field::created_view();
    add(&mut schemas["Robot"], Field::ALL, Field::json_schema);
    for draft in ["RobotDraft", "RobotPatch"] {
        add(&mut schemas[draft], settable, Field::json_schema_of_drafts);
    }
    schemas["RobotDraft"]["required"] = required(settable);
    let data = &mut schemas["RobotCreated"]["properties"]["data"];
    add(data, created, Field::json_schema);
    data["required"] = required(created);
}

fn add(schema: &mut Json, fields: &[Field], schema_of: fn(Field) -> Json) {
    let properties = fields
        .iter()
        .map(|field| (field.name().to_owned(), schema_of(*field)));
    schema["properties"] = properties.collect::<Map<_, _>>().into();
}

/// The names of the fields that every robot has.
fn required(fields: &[Field]) -> Json {
    let required = fields.iter();
    required
        .filter(|field| field.is_required())
        .map(|field| field.name())
        .collect()
}

/// A parameter of a query.
pub(super) fn parameter(parameter: &Parameter) -> Json {
    json!({
        "name": parameter.name,
        "in": "query",
        "description": parameter.text,
        "schema": value(parameter.value),
    })
}

fn value(value: Value) -> Json {
    match value {
        Value::Text => json!({ "type": "string" }),
        Value::Flag => json!({ "type": "boolean", "default": false }),
        Value::Condition(condition) => match condition.field().kind() {
            Kind::Choice(choices) => {
                let choice = json!({ "type": "string", "enum": choices });
                json!({ "type": "array", "items": choice, "minItems": 1 })
            }
            Kind::Text { .. } => json!({ "type": "string" }),
            _ => condition.field().json_schema(),
        },
        Value::Limit => json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAXIMUM }),
        Value::OneOf(texts) => json!({ "type": "string", "enum": texts }),
        // Not an array: many generators write arrays as repeated parameters.
        Value::Fields => {
            let name = Field::names(Field::ALL).replace(',', "|");
            json!({
                "type": "string",
                "pattern": format!("^({name})(,({name}))*$"),
                "examples": [Field::names(Field::DEFAULT)],
            })
        }
        Value::Sort => json!({ "type": "string", "enum": Sort::ALL.map(|sort| sort.to_string()) }),
    }
}
