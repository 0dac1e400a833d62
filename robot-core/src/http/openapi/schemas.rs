//! Schemas and parameters that follow from the fields of a robot.

use serde_json::{Value as Json, json};

use crate::{
    catalogue::{Comparison, Condition, PART_LIMIT, Sort},
    http::parameters::conditions,
    model::{Definition, Field, Format, Kind},
};

/// Adds the fields to the schemas of robots.
pub(super) fn add_fields(schemas: &mut Json, definition: &Definition) {
    let (settable, created) = (definition.settable(), definition.created_view());
    add(
        &mut schemas["Robot"],
        definition.readable(),
        Field::json_schema,
    );
    for version in ["", "V1"] {
        for draft in ["RobotDraft", "RobotPatch"] {
            let schema = &mut schemas[format!("{draft}{version}")];
            add(schema, settable, Field::json_schema_of_drafts);
        }
        schemas[format!("RobotDraft{version}")]["required"] = required(settable);
    }
    let data = &mut schemas["RobotCreated"]["properties"]["data"];
    add(data, definition.all(), Field::json_schema);
    data["required"] = required(created);
    let groups = &mut schemas["SummaryGroup"]["properties"];
    for field in definition.settable() {
        groups[field.name()] = json!({ "type": [field.kind().json_type(), "null"] });
    }
    groups["decade"]["type"] = json!(["integer", "null"]);
    let formats = Format::NAMED.iter().map(|format| format.name);
    schemas["FieldDefinition"]["properties"]["format"]["enum"] = formats.collect();
}

fn add<'a>(
    schema: &mut Json,
    fields: impl IntoIterator<Item = &'a Field>,
    schema_of: fn(&Field) -> Json,
) {
    for field in fields {
        schema["properties"][field.name()] = schema_of(field);
    }
}

/// The names of the fields that every robot has.
fn required(fields: &[Field]) -> Json {
    let required = fields.iter();
    required
        .filter(|field| field.is_required())
        .map(Field::name)
        .collect()
}

/// Completes the parameters of queries whose values are names of fields, and adds the conditions for fields.
pub(super) fn complete_parameters(parameters: &mut Json, definition: &Definition) {
    // Not an array: many generators write arrays as repeated parameters.
    let names: Vec<_> = definition.readable().map(Field::name).collect();
    let name = names.join("|");
    let fields = &mut parameters["fields"]["schema"];
    fields["pattern"] = format!("^(\\*|({name})(,({name}))*)$").into();
    fields["examples"] = json!([Field::names(definition.default_fields())]);
    let sorts = Sort::all(definition).map(|sort| sort.to_string().into());
    parameters["sort"]["schema"]["enum"] = Json::Array(sorts.collect());
    parameters["by"]["schema"]["enum"] = definition.settable().iter().map(Field::name).collect();
    for condition in conditions(definition) {
        parameters[component_of(&condition)] = json!({
            "name": condition.name(),
            "in": "query",
            "description": format!("{}.", condition.description()),
            "schema": values(&condition),
        });
    }
}

/// The name of the component for a condition: a field may have the name of a parameter of imports.
pub(super) fn component_of(condition: &Condition) -> String {
    format!("if-{}", condition.name())
}

/// The values of a condition.
fn values(condition: &Condition) -> Json {
    let kind = condition.field.kind();
    let schema = match kind {
        _ if condition.comparison == Comparison::Contains => {
            json!({ "type": "string", "minLength": 1, "maxLength": PART_LIMIT })
        }
        Kind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        Kind::Text { .. } if !kind.is_time() => json!({ "type": "string" }),
        // Also ids that no robot has.
        Kind::Id => json!({ "type": "string", "pattern": "^[0-9]+$" }),
        Kind::Integer { minimum: 0.., .. } => {
            json!({ "type": "integer", "format": "int64", "minimum": 0 })
        }
        _ => condition.field.json_schema(),
    };
    if condition.is_repeatable() {
        json!({ "type": "array", "items": schema, "minItems": 1, "maxItems": condition.value_limit() })
    } else {
        schema
    }
}
