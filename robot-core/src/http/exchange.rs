//! One request and its response, from the matched route to the finished response.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
    time::Duration,
};

use ::http::{
    HeaderValue, Method, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE, ALLOW,
        AUTHORIZATION, EXPECT, HOST,
    },
    request::Parts,
};

use super::{
    access::Client,
    behaviour::Behaviour,
    body_timer::BodyTimer,
    context::ResponseContext,
    failure::{ACCEPT_PATCH, Failure, PATCH_TYPE},
    headers, origin, parameters,
    request_body::{self, BODY_LIMIT, Piece},
    request_id::RequestId,
    response::{self, Response, Started},
    route::{Call, Handler, Operation, Route},
    routes,
    settings::{ApiSettings, Service},
    token::{Permission, TokenName},
};
use crate::catalogue::Pending;

/// A request that was received, and is to be answered once.
///
/// A frontend reads the body as [`body_mode`](Self::body_mode) says, passes it to [`answer`](Self::answer), and sends
/// the response.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, BodyMode}};
///
/// let api = Api::new(Arc::new(MemoryCatalogue::new()));
/// let (head, ()) = http::Request::post("/api/robots").body(())?.into_parts();
/// let exchange = api.receive(head);
/// assert_eq!(exchange.body_mode(), BodyMode::Whole);
/// let body = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
/// let pieces = [Ok(body.into()), Ok(Vec::new())];
/// assert_eq!(exchange.answer(pieces).wait().status(), 201);
/// # http::Result::Ok(())
/// ```
pub struct Exchange {
    service: Arc<Service>,
    head: Parts,
    context: ResponseContext,
    /// `None` if the path is unknown.
    route: Option<&'static Route>,
    /// The variable segment of the path.
    parameter: Vec<u8>,
    client: Client,
    /// The operation that answers the request, or why it is rejected whatever its body is.
    admitted: Result<(&'static Route, &'static Operation), Failure>,
}

/// How a frontend reads the body of a request; see [`Exchange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyMode {
    /// Not at all.
    None,
    /// Up to [`BODY_LIMIT`](super::BODY_LIMIT) bytes within [`Exchange::body_deadline`], before
    /// [`Exchange::answer`].
    Whole,
    /// In pieces, each within the timeout of [`Exchange::body_timer`], while the request is answered.
    Streamed,
}

impl Exchange {
    pub(super) fn new(service: Arc<Service>, head: Parts) -> Self {
        let settings = &service.settings;
        let path = head.uri.path().strip_prefix(settings.base.as_str());
        let (route, parameter) = path.and_then(routes::find).unzip();
        let path = route.map_or(path.unwrap_or_default(), |route| route.path);
        let behaviour = settings.behaviour_of(path);
        let credentials = headers::value(&head.headers, AUTHORIZATION);
        let client = settings.access.client(credentials.as_deref());
        Self {
            context: ResponseContext::new(&head.headers, behaviour, &settings.origins),
            route,
            parameter: parameter.unwrap_or_default(),
            admitted: guarded(|| admit(settings, &head, route, behaviour, &client)),
            client,
            service,
            head,
        }
    }

