//! From a request to a reply.

use std::{
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use super::{
    access::{Access, Permission},
    asker::Asker,
    behaviour::Behaviour,
    draft, export,
    failure::{Failure, logged},
    host::Hosts,
    import::{self, Pieces},
    list,
    origin::{self, Origin},
    query::Query,
    render::{Envelope, array, json},
    reply::{Body, Reply},
    request::{BodyError, Request},
    route::{Resource, list_path},
};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, PageItem, PageRequest, Pages, Pending,
        Result as StoreResult,
    },
    model::{Entry, Field, NAME_LENGTH_LIMIT, Robot, RobotId, View, Visible},
};

/// The contract over one catalogue. A clone answers for the same catalogue.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Access, Api, Behaviour, Hosts, Request}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()))
///     .behaviour(Behaviour::B)
///     .hosts(Hosts::Any)
///     .access(Access::default())
///     .origins(vec!["https://app.example".parse()?])
///     .under("/catalogue");
/// assert_eq!(api.handle(Request::new("GET", "/catalogue/api/robots")).status, 200);
/// # Ok::<(), robot_core::http::ParseOriginError>(())
/// ```
#[derive(Clone)]
pub struct Api {
    catalogue: Arc<dyn Catalogue>,
    settings: Arc<Settings>,
}

#[derive(Debug, Clone, Default)]
struct Settings {
    behaviour: Behaviour,
    hosts: Hosts,
    access: Access,
    origins: Vec<Origin>,
    base: String,
}

/// A reply, or why there is none.
pub(super) type Answer = Result<Reply, Failure>;

