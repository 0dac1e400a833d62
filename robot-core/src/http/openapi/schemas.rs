//! Schemas of the bodies.

use super::json::{Json, object};
use crate::{
    catalogue::Sort,
    http::parameters::{LIMIT_MAXIMUM, Value},
    model::Field,
};

/// All schemas, by their names.
pub(super) fn all() -> Json {
    object! {
        "Robot" => robot(Field::ALL, &[])
            .with("description", "A robot, with the members that `fields` names. Without it, replies \
                have `id` and `name`, and exports all but `revision`."),
        "Robots" => object! { "type" => "array", "items" => reference("Robot") },
        "RobotDraft" => draft(Field::SETTABLE)
            .with("description", "A robot that is stored. Other members are ignored."),
        "RobotDrafts" => object! { "type" => "array", "items" => reference("RobotDraft") },
        "RobotPatch" => draft(&[])
            .with("description", "The members that are changed (RFC 7396). Other members are ignored."),
        "RobotCreated" => envelope("OK", vec![
            ("data", robot(Field::created_view(), Field::created_view())),
        ]),
        "RobotFound" => envelope("FOUND", vec![("data", reference("Robot"))]),
        "RobotNotFound" => envelope("NOT-FOUND", vec![])
            .with("description", "No robot has the id. The status code is 200 nevertheless."),
        "RobotResult" => object! {
            "oneOf" => vec![reference("RobotFound"), reference("RobotNotFound")],
        },
        "Done" => envelope("OK", vec![]),
        "Failure" => envelope("ERROR", vec![("messages", messages())]),
        "ImportCounts" => counts(&["added", "replaced", "skipped", "failed"], &["not_tried"])
            .with("description", "The numbers of records by their outcome. `not_tried` is there only \
                if the import was stopped and the rest of the body could be counted."),
        "ImportReport" => envelope("OK", vec![("data", reference("ImportCounts"))])
            .with_optional("messages", messages()),
        "ImportFailure" => envelope("ERROR", vec![("messages", messages())])
            .with_optional("data", reference("ImportCounts"))
            .with("description", "Nothing was stored, unless there is `data`: then the import was \
                stopped, and `data` says what was done before."),
        "SummaryGroup" => object! {
            "type" => "object",
            "properties" => object! {
                "type" => object! { "type" => "string" },
                "decade" => object! {
                    "type" => "integer", "format" => "int64", "minimum" => 0, "examples" => example(1970),
                },
                "count" => count(),
            },
            "required" => Json::texts(["type", "decade", "count"]),
        },
        "Summary" => envelope("OK", vec![("data", object! {
            "type" => "object",
            "properties" => object! {
                "count" => count(),
                "groups" => object! { "type" => "array", "items" => reference("SummaryGroup") },
            },
            "required" => Json::texts(["count", "groups"]),
        })]),
        "Description" => object! {
            "type" => "object",
            "description" => "An OpenAPI document.",
            "properties" => object! {
                "openapi" => object! { "type" => "string" },
                "info" => object! { "type" => "object" },
                "servers" => object! { "type" => "array", "items" => object! { "type" => "object" } },
                "paths" => object! { "type" => "object" },
                "components" => object! { "type" => "object" },
            },
            "required" => Json::texts(["openapi", "info", "servers", "paths", "components"]),
        },
    }
}

pub(super) fn reference(name: &str) -> Json {
    Json::reference("schemas", name)
}

/// The schema of a parameter.
pub(super) fn value(value: Value) -> Json {
    match value {
        Value::Text => object! { "type" => "string" },
        Value::Flag => object! { "type" => "boolean", "default" => false },
        Value::Year => Field::YEAR.json_schema().into(),
        Value::Limit => object! {
            "type" => "integer", "minimum" => 1, "maximum" => i64::try_from(LIMIT_MAXIMUM).unwrap_or(i64::MAX),
        },
        Value::OneOf(texts) => choice(texts.iter().copied()),
        Value::Type => list(choice(Field::TYPE.choices().iter().copied())),
        // Not an array: many generators write arrays as repeated parameters.
        Value::Fields => {
            let name = Field::names(Field::ALL).replace(',', "|");
            object! {
                "type" => "string", "pattern" => format!("^({name})(,({name}))*$"),
                "examples" => example("id,name,type,year"),
            }
        }
        Value::Sort => choice(Sort::ALL.map(|sort| sort.to_string())),
    }
}

fn list(items: Json) -> Json {
    object! { "type" => "array", "items" => items, "minItems" => 1 }
}

fn choice<T: Into<Json>>(texts: impl IntoIterator<Item = T>) -> Json {
    object! { "type" => "string", "enum" => Json::texts(texts) }
}

/// The object of a reply: its status, and the members that are always there.
fn envelope(status: &'static str, members: Vec<(&'static str, Json)>) -> Json {
    let names = members.iter().map(|(name, _)| *name);
    let required = Json::texts(["status"].into_iter().chain(names));
    let members = members
        .into_iter()
        .map(|(name, schema)| (name.into(), schema));
    let first = ("status".into(), choice([status]));
    object! {
        "type" => "object",
        "properties" => Json::Object([first].into_iter().chain(members).collect()),
        "required" => required,
    }
}

fn messages() -> Json {
    object! {
        "type" => "array",
        "items" => object! { "type" => "string" },
        "minItems" => 1,
        "description" => "For people; at least one.",
    }
}

fn counts(required: &'static [&'static str], optional: &'static [&'static str]) -> Json {
    let names = required.iter().chain(optional).copied();
    object! {
        "type" => "object",
        "properties" => Json::Object(names.map(|name| (name.into(), count())).collect()),
        "required" => Json::texts(required.iter().copied()),
    }
}

fn count() -> Json {
    object! { "type" => "integer", "format" => "int64", "minimum" => 0 }
}

/// A robot in a reply.
fn robot(fields: &[Field], required: &'static [Field]) -> Json {
    let members = fields
        .iter()
        .map(|field| (*field, field.json_schema().into()));
    fields_object(members, required)
}

/// A robot in a request.
fn draft(required: &'static [Field]) -> Json {
    let members = Field::SETTABLE
        .iter()
        .map(|field| (*field, field.json_schema_of_drafts().into()));
    fields_object(members, required)
}

fn fields_object(members: impl Iterator<Item = (Field, Json)>, required: &'static [Field]) -> Json {
    let members = members.map(|(field, schema)| (field.name().into(), schema));
    let object = object! { "type" => "object", "properties" => Json::Object(members.collect()) };
    if required.is_empty() {
        object
    } else {
        object.with(
            "required",
            Json::texts(required.iter().map(|field| field.name())),
        )
    }
}

fn example(value: impl Into<Json>) -> Json {
    Json::List(vec![value.into()])
}