    /// The template of the path, such as `/api/robots/{id}`, for metrics; `None` for an unknown
    /// path.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use robot_core::{MemoryCatalogue, http::{Api, ApiSettings}};
    /// let settings = ApiSettings { base: "/catalogue".to_owned(), ..ApiSettings::default() };
    /// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
    /// let (head, ()) = http::Request::get("/catalogue/api/robots/7").body(())?.into_parts();
    /// assert_eq!(api.receive(head).route(), Some("/api/robots/{id}"));
    /// # http::Result::Ok(())
    /// ```
    #[must_use]
    pub fn route(&self) -> Option<&'static str> {
        self.route.map(|route| route.path)
    }

    /// The name of the token that the client sent, for logs and metrics; `None` if the token is
    /// unknown or has no name.
    #[must_use]
    pub fn token_name(&self) -> Option<&TokenName> {
        match &self.client {
            Client::Known(_, name) => name.as_ref(),
            _ => None,
        }
    }

    /// The [fingerprint](super::AccessToken::fingerprint) of a token that is not known, for logs: it was
    /// revoked, or never existed.
    #[must_use]
    pub fn unknown_token(&self) -> Option<&str> {
        match &self.client {
            Client::Unknown(fingerprint) => Some(fingerprint),
            _ => None,
        }
    }

    /// The id of the request, which the response has in the header `X-Request-Id`, and which log entries
    /// about the request have.
    #[must_use]
    pub fn request_id(&self) -> &RequestId {
        &self.context.request_id
    }

    /// How the body is to be read.
    #[must_use]
    pub fn body_mode(&self) -> BodyMode {
        let method = &self.head.method;
        if self.admitted.is_err() && self.head.headers.contains_key(EXPECT) {
            // The client waits for the answer, which is known, before it sends the body.
            return BodyMode::None;
        }
        let operation = self.route.and_then(|route| route.operation(method));
        let is_read = match operation.map(|operation| operation.handler) {
            Some(Handler::Streamed(_)) => return BodyMode::Streamed,
            Some(Handler::Whole(_)) => true,
            Some(Handler::Bodyless(_)) => false,
            // The request is rejected, but its connection can serve another one after the body.
            None => matches!(
                *method,
                Method::POST | Method::PUT | Method::PATCH | Method::DELETE
            ),
        };
        let length = headers::content_length(&self.head.headers);
        if is_read && length.is_none_or(|length| length <= BODY_LIMIT) {
            BodyMode::Whole
        } else {
            BodyMode::None
        }
    }

    /// Whether the answer takes a read of the whole catalogue, so that a frontend should answer few such requests
    /// at a time.
    #[must_use]
    pub fn is_costly(&self) -> bool {
        let query = self.head.uri.query().unwrap_or_default();
        let admitted = self.admitted.as_ref();
        admitted.is_ok_and(|(_, operation)| (operation.is_costly)(query))
    }

    /// The timeout for a whole body. A frontend stops reading then and passes
    /// [`BodyError::TooSlow`](super::BodyError::TooSlow).
    #[must_use]
    pub fn body_deadline(&self) -> Duration {
        self.service.settings.body_limits.deadline
    }

    /// The time limits of a streamed body.
    #[must_use]
    pub fn body_timer(&self) -> BodyTimer {
        BodyTimer::new(self.service.settings.body_limits)
    }

    /// Starts to answer, without blocking; never panics. The pieces are those of the body, of which an empty one marks
    /// the end, or the error of a frontend that could not read it. The body is incomplete if they end without a mark.
    ///
    /// A body of [`BodyMode::Streamed`] may still arrive: the thread that may block takes one piece after the other. A
    /// frontend should buffer a few pieces at most.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use robot_core::{MemoryCatalogue, http::Api};
    ///
    /// let api = Api::new(Arc::new(MemoryCatalogue::new()));
    /// let request = http::Request::post("/api/robots/import?format=csv").body(())?;
    /// let exchange = api.receive(request.into_parts().0);
    /// let pieces = ["name,type,year\nR2-", "D2,droid,1977\n", ""].map(|piece| Ok(piece.into()));
    /// assert_eq!(exchange.answer(pieces).wait().status(), 200);
    /// # http::Result::Ok(())
    /// ```
    pub fn answer(
        &self,
        body: impl IntoIterator<Item = Piece, IntoIter: Send + 'static>,
    ) -> Pending<Response> {
        let started = guarded(|| self.start(body.into_iter()));
        let pending = started.unwrap_or_else(|failure| Pending::ready(Err(failure)));
        let (context, service) = (self.context.clone(), Arc::clone(&self.service));
        pending
            .wrap_work(|work| Box::new(move || guarded(work)))
            .map(move |result| context.response(result, || service.catalogue.definition()))
    }

    /// The response for a failure of the frontend itself, such as [`Failure::Internal`].
    #[must_use]
    pub fn reject(&self, failure: Failure) -> Response {
        let definition = || self.service.catalogue.definition();
        self.context.response(Err(failure), definition)
    }

    fn start(&self, body: impl Iterator<Item = Piece> + Send + 'static) -> Started {
        let (route, operation) = self.admitted.clone()?;
        let definition = self.service.catalogue.definition();
        let query = match operation.method {
            // A preflight has the query of the request that it is about.
            "OPTIONS" => "",
            _ => self.head.uri.query().unwrap_or_default(),
        };
        let parameters = operation.parameters;
        let call = Call {
            arguments: parameters.read(query, &definition, self.context.is_strict)?,
            definition,
            service: &self.service,
            headers: &self.head.headers,
            context: &self.context,
            client: &self.client,
            route,
            routes: routes::TABLE,
            parameter: &self.parameter,
        };
        match operation.handler {
            Handler::Bodyless(handle) => handle(&call),
            Handler::Whole(handle) => {
                let body = request_body::whole(call.headers, body);
                handle(&call, &body.map_err(Failure::Body)?)
            }
            Handler::Streamed(handle) => handle(&call, Box::new(body)),
        }
    }
}