impl Api {
    /// Behaviour A, at `/api/robots`, answering to any name, and to everybody who is no page of
    /// another origin.
    #[must_use]
    pub fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self {
            catalogue,
            settings: Arc::default(),
        }
    }

    /// With this behaviour.
    #[must_use]
    pub fn behaviour(mut self, behaviour: Behaviour) -> Self {
        Arc::make_mut(&mut self.settings).behaviour = behaviour;
        self
    }

    /// Answering to these names alone.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        Arc::make_mut(&mut self.settings).hosts = hosts;
        self
    }

    /// Doing for each what they may have done.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        Arc::make_mut(&mut self.settings).access = access;
        self
    }

    /// Open to pages of these origins, too (CORS): they may send changes, and read the replies.
    #[must_use]
    pub fn origins(mut self, origins: Vec<Origin>) -> Self {
        Arc::make_mut(&mut self.settings).origins = origins;
        self
    }

    /// Under a base path: at `/base/api/robots`. A slash at its end counts for nothing.
    #[must_use]
    pub fn under(mut self, base: &str) -> Self {
        base.trim_end_matches('/')
            .clone_into(&mut Arc::make_mut(&mut self.settings).base);
        self
    }

    /// Answers a request. It may block on the store, for seconds at worst, and never panics.
    #[must_use]
    pub fn handle(&self, request: Request) -> Reply {
        self.start(request).wait()
    }

    /// Begins to answer a request, without blocking: what is quickly done is done, what another
    /// thread is at can be awaited, and for the rest the frontend has a thread that may block.
    /// Nothing of it panics.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Request}};
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// let pending = api.start(Request::new("GET", "/api/robots/1"));
    /// assert_eq!(pending.wait().status, 200);
    /// ```
    pub fn start(&self, request: Request) -> Pending<Reply> {
        self.start_with(request, None)
    }

    /// Whether the body of a request may be so long that a frontend hands it over piece by piece, by
    /// [`start_streamed`](Self::start_streamed).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Request}};
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// assert!(api.streams_body(&Request::new("POST", "/api/robots/import")));
    /// assert!(!api.streams_body(&Request::new("POST", "/api/robots")));
    /// ```
    #[must_use]
    pub fn streams_body(&self, request: &Request) -> bool {
        request.method == "POST" && self.resource(request) == Some(Resource::Import)
    }

    /// Begins to answer a request whose body still arrives: [`start`](Self::start) for those that
    /// [stream](Self::streams_body). The thread that may block asks for one piece after the other.
    ///
    /// An empty piece, which no other may be, tells that the body is whole. An error, or that there
    /// are no more pieces without it, tells that it broke off. A frontend waits for a piece no
    /// longer than [`BODY_DEADLINE`](super::BODY_DEADLINE), and keeps a few at most.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::{MemoryCatalogue, http::{Api, Request}};
    ///
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// let request = Request::new("POST", "/api/robots/import?format=csv");
    /// assert!(api.streams_body(&request));
    /// let pieces = ["name,type,year\nR2-", "D2,droid,1977\n", ""].map(|piece| Ok(piece.into()));
    /// assert_eq!(api.start_streamed(request, pieces.into_iter()).wait().status, 200);
    /// ```
    pub fn start_streamed(
        &self,
        request: Request,
        pieces: impl Iterator<Item = Result<Vec<u8>, BodyError>> + Send + 'static,
    ) -> Pending<Reply> {
        self.start_with(request, Some(Box::new(pieces)))
    }

    fn start_with(&self, request: Request, pieces: Option<Pieces>) -> Pending<Reply> {
        let asker = self.asker(&request);
        let api = self.clone();
        let finish = move |answer: Answer| api.finish(answer, &asker);
        match guarded(|| Ok(self.answer(request, pieces))) {
            Ok(pending) => pending
                .wrap_work(|work| Box::new(move || guarded(work)))
                .map(finish),
            Err(failure) => Pending::ready(finish(Err(failure))),
        }
    }

    /// Whether a request was sent to a name that this service answers to: for a frontend that
    /// answers some requests by itself.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Hosts, Request}};
    /// let api = Api::new(Arc::new(MemoryCatalogue::new())).hosts(Hosts::Only(Vec::new()));
    /// let mut request = Request::new("GET", "/logo.svg");
    /// request.header("Host", b"evil.example");
    /// assert!(!api.is_addressed_by(&request));
    /// ```
    #[must_use]
    pub fn is_addressed_by(&self, request: &Request) -> bool {
        self.settings.hosts.include(request.headers.host.as_deref())
    }

    /// The reply to a request for a failure that a frontend met by itself.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, Failure, Request}};
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// let reply = api.refuse(Failure::Internal, &Request::new("GET", "/api/robots"));
    /// assert_eq!(reply.status, 500);
    /// ```
    #[must_use]
    pub fn refuse(&self, failure: Failure, request: &Request) -> Reply {
        self.finish(Err(failure), &self.asker(request))
    }

    fn asker(&self, request: &Request) -> Asker {
        Asker::of(&request.headers, &self.settings.origins)
    }

    fn finish(&self, answer: Answer, asker: &Asker) -> Reply {
        let mut reply = answer.unwrap_or_else(|failure| Reply {
            status: failure.status(self.settings.behaviour),
            headers: failure.header().into_iter().collect(),
            body: Body::Whole(json(&Envelope::error(failure.messages()))),
        });
        // A reply that is a file has a type of its own.
        for (name, value) in asker.headers() {
            if reply.header(name).is_none() {
                reply.headers.push((name, value));
            }
        }
        reply
    }

    fn answer(&self, request: Request, pieces: Option<Pieces>) -> Pending<Answer> {
        self.begin(request, pieces)
            .unwrap_or_else(|failure| Pending::ready(Err(failure)))
    }

    /// What a request is for, if there is something at its path.
    fn resource(&self, request: &Request) -> Option<Resource> {
        let path = request.path().strip_prefix(self.settings.base.as_str());
        path.and_then(Resource::of_path)
    }

    fn begin(&self, request: Request, pieces: Option<Pieces>) -> Result<Pending<Answer>, Failure> {
        if !self.is_addressed_by(&request) {
            return Err(Failure::ForeignHost);
        }
        let resource = self
            .resource(&request)
            .ok_or_else(|| Failure::NoSuchPath(self.settings.base.clone()))?;
        self.admit(&request, &resource)?;
        match (request.method.as_str(), resource) {
            ("OPTIONS", resource) => {
                let page = origin::find(&request.headers, &self.settings.origins);
                Ok(Pending::ready(Ok(options(&resource, page))))
            }
            ("GET" | "HEAD", Resource::Robots) => self.list("", request.query()),
            ("GET" | "HEAD", Resource::Search(name)) => {
                let name = name.ok_or(Failure::Malformed(vec![
                    "The name to search for is not UTF-8".into(),
                ]))?;
                self.list(&name, request.query())
            }
            ("GET" | "HEAD", Resource::Robot(id)) => self.get(id, request.query()),
            ("GET" | "HEAD", Resource::Export) => {
                export::begin(Arc::clone(&self.catalogue), request.query())
            }
            ("POST", Resource::Import) => {
                import::begin(Arc::clone(&self.catalogue), request, pieces)
            }
            ("POST", Resource::Robots) => self.create(request),
            ("PUT", Resource::Robot(id)) => self.replace(id, request),
            ("DELETE", Resource::Robot(id)) => self.delete(id, request),
            (_, resource) => Err(Failure::MethodNotAllowed(resource.allow())),
        }
    }

    /// Lets a request in, if whoever sent it may have it done.
    fn admit(&self, request: &Request, resource: &Resource) -> Result<(), Failure> {
        let Settings {
            access, origins, ..
        } = &*self.settings;
        let needed = match request.method.as_str() {
            // It tells what is in the documentation, and browsers send no token with it.
            "OPTIONS" => return Ok(()),
            "GET" | "HEAD" => Permission::Read,
            // Before it is told what the path takes, so that a form is refused for where it is
            // from, whichever method it claims to be.
            _ if origin::is_foreign(&request.headers, origins) => {
                return Err(Failure::ForeignOrigin);
            }
            method if resource.allows(method) => Permission::Write,
            _ => return Err(Failure::MethodNotAllowed(resource.allow())),
        };
        let credentials = request.headers.authorization.as_deref();
        access
            .check(credentials, needed)
            .map_err(Failure::NotPermitted)
    }

    fn get(&self, id: Option<RobotId>, query: &str) -> Result<Pending<Answer>, Failure> {
        let query = Query::of_robot(query)?;
        let Some(id) = id else {
            return Ok(Pending::ready(Ok(whole(200, json(&Envelope::NOT_FOUND)))));
        };
        let robot = self.catalogue.start_get(id);
        Ok(robot.map(move |robot| {
            let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
            let bytes = match &robot.map_err(logged)? {
                Some(robot) => json(&Envelope::found(View { robot, fields })),
                None => json(&Envelope::NOT_FOUND),
            };
            Ok(whole(200, bytes))
        }))
    }

    fn create(&self, request: Request) -> Result<Pending<Answer>, Failure> {
        let draft = draft::read(&request.into_body().map_err(Failure::Body)?)?;
        let status = self.settings.behaviour.created();
        let robot = self.catalogue.start_add(draft);
        Ok(robot.map(move |robot| {
            let robot = &robot.map_err(logged)?;
            let fields = Field::CREATED_VIEW;
            Ok(whole(status, json(&Envelope::ok(View { robot, fields }))))
        }))
    }

    fn replace(&self, id: Option<RobotId>, request: Request) -> Result<Pending<Answer>, Failure> {
        let draft = draft::read(&request.into_body().map_err(Failure::Body)?)?;
        let id = id.ok_or(Failure::NoSuchRobot(None))?;
        let replaced = self.catalogue.start_replace(id, draft);
        Ok(replaced.map(confirm))
    }

    fn delete(&self, id: Option<RobotId>, request: Request) -> Result<Pending<Answer>, Failure> {
        // It counts for nothing, but a request that breaks off must not delete anything.
        request.into_body().map_err(Failure::Body)?;
        let id = id.ok_or(Failure::NoSuchRobot(None))?;
        let deleted = self.catalogue.start(Change::Delete(id));
        Ok(deleted.map(|deleted| confirm(deleted.map(drop))))
    }

    /// The robots whose name contains this text, or the part of them that a query asks for.
    fn list(&self, containing: &str, query: &str) -> Result<Pending<Answer>, Failure> {
        let query = Query::of_list(query)?;
        // No store need read all names for what is longer than any of them.
        if containing.chars().count() > NAME_LENGTH_LIMIT {
            return Ok(Pending::ready(Ok(whole(200, b"[]".to_vec()))));
        }
        let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
        Ok(if fields.iter().all(|field| field.is_in_entry()) {
            self.list_of::<Entry>(containing.to_owned(), query)
        } else {
            self.list_of::<Robot>(containing.to_owned(), query)
        })
    }

    fn list_of<T: Visible + PageItem + 'static>(
        &self,
        containing: String,
        query: Query,
    ) -> Pending<Answer> {
        let api = self.clone();
        Pending::blocking(move || match query.limit {
            Some(limit) => api.page::<T>(&containing, limit.get(), &query),
            None => api.all::<T>(containing, query),
        })
    }

    fn all<T: Visible + PageItem + 'static>(self, containing: String, query: Query) -> Answer {
        let after = query.after.unwrap_or_default();
        let fields = query.fields.unwrap_or_else(|| Field::DEFAULT_VIEW.to_vec());
        let pages = Pages::<_, T>::of(self.catalogue, containing, after);
        list::stream(pages, fields)
    }

    fn page<T: Visible + PageItem>(&self, containing: &str, limit: usize, query: &Query) -> Answer {
        let page = PageRequest {
            containing,
            after: query.after.as_deref().unwrap_or_default(),
            // One more than is shown tells whether there is a next page.
            limit: limit + 1,
        };
        let mut robots = T::page(&self.catalogue, page).map_err(logged)?;
        let has_next = robots.len() > limit;
        robots.truncate(limit);
        let fields = query.fields.as_deref().unwrap_or(Field::DEFAULT_VIEW);
        let mut reply = whole(200, array(&robots, fields));
        if let (true, Some(last)) = (has_next, robots.last()) {
            let base = &self.settings.base;
            let path = list_path(containing);
            let query = query.next(PageItem::name(last));
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
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What work comes to. Should there be a bug, it costs the request that met it and nothing else:
/// stores are whole whenever they are called, as each of their methods takes place at once.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::Internal))
}

/// What may be done with a resource, and what a page of another origin may that is allowed to:
/// its browser asks so beforehand, and remembers the answer for so many seconds.
fn options(resource: &Resource, page: Option<&str>) -> Reply {
    let mut headers = vec![("allow", resource.allow().into())];
    if page.is_some() {
        headers.extend([
            ("access-control-allow-methods", resource.allow().into()),
            (
                "access-control-allow-headers",
                "Authorization, Content-Type".into(),
            ),
            ("access-control-max-age", "600".into()),
        ]);
    }
    Reply {
        status: 204,
        headers,
        body: Body::Whole(Vec::new()),
    }
}

/// The answer to a change that has nothing to tell but that it was made.
fn confirm(changed: StoreResult<()>) -> Answer {
    changed.map_err(logged)?;
    Ok(whole(200, json(&Envelope::OK)))
}

pub(super) fn whole(status: u16, bytes: Vec<u8>) -> Reply {
    Reply {
        status,
        headers: Vec::new(),
        body: Body::Whole(bytes),
    }
}
