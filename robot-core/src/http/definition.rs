//! `/api/definition`: the fields of the robots, as a document of JSON Schema.

use super::{
    conditions::Conditions, failure::Failure, render, reply::Reply, response::Started, route::Call,
};
use crate::{
    catalogue::{Catalogue, Pending, Redefinition},
    model::Definition,
};

/// `GET`: the document, with all properties of all fields.
pub(super) fn get(call: &Call<'_>) -> Started {
    let definition = &call.definition;
    let response = Conditions::of_read(call.headers)?
        .reply(definition.revision(), || render::json(&**definition))?;
    Ok(Pending::ready(Ok(response)))
}

/// `PUT`: a new document. What it does not have of the built-in fields stays as the contract says.
pub(super) fn replace(call: &Call<'_>, body: &[u8]) -> Started {
    let drops_values = call.arguments.flag("drop_values")?;
    let conditions = Conditions::of_change(call.headers)?;
    let text = str::from_utf8(body).map_err(|error| {
        let byte = error.valid_up_to();
        Failure::malformed(format!("The body is not UTF-8 (at byte {byte})"))
    })?;
    let definition: Definition = text
        .parse()
        .map_err(|error| Failure::malformed(format!("{error}")))?;
    let mut redefinition = Redefinition::new(definition);
    redefinition.drops_values = drops_values;
    let (catalogue, reply) = (call.catalogue(), Reply::to(call));
    Ok(Pending::blocking(move || {
        if !conditions.permit_all() {
            let present = catalogue.definition().revision();
            conditions.permit_change(present)?;
            redefinition.expected = Some(present);
        }
        let defined = catalogue.define(redefinition)?;
        Ok(reply.changed(defined.revision(), &*defined))
    }))
}
