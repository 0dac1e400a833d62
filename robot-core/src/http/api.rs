//! From a request to a reply.

use std::{
    borrow::Cow,
    fmt, iter,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use super::{
    accept::content_type,
    behaviour::Behaviour,
    draft,
    failure::{Failure, logged},
    host::Hosts,
    origin,
    query::Query,
    render::{Envelope, Field, View, array, elements, json},
    reply::{Body, Chunks, Reply},
    request::Request,
    route::{ROBOTS_PATH, Resource, search_path},
};
use crate::{
    catalogue::{Catalogue, PageRequest, Pages},
    robot::RobotId,
};

/// The contract over one catalogue.
pub struct Api {
    catalogue: Arc<dyn Catalogue>,
    behaviour: Behaviour,
    hosts: Hosts,
    base: String,
}

impl Api {
    /// Behaviour A, at `/api/robots`, answering to any name.
    #[must_use]
    pub fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self {
            catalogue,
            behaviour: Behaviour::default(),
            hosts: Hosts::default(),
            base: String::new(),
        }
    }

    /// With this behaviour.
    #[must_use]
    pub fn behaviour(mut self, behaviour: Behaviour) -> Self {
        self.behaviour = behaviour;
        self
    }

    /// Answering to these names alone.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Under a base path: at `/base/api/robots`. A slash at its end counts for nothing.
    #[must_use]
    pub fn under(mut self, base: &str) -> Self {
        base.trim_end_matches('/').clone_into(&mut self.base);
        self
    }

    /// Answers a request. It may block on the store, for seconds at worst, and never panics.
    #[must_use]
    pub fn handle(&self, request: Request) -> Reply {
        let accept = request.headers.accept.clone();
        // Should there be a bug, it costs the request that met it and nothing else: stores
        // are whole whenever they are called, as each of their methods takes place at once.
        let answer = panic::catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        match answer.unwrap_or(Err(Failure::Internal)) {
            Ok(reply) => with_common_headers(reply, accept.as_deref()),
            Err(failure) => self.refuse(&failure, accept.as_deref()),
        }
    }

    /// The reply for a failure that a frontend met by itself, to a client that sent this
    /// `Accept`.
    #[must_use]
    pub fn refuse(&self, failure: &Failure, accept: Option<&str>) -> Reply {
        let reply = Reply {
            status: failure.status(self.behaviour),
            headers: failure.header().into_iter().collect(),
            body: Body::Whole(json(&Envelope::error(failure.messages()))),
        };
        with_common_headers(reply, accept)
    }

    fn answer(&self, request: Request) -> Result<Reply, Failure> {
        if !self.hosts.include(request.headers.host.as_deref()) {
            return Err(Failure::ForeignHost);
        }
        let resource = request
            .path()
            .strip_prefix(&self.base)
            .and_then(Resource::of_path)
            .ok_or_else(|| Failure::NoSuchPath(self.base.clone()))?;
        match (request.method.as_str(), &resource) {
            ("OPTIONS", _) => Ok(Reply {
                status: 204,
                headers: vec![("allow", resource.allow().into())],
                body: Body::Whole(Vec::new()),
            }),
            ("GET" | "HEAD", Resource::Robots) => self.list(ROBOTS_PATH, "", request.query()),
            ("GET" | "HEAD", Resource::Search(name)) => {
                let name = name.as_deref().ok_or(Failure::Malformed(vec![
                    "The name to search for is not UTF-8".into(),
                ]))?;
                self.list(&search_path(name), name, request.query())
            }
            ("GET" | "HEAD", Resource::Robot(id)) => self.get(*id, request.query()),
            ("POST", Resource::Robots) => self.create(request),
            ("PUT", Resource::Robot(id)) => self.replace(*id, request),
            ("DELETE", Resource::Robot(id)) => self.delete(*id, request),
            _ => Err(Failure::MethodNotAllowed(resource.allow())),
        }
    }

    fn get(&self, id: Option<RobotId>, query: &str) -> Result<Reply, Failure> {
        let query = Query::of_robot(query)?;
        let fields = query.fields.as_deref().unwrap_or(Field::OF_A_VIEW);
        let robot = match id {
            Some(id) => self.catalogue.get(id).map_err(logged)?,
            None => None,
        };
        Ok(match robot {
            Some(robot) => {
                let robot = &robot;
                whole(200, json(&Envelope::found(View { robot, fields })))
            }
            None => whole(200, json(&Envelope::NOT_FOUND)),
        })
    }

    fn create(&self, request: Request) -> Result<Reply, Failure> {
        refuse_foreign(&request)?;
        let draft = draft::read(&request.into_body().map_err(Failure::Body)?)?;
        let robot = &self.catalogue.add(draft).map_err(logged)?;
        let fields = Field::OF_A_CREATION;
        let created = json(&Envelope::ok(View { robot, fields }));
        Ok(whole(self.behaviour.created(), created))
    }

    fn replace(&self, id: Option<RobotId>, request: Request) -> Result<Reply, Failure> {
        refuse_foreign(&request)?;
        let draft = draft::read(&request.into_body().map_err(Failure::Body)?)?;
        let id = id.ok_or(Failure::NoSuchRobot(None))?;
        self.catalogue.replace(id, draft).map_err(logged)?;
        Ok(whole(200, json(&Envelope::OK)))
    }

    fn delete(&self, id: Option<RobotId>, request: Request) -> Result<Reply, Failure> {
        refuse_foreign(&request)?;
        // It counts for nothing, but a request that breaks off must not delete anything.
        request.into_body().map_err(Failure::Body)?;
        let id = id.ok_or(Failure::NoSuchRobot(None))?;
        self.catalogue.delete(id).map_err(logged)?;
        Ok(whole(200, json(&Envelope::OK)))
    }

    /// The list at a path, or its part that a query asks for.
    fn list(&self, path: &str, containing: &str, query: &str) -> Result<Reply, Failure> {
        let query = Query::of_list(query)?;
        let after = query.after.clone().unwrap_or_default();
        let fields = query.fields.as_deref().unwrap_or(Field::OF_A_VIEW);
        let Some(limit) = query.limit else {
            let pages = Pages::new(Arc::clone(&self.catalogue), containing).after(after);
            return stream(pages, fields.to_vec());
        };
        let page = PageRequest {
            containing,
            after: &after,
            // One more than is shown tells whether there is a next page.
            limit: limit.get() + 1,
        };
        let mut robots = self.catalogue.page(page).map_err(logged)?;
        let has_next = robots.len() > limit.get();
        robots.truncate(limit.get());
        let mut reply = whole(200, array(&robots, fields));
        if let (true, Some(last)) = (has_next, robots.last()) {
            let (base, query) = (&self.base, query.next(last.name()));
            let next = format!("<{base}{path}?{query}>; rel=\"next\"");
            reply.headers.push(("link", next.into()));
        }
        Ok(reply)
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Api")
            .field("behaviour", &self.behaviour)
            .field("hosts", &self.hosts)
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

fn refuse_foreign(request: &Request) -> Result<(), Failure> {
    if origin::is_foreign(&request.headers) {
        return Err(Failure::ForeignOrigin);
    }
    Ok(())
}

fn whole(status: u16, bytes: Vec<u8>) -> Reply {
    Reply {
        status,
        headers: Vec::new(),
        body: Body::Whole(bytes),
    }
}

/// The array of all robots of the pages. The first page is read at once, so that a store
/// which fails is told by the status; a list that ends with it needs no streaming.
fn stream(mut pages: Pages<Arc<dyn Catalogue>>, fields: Vec<Field>) -> Result<Reply, Failure> {
    let first = pages
        .next()
        .transpose()
        .map_err(logged)?
        .unwrap_or_default();
    if pages.is_finished() {
        return Ok(whole(200, array(&first, &fields)));
    }
    let opening = elements(&first, &fields, b'[');
    let mut is_open = true;
    let rest = iter::from_fn(move || {
        is_open.then(|| match pages.next() {
            Some(Ok(robots)) => Ok(elements(&robots, &fields, b',')),
            Some(Err(error)) => {
                is_open = false;
                log::error!("a list broke off: {error:?}");
                Err(error)
            }
            None => {
                is_open = false;
                Ok(b"]".to_vec())
            }
        })
    });
    Ok(Reply {
        status: 200,
        headers: Vec::new(),
        body: Body::Streamed(Chunks::new(iter::once(Ok(opening)).chain(rest))),
    })
}

/// The headers of every reply.
fn with_common_headers(mut reply: Reply, accept: Option<&str>) -> Reply {
    reply.headers.extend([
        ("content-type", Cow::Borrowed(content_type(accept))),
        ("vary", "Accept".into()),
        ("x-content-type-options", "nosniff".into()),
        (
            "content-security-policy",
            "default-src 'none'; frame-ancestors 'none'; sandbox".into(),
        ),
    ]);
    reply
}
