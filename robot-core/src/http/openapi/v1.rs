//! The description of `/v1`, which follows from that of `/api`: failures are problem details, no reply has the type
//! of the contract, and a member `x-v1` is a merge patch (RFC 7396) of the object that has it.

use serde_json::{Value, json};

use super::{component, members, reference};
use crate::http::accept;

const PATCH: &str = "x-v1";

/// Turns the description of a path below `/api` into that of the same path below `/v1`.
pub(super) fn derive(path: &mut Value, replies: &mut Value, schemas: &mut Value) {
    take_patches(path, merge);
    for operation in members(path) {
        let Some(id) = operation["operationId"].as_str() else {
            continue;
        };
        operation["operationId"] = format!("{id}V1").into();
        for body in operation
            .pointer_mut("/requestBody/content")
            .into_iter()
            .flat_map(members)
        {
            rename(&mut body["schema"], "schemas", schemas, |_| ());
        }
        for reply in members(&mut operation["responses"]) {
            let name = component(reply);
            // The server rejects some requests before it knows their path.
            let is_early = name.ends_with("Malformed") || name.ends_with("Unavailable");
            rename(reply, "responses", replies, |reply| {
                use_problems(reply, is_early);
            });
        }
    }
}

/// Replaces the reference to a component by that to a changed copy, if the change changes it.
fn rename(target: &mut Value, kind: &str, all: &mut Value, change: impl FnOnce(&mut Value)) {
    let name = component(target).to_owned();
    let Some(mut changed) = all.get(&name).cloned() else {
        return;
    };
    take_patches(&mut changed, merge);
    change(&mut changed);
    if changed != all[&name] {
        let name = format!("{name}V1");
        *target = reference(kind, &name);
        all[name] = changed;
    }
}

/// Replaces the types of a reply.
fn use_problems(reply: &mut Value, is_early: bool) {
    let Some(Value::Object(content)) = reply.get_mut("content") else {
        return;
    };
    let is_failure = content
        .get(accept::JSON)
        .is_some_and(|json| component(&json["schema"]).ends_with("Failure"));
    if content.contains_key(accept::JSON) && !(is_failure && is_early) {
        content.remove(accept::CONTRACT);
    }
    if is_failure {
        content.remove(accept::JSON);
        let problem = json!({ "schema": reference("schemas", "Problem") });
        content.insert(accept::PROBLEM.to_owned(), problem);
    }
}

/// Takes all merge patches from a value, and uses each on the object that has it.
pub(super) fn take_patches(value: &mut Value, using: fn(&mut Value, Value)) {
    if let Some(patch) = value.as_object_mut().and_then(|value| value.remove(PATCH)) {
        using(value, patch);
    }
    match value {
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|value| take_patches(value, using));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|value| take_patches(value, using)),
        _ => {}
    }
}

/// Applies a merge patch.
pub(super) fn merge(value: &mut Value, patch: Value) {
    match (value, patch) {
        (Value::Object(members), Value::Object(patch)) => {
            for (name, patch) in patch {
                if patch.is_null() {
                    members.remove(&name);
                } else {
                    merge(members.entry(name).or_insert(Value::Null), patch);
                }
            }
        }
        (value, Value::Object(patch)) => {
            *value = json!({});
            merge(value, patch.into());
        }
        (value, patch) => *value = patch,
    }
}
