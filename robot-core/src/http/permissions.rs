//! `GET /v1/access`: what the client may do.

use serde_json::json;

use super::{
    access::{AccessError, Client},
    failure::Failure,
    render,
    response::{self, Started},
    route::Call,
    token::Permission::{Define, Read, Write},
};
use crate::catalogue::Pending;

/// Returns the permissions of the client, also if it has none. An error if its token is unknown.
pub(super) fn get(call: &Call<'_>) -> Started {
    if matches!(call.client, Client::Unknown(_)) {
        return Err(Failure::NotPermitted(AccessError::UnknownToken));
    }
    let may = |permission| call.client.check(permission).is_ok();
    let permissions = render::json(&json!({
        "name": call.client.name(),
        "read": may(Read),
        "write": may(Write),
        "define": may(Define),
    }));
    Ok(Pending::ready(Ok(response::not_stored(permissions))))
}
