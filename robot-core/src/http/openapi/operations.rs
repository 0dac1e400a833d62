//! Operations of a route: those of the file, and what follows from the table of routes.

use serde_json::{Value, json};

use super::{
    responses::{Responses, adapt, names, reference},
    schemas::component_of,
};
use crate::{
    http::{
        behaviour::Behaviour,
        route::{Operation, Route},
    },
    model::Definition,
};

/// The path item of a route: its operations, with `HEAD` and `OPTIONS`, and the parameters of all of them.
pub(super) fn describe(
    route: &Route,
    behaviour: Behaviour,
    definition: &Definition,
    responses: &mut Responses<'_>,
) -> Value {
    let file = responses.file;
    let (in_file, common) = (&file["paths"][route.name], &file["common"]);
    let version = if behaviour.is_contract() { "" } else { "V1" };
    let mut item = json!({ "parameters": path_parameters(route.path, file) });
    let mut first_id = None;
    for operation in route.methods {
        let method = operation.method.to_ascii_lowercase();
        let mut described = Value::from(adapt(&in_file[&method], behaviour));
        let id = described["operationId"].as_str().unwrap_or_default();
        let id = format!("{id}{version}");
        described["operationId"] = id.as_str().into();
        described["parameters"] = parameters(operation, definition, &described["parameters"]);
        let access = operation.needs.map_or("public", |_| "permitted");
        let statuses = [&common[access], &common[&method], &described["responses"]];
        described["responses"] = joined(statuses);
        if operation.method == "GET" {
            let mut head = described.clone();
            head["operationId"] = format!("{id}Head").into();
            head["summary"] = "The headers of the reply to GET".into();
            if let Value::Object(members) = &mut head {
                members.remove("description");
            }
            responses.refer(&mut head["responses"], behaviour, false);
            item["head"] = head;
        }
        responses.refer(&mut described["responses"], behaviour, true);
        item[method] = described;
        first_id.get_or_insert(id);
    }
    let own_statuses = adapt(&in_file["options"], behaviour).into();
    let mut statuses = joined([&common["public"], &common["options"], &own_statuses]);
    responses.refer(&mut statuses, behaviour, true);
    item["options"] = json!({
        "operationId": format!("{}Options", first_id.unwrap_or_default()),
        "summary": "Get the methods of this path",
        "security": [],
        "responses": statuses,
    });
    item
}

/// The members of all objects. The last one takes precedence.
fn joined(objects: [&Value; 3]) -> Value {
    let members = objects.into_iter().filter_map(Value::as_object).flatten();
    let copies = members.map(|(name, value)| (name.clone(), value.clone()));
    copies.collect()
}

/// References to the parameters of an operation: those of the query, and headers, which the file names.
fn parameters(operation: &Operation, definition: &Definition, headers: &Value) -> Value {
    let query = operation.parameters.all(definition);
    let query = query.map(|(name, of)| of.as_ref().map_or(name.into(), component_of));
    let all = query.chain(names(headers).map(str::to_owned));
    all.map(|name| reference("parameters", &name)).collect()
}

/// The parameters of all operations of a path. The one in the path is written out: its component has the name of a
/// segment, with braces.
fn path_parameters(path: &str, file: &Value) -> Value {
    let segments = path.split('/').filter(|segment| segment.starts_with('{'));
    let in_path = segments.map(|segment| file["components"]["parameters"][segment].clone());
    let headers = names(&file["common"]["parameters"]);
    let headers = headers.map(|name| reference("parameters", name));
    in_path.chain(headers).collect()
}
