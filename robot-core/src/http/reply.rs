//! Responses to changes that succeed, by behaviour and by the preference of the client (RFC 7240).

use std::sync::Arc;

use ::http::{StatusCode, header::LOCATION};
use serde::Serialize;

use super::{
    behaviour::Behaviour,
    conditions::tagged,
    headers::{self, PREFERENCE_APPLIED},
    render::{self, envelope},
    response::{self, Response},
    route::Call,
};
use crate::model::{Definition, Revision, Robot, View};

/// The client prefers a response without a body.
const MINIMAL: &str = "minimal";

/// How a change is answered.
pub(super) struct Reply {
    definition: Arc<Definition>,
    behaviour: Behaviour,
    /// [`MINIMAL`], or `representation`: what was changed.
    preferred: Option<&'static str>,
}

impl Reply {
    pub(super) fn to(call: &Call<'_>) -> Self {
        let values = [MINIMAL, "representation"];
        Self {
            definition: Arc::clone(&call.definition),
            behaviour: call.context.behaviour,
            preferred: headers::preferred(call.headers, "return", values),
        }
    }

    /// Whether the response depends on the robot after the change.
    pub(super) fn needs_robot(&self) -> bool {
        !self.behaviour.is_contract() || self.preferred.is_some()
    }

    /// The response to the creation of a robot.
    pub(super) fn created(&self, robot: &Robot) -> Response {
        let created = self.behaviour.created();
        if !self.needs_robot() {
            let fields = self.definition.created_view();
            let bytes = envelope("OK", Some(View { robot, fields }), Vec::new());
            return response::whole(created, bytes);
        }
        let mut response = self.robot(robot);
        if created != StatusCode::OK {
            *response.status_mut() = created;
        }
        let location = format!("robots/{}", robot.id());
        response::set(response.headers_mut(), LOCATION, location);
        response
    }

    /// The response to the change of a robot.
    pub(super) fn robot(&self, robot: &Robot) -> Response {
        let fields = self.definition.all();
        self.changed(robot.revision(), &View { robot, fields })
    }

    /// The response with what was changed, if the client wants it.
    pub(super) fn changed<T: Serialize>(&self, revision: Revision, data: &T) -> Response {
        let response = match self.preferred {
            Some(MINIMAL) => no_content(),
            None if self.behaviour.is_contract() => done(),
            _ => response::ok(render::data(self.behaviour, "OK", data)),
        };
        tagged(self.applied(response), revision)
    }

    /// The response to a deletion.
    pub(super) fn deleted(&self) -> Response {
        match self.preferred {
            Some(MINIMAL) => self.applied(no_content()),
            _ if self.behaviour.is_contract() => done(),
            _ => no_content(),
        }
    }

    /// The response, with the preference that took effect.
    fn applied(&self, mut response: Response) -> Response {
        if let Some(preferred) = self.preferred {
            let applied = format!("return={preferred}");
            response::set(response.headers_mut(), PREFERENCE_APPLIED, applied);
        }
        response
    }
}

/// The reply of the contract to a change.
pub(super) fn done() -> Response {
    response::ok(envelope("OK", None::<()>, Vec::new()))
}

fn no_content() -> Response {
    response::whole(StatusCode::NO_CONTENT, Vec::new())
}
