//! A collector of traces, as OpenTelemetry specifies it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    resource::v1::Resource,
    trace::v1::Span,
};
use prost::Message;

use crate::process::{message, wait_for_progress};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A collector, which accepts everything.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Request>>>,
}

/// A request to a collector.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self::start_with(answer)
    }

    /// A collector that reads a request from each connection and answers it in this way.
    pub(crate) fn start_with(
        serve: impl Fn(TcpStream) -> Option<Request> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Vec<Request>>>::default();
        let kept = Arc::clone(&received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let request = serve(stream.unwrap());
                kept.lock().unwrap().extend(request);
            }
        });
        Self { address, received }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.received.lock().unwrap().clone()
    }

    /// Waits for a number of spans, and returns all.
    pub(crate) fn spans(&self, count: usize) -> Vec<Span> {
        let spans = || -> Vec<Span> {
            let requests = self.requests();
            requests.iter().flat_map(Request::spans).collect()
        };
        wait_for_progress("spans", spans, |spans| spans.len() >= count)
    }
}

/// Reads a request, and accepts it; `None` if the connection ends before.
pub(crate) fn answer(mut stream: impl Read + Write) -> Option<Request> {
    let (head, body) = message(&mut stream).ok()?;
    stream.write_all(ANSWER).ok()?;
    Some(Request { head, body })
}

impl Request {
    fn decode(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(&*self.body).unwrap()
    }

    pub(crate) fn resource(&self) -> Resource {
        let mut traces = self.decode().resource_spans;
        assert_eq!(traces.len(), 1);
        traces.remove(0).resource.unwrap()
    }

    fn spans(&self) -> Vec<Span> {
        let scopes = self.decode().resource_spans.into_iter();
        let scopes = scopes.flat_map(|traces| traces.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }
}

/// Attributes as text, sorted by name.
pub(crate) fn texts(attributes: &[KeyValue]) -> Vec<(&str, String)> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().unwrap().value.as_ref() {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let texts = attributes.iter().map(|it| (it.key.as_str(), text(it)));
    let mut texts: Vec<_> = texts.collect();
    texts.sort();
    texts
}