/// The operation of a request, if it may be executed.
fn admit(
    settings: &ApiSettings,
    head: &Parts,
    route: Option<&'static Route>,
    behaviour: Behaviour,
    client: &Client,
) -> Result<(&'static Route, &'static Operation), Failure> {
    let host = headers::value(&head.headers, HOST);
    if !settings.hosts.include(host.as_deref()) {
        return Err(Failure::ForeignHost);
    }
    let route = route.ok_or_else(|| Failure::NoSuchPath(routes::paths(settings, behaviour)))?;
    let operation = route
        .operation(&head.method)
        .ok_or_else(|| Failure::MethodNotAllowed(route.allow()));
    let needed = match (head.method.as_str(), &operation) {
        // Its answer is public, and browsers send no token with it.
        ("OPTIONS", _) => return Ok((route, &OPTIONS)),
        ("GET" | "HEAD", Ok(operation)) => operation.needs,
        ("GET" | "HEAD", Err(_)) => Some(Permission::Read),
        // Takes precedence over 405: a form from another origin is rejected for its origin,
        // whichever method it pretends to have.
        _ if origin::is_foreign(&head.headers, &settings.origins) => {
            return Err(Failure::ForeignOrigin);
        }
        (_, Ok(operation)) => operation.needs,
        (_, Err(_)) => None,
    };
    if let Some(needed) = needed {
        client.check(needed).map_err(Failure::NotPermitted)?;
    }
    let operation = operation?;
    // The body of a `DELETE` has no meaning.
    let has_body = !matches!(operation.handler, Handler::Bodyless(_)) && head.method != "DELETE";
    if has_body && headers::has_encoding(&head.headers) {
        return Err(Failure::Encoded);
    }
    Ok((route, operation))
}

/// The operation that every route has.
static OPTIONS: Operation = Operation {
    method: "OPTIONS",
    handler: Handler::Bodyless(options),
    parameters: &parameters::NONE,
    needs: None,
    is_costly: |_| false,
};

/// The answer to `OPTIONS`, also to a CORS preflight request from an allowed origin, which the
/// browser caches for the maximum age in seconds.
#[expect(clippy::unnecessary_wraps, reason = "the signature of a handler")]
fn options(call: &Call<'_>) -> Started {
    let allow = call.route.allow();
    let mut response = response::whole(StatusCode::NO_CONTENT, Vec::new());
    let headers = response.headers_mut();
    if origin::find(call.headers, &call.service.settings.origins).is_some() {
        response::set(headers, ACCESS_CONTROL_ALLOW_METHODS, allow.clone());
        let allowed = "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-Id";
        headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(allowed),
        );
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
    if call.route.operation(&Method::PATCH).is_some() {
        headers.insert(ACCEPT_PATCH, HeaderValue::from_static(PATCH_TYPE));
    }
    response::set(headers, ALLOW, allow);
    Ok(Pending::ready(Ok(response)))
}

/// Turns a panic into a failure of this request alone. Stores stay consistent, because each of
/// their methods takes effect at one moment or not at all.
fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Failure::Internal))
}
