//! Schemas that follow from the fields of a robot and from the parameters of queries.

use serde_json::{Map, Value as Json, json};

use crate::{
    catalogue::Sort,
    http::parameters::{LIMIT_MAXIMUM, Parameter, Value},
    model::{Definition, Field, Kind},
};

/// Adds the fields to the schemas of robots.
pub(super) fn add_fields(schemas: &mut Json, definition: &Definition) {
    let (settable, created) = (definition.settable(), definition.created_view());
    add(&mut schemas["Robot"], definition.all(), Field::json_schema);
    for draft in ["RobotDraft", "RobotPatch"] {
        add(&mut schemas[draft], settable, Field::json_schema_of_drafts);
    }
    schemas["RobotDraft"]["required"] = required(settable);
    let data = &mut schemas["RobotCreated"]["properties"]["data"];
    add(data, definition.all(), Field::json_schema);
    data["required"] = required(created);
    let groups = &mut schemas["SummaryGroup"]["properties"];
    for field in definition.countable() {
        groups[field.name()] = json!({ "type": [field.json_type(), "null"] });
    }
    groups["decade"]["type"] = json!(["integer", "null"]);
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
pub(super) fn parameter(parameter: &Parameter, definition: &Definition) -> Json {
    let text = match parameter.value {
        Value::Condition(condition) => format!("{}.", condition.description()),
        _ => parameter.text.to_owned(),
    };
    json!({
        "name": parameter.name,
        "in": "query",
        "description": text,
        "schema": value(parameter.value, definition),
    })
}

fn value(value: Value, definition: &Definition) -> Json {
    match value {
        Value::Text => json!({ "type": "string" }),
        Value::Flag => json!({ "type": "boolean", "default": false }),
        Value::Condition(condition) => {
            let schema = match condition.field().kind() {
                Kind::Choice(choices) => json!({ "type": "string", "enum": choices }),
                Kind::Text { .. } if !condition.field().kind().is_date() => {
                    json!({ "type": "string" })
                }
                _ => condition.field().json_schema(),
            };
            if condition.is_repeatable() {
                json!({ "type": "array", "items": schema, "minItems": 1, "maxItems": condition.value_limit() })
            } else {
                schema
            }
        }
        Value::Limit => json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAXIMUM }),
        Value::OneOf(texts) => json!({ "type": "string", "enum": texts }),
        // Not an array: many generators write arrays as repeated parameters.
        Value::Fields => {
            let name = Field::names(definition.all()).replace(',', "|");
            json!({
                "type": "string",
                "pattern": format!("^(\\*|({name})(,({name}))*)$"),
                "examples": [Field::names(definition.default_fields())],
            })
        }
        Value::Sort => {
            let names: Vec<_> = Sort::all(definition).map(|sort| sort.to_string()).collect();
            json!({ "type": "string", "enum": names })
        }
        Value::By => {
            let names: Vec<_> = definition.countable().map(Field::name).collect();
            json!({ "type": "string", "enum": names })
        }
    }
}
