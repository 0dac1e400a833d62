//! The description of one operation.

use std::collections::BTreeMap;

use super::{
    about::{self, About},
    json::{Json, object},
    requests,
    responses::{
        FAILED, FOREIGN_HOST, HEAD_TOO_LARGE, MALFORMED, NO_TOKEN, NOT_FOUND, NOT_PERMITTED, Reply,
        Response, TOO_LARGE, TOO_MANY_CONNECTIONS, TOO_SLOW, UNAVAILABLE,
    },
};
use crate::http::{
    behaviour::Behaviour,
    route::{Handler, Operation, Route},
    token::Permission,
};

/// An operation of a route that is described.
pub(super) struct Described<'a> {
    pub(super) route: &'a Route,
    pub(super) operation: &'a Operation,
    pub(super) kind: Kind,
}

/// How a described operation follows from one in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is that operation.
    Listed,
    /// It is the `HEAD` of that `GET`.
    Head,
    /// It is the `OPTIONS` of its route.
    Options,
}

impl Described<'_> {
    /// The description. Adds the components of its replies.
    pub(super) fn describe(
        &self,
        behaviour: Behaviour,
        components: &mut BTreeMap<String, Json>,
    ) -> Json {
        let about = self.about();
        let mut described = match self.kind {
            Kind::Listed => object! {
                "operationId" => about.id,
                "summary" => about.summary,
                "description" => about.text,
            },
            Kind::Head => object! {
                "operationId" => format!("{}Head", about.id),
                "summary" => "The headers of the reply to GET",
            },
            Kind::Options => object! {
                "operationId" => format!("{}Options", self.operation.about.id),
                "summary" => about.summary,
            },
        };
        if self.kind != Kind::Options {
            described = described.with("parameters", requests::parameters(self.operation));
        }
        if self.kind == Kind::Listed
            && let Some(body) = requests::body(about.body)
        {
            described = described.with("requestBody", body);
        }
        let replies = self.replies(behaviour).into_values().map(|reply| {
            let reference = Json::reference("responses", &reply.name);
            let status = reply.status.to_string();
            let component = reply.describe();
            components.insert(reply.name, component);
            (status.into(), reference)
        });
        let described = described.with("responses", Json::Object(replies.collect()));
        if self.needs().is_some() {
            let token = object! { "token" => Vec::new() };
            described.with("security", vec![object! {}, token])
        } else {
            described
        }
    }

    fn about(&self) -> &About {
        match self.kind {
            Kind::Listed | Kind::Head => &self.operation.about,
            Kind::Options => &about::OPTIONS,
        }
    }

    fn needs(&self) -> Option<Permission> {
        self.operation.needs.filter(|_| self.kind != Kind::Options)
    }

    /// The replies by their status codes.
    fn replies(&self, behaviour: Behaviour) -> BTreeMap<u16, Reply> {
        let mut replies = BTreeMap::<_, Reply>::new();
        let listed = self.about().responses.iter().copied();
        for response in listed.chain(self.failures()) {
            let reply = response.reply(behaviour);
            match replies.get_mut(&reply.status) {
                Some(known) => known.merge(reply),
                None => drop(replies.insert(reply.status, reply)),
            }
        }
        let has_patch = self.route.operation(&::http::Method::PATCH).is_some();
        if let Some(reply) = replies.get_mut(&204).filter(|_| has_patch) {
            reply.add_header("Accept-Patch");
        }
        let is_import = matches!(self.operation.handler, Handler::Streamed(_));
        for reply in replies.values_mut() {
            match self.kind {
                Kind::Head => reply.remove_body(),
                Kind::Listed if is_import => reply.add_counts(),
                Kind::Listed | Kind::Options => {}
            }
        }
        replies
    }

    /// The failures that follow from the method, the path and the permission.
    fn failures(&self) -> impl Iterator<Item = Response> {
        let needs = self.needs();
        let has_body =
            self.kind == Kind::Listed && !matches!(self.operation.handler, Handler::Bodyless(_));
        [
            Some(MALFORMED),
            needs.map(|_| NO_TOKEN),
            (needs == Some(Permission::Write)).then_some(NOT_PERMITTED),
            self.route.path.contains("{id}").then_some(NOT_FOUND),
            has_body.then_some(TOO_SLOW),
            has_body.then_some(TOO_LARGE),
            Some(FOREIGN_HOST),
            Some(HEAD_TOO_LARGE),
            needs.map(|_| FAILED),
            Some(if needs.is_some() {
                UNAVAILABLE
            } else {
                TOO_MANY_CONNECTIONS
            }),
        ]
        .into_iter()
        .flatten()
    }
}
