//! The span of a request.

use std::{
    iter,
    time::{Duration, SystemTime},
};

use hyper::HeaderMap;
use opentelemetry::{
    Context, KeyValue,
    propagation::TextMapPropagator,
    trace::{Span, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer},
};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::{propagation::TraceContextPropagator, trace::SdkTracer};

use super::TRACER;
use crate::metrics::{Labels, RequestInfo};

/// The maximum length of the state of a trace, as W3C Trace Context recommends it. A trace with a longer state is not
/// continued, so that a client cannot fill the queue.
const STATE_LIMIT: usize = 512;

/// The trace that a request belongs to.
pub(crate) struct RequestTrace {
    tracer: &'static SdkTracer,
    /// The span of the client.
    parent: Option<SpanContext>,
}

impl RequestTrace {
    /// The trace of a request with this head; `None` if nothing is exported.
    pub(crate) fn start(headers: &HeaderMap) -> Option<Self> {
        let tracer = TRACER.get()?;
        let headers = HeaderExtractor(headers);
        let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &headers);
        let parent = context.span().span_context().clone();
        let is_continued = parent.is_valid() && parent.trace_state().header().len() <= STATE_LIMIT;
        Some(Self {
            tracer,
            parent: is_continued.then_some(parent),
        })
    }

    /// Exports the span of the request, which has just ended.
    pub(crate) fn end(&self, request: &RequestInfo, duration: Duration) {
        let method = Some(request.method).filter(|method| *method != RequestInfo::OTHER_METHOD);
        let route = Some(&*request.labels.route).filter(|route| *route != Labels::NO_ROUTE);
        // The status if the request failed, or that its response was not sent completely.
        let error = match request.status {
            Some(status @ 500..) => Some(status.to_string()),
            _ => (!request.is_sent).then(|| "aborted".to_owned()),
        };
        let text = |name: &'static str, value: &str| KeyValue::new(name, value.to_owned());
        let status = request.status.map(i64::from);
        let token = request.labels.token.as_ref();
        let client = request.real_ip.unwrap_or(request.client);
        let attributes = [
            Some(text("http.request.method", method.unwrap_or("_OTHER"))),
            Some(text("client.address", &client.to_string())),
            Some(text("robots.request_id", request.request_id.as_str())),
            route.map(|it| text("http.route", it)),
            status.map(|it| KeyValue::new("http.response.status_code", it)),
            token.map(|it| text("robots.token", it.as_str())),
            error.as_deref().map(|it| text("error.type", it)),
        ];
        // As OpenTelemetry recommends: the method and the template of the path.
        let name: Vec<_> = iter::once(method.unwrap_or("HTTP")).chain(route).collect();
        let end = SystemTime::now();
        let span = SpanBuilder::from_name(name.join(" "))
            .with_kind(SpanKind::Server)
            .with_start_time(end.checked_sub(duration).unwrap_or(end))
            .with_attributes(attributes.into_iter().flatten());
        // Samplers would take an invalid span for one that the client does not sample.
        let parent = self.parent.clone().map_or_else(Context::new, |parent| {
            Context::new().with_remote_span_context(parent)
        });
        let mut span = self.tracer.build_with_context(span, &parent);
        if error.is_some() {
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(end);
    }
}
