//! Parameters and bodies of requests.

use super::{
    about::Body,
    json::{Json, object},
    responses::{self, STALE},
    schemas,
};
use crate::http::{accept, failure::PATCH_TYPE, parameters::Parameter, route::Operation};

/// The headers that every operation takes. None of their values is an error.
const COMMON: [(&str, &str, &str); 2] = [
    (
        "Prefer",
        "With `handling=strict`, an unknown query parameter is 400 instead of being ignored.",
        "handling=strict",
    ),
    (
        "X-Request-Id",
        "An id under which the operator of the service finds the request in the log: 1 to 128 letters, \
         digits and characters of `-_.:/+=@`. Any other is replaced.",
        "3f1c",
    ),
];

/// The headers of conditional requests.
const CONDITIONS: [(&str, &str); 2] = [
    (
        "If-Match",
        "An `ETag`, several with commas, or `*`: 412 unless the robot has one of them. So an update \
         of another client is not lost.",
    ),
    (
        "If-None-Match",
        "An `ETag`, several with commas, or `*`: 412 if the robot has one of them, and 304 for a `GET`.",
    ),
];

/// A list of entity tags, or `*`.
const TAGS: &str = r#"^[ \t]*(\*|[ \t,]*(W/)?"[^\x00-\x20"\x7f]*"([ \t]*,[ \t]*((W/)?"[^\x00-\x20"\x7f]*")?)*)[ \t]*$"#;

/// The parameters that every operation takes, as components.
pub(super) fn common() -> Json {
    let headers = COMMON.map(|(name, text, example)| {
        let schema = object! { "type" => "string", "examples" => Json::texts([example]) };
        (name.into(), header(name, text, schema))
    });
    Json::Object(headers.into())
}

/// The parameters of all operations of a path.
pub(super) fn of_path(path: &str) -> Json {
    let variable = path.split('/').find_map(|segment| match segment {
        "{id}" => Some(object! {
            "name" => "id", "in" => "path", "required" => true,
            "description" => "The id of a robot.",
            "schema" => object! { "type" => "string", "pattern" => "^[0-9]+$" },
            "example" => "1",
        }),
        "{name}" => Some(object! {
            "name" => "name", "in" => "path", "required" => true,
            "description" => "A part of the name, byte for byte: case-sensitive without `fold=true`, \
                without wildcards. An empty one finds every robot.",
            "schema" => object! { "type" => "string" },
            "example" => "R2",
        }),
        _ => None,
    });
    let common = COMMON.map(|(name, ..)| Json::reference("parameters", name));
    Json::List(variable.into_iter().chain(common).collect())
}

/// The parameters of an operation besides those of its path.
pub(super) fn parameters(operation: &Operation) -> Json {
    let query = operation.parameters.iter().map(in_query);
    let conditions = operation
        .about
        .responses
        .iter()
        .any(|response| response.is(&STALE));
    let conditions = conditions.then(|| {
        CONDITIONS.map(|(name, text)| {
            // A `GET` ignores one that is malformed: the whole robot is never a wrong reply.
            let is_lenient = name == "If-None-Match" && operation.method == "GET";
            let schema = object! { "type" => "string", "examples" => Json::texts(["\"1\""]) };
            let schema = if is_lenient {
                schema
            } else {
                schema.with("pattern", TAGS)
            };
            header(name, text, schema)
        })
    });
    Json::List(query.chain(conditions.into_iter().flatten()).collect())
}

fn in_query(parameter: &Parameter) -> Json {
    object! {
        "name" => parameter.name,
        "in" => "query",
        "description" => parameter.text,
        "schema" => schemas::value(parameter.value),
    }
}

fn header(name: &'static str, text: &'static str, schema: Json) -> Json {
    object! { "name" => name, "in" => "header", "description" => text, "schema" => schema }
}

/// The body of a request, if it has one.
pub(super) fn body(body: Body) -> Option<Json> {
    let robot = || object! { "name" => "R2-D2", "type" => "droid", "year" => 1977 };
    let content = match body {
        Body::None => return None,
        Body::Draft => object! {
            accept::JSON => object! {
                "schema" => schemas::reference("RobotDraft"), "example" => robot(),
            },
        },
        Body::Patch => object! {
            PATCH_TYPE => object! {
                "schema" => schemas::reference("RobotPatch"),
                "example" => object! { "year" => 1980 },
            },
        },
        Body::Import => responses::files(schemas::reference("RobotDrafts")),
    };
    Some(object! { "required" => true, "content" => content })
}
