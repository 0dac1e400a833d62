//! Traces: a span for each request, for a collector of OpenTelemetry.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use opentelemetry_proto::tonic::trace::v1::{span::SpanKind, status::StatusCode};
use robot_core::http::{AccessToken, Permission};

use crate::{
    Server, call,
    certificates::write_certificate,
    collector::{Collector, answer, texts},
    draft,
    process::{TIMEOUT, assert_status, command, wait_for},
};

const MEMORY: (&str, &str) = ("DATABASE_URL", "memory:");
const INFO: (&str, &str) = ("RUST_LOG", "robot_rocket=info");

/// Milliseconds between two batches.
const SOON: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "50");

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn endpoint(url: &str) -> (&str, &str) {
    ("OTEL_EXPORTER_OTLP_ENDPOINT", url)
}

/// Sends a request with these headers, each ending with a line end.
fn send(server: &Server, request: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    let sent = format!(
        "{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\
         {headers}\r\n{body}"
    );
    server.exchange(sent.as_bytes())
}

#[test]
fn span_has_the_attributes_of_its_request() {
    let token = AccessToken::of("robots_writer", Permission::Write);
    let token = token.named("ci".parse().unwrap()).to_string();
    let collector = Collector::start();
    let url = collector.url();
    let settings = [
        MEMORY,
        INFO,
        endpoint(&url),
        ("ROCKET_API_TOKENS", &token),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
    ];
    let server = Server::sqlite(&settings);
    let headers = format!(
        "Authorization: Bearer robots_writer\r\nX-Request-Id: of-the-client\r\n\
         X-Real-IP: 192.0.2.7\r\ntraceparent: 00-{TRACE}-{PARENT}-01\r\n"
    );
    let answer = send(
        &server,
        "POST /api/robots?x=query",
        &headers,
        &draft("R2-D2"),
    );
    assert_status(&answer, 201);
    send(&server, "GET /api/robots/search/R2", &headers, "");
    send(&server, "BREW /R2", "", "");
    // The end sends them.
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{log}");
    let spans = collector.spans(3);
    let [post, search, unknown] = &spans[..] else {
        panic!("{spans:?}");
    };
    let expected = [
        ("client.address", "192.0.2.7"),
        ("http.request.method", "POST"),
        ("http.response.status_code", "201"),
        ("http.route", "/api/robots"),
        ("robots.request_id", "of-the-client"),
        ("robots.token", "ci"),
    ];
    assert_eq!(
        texts(&post.attributes),
        expected.map(|(name, text)| (name, text.to_owned()))
    );
    assert_eq!(post.name, "POST /api/robots");
    assert_eq!(post.kind, SpanKind::Server as i32);
    assert_eq!(hex(&post.trace_id), TRACE);
    assert_eq!(hex(&post.parent_span_id), PARENT);
    assert!(post.start_time_unix_nano < post.end_time_unix_nano);
    assert_eq!(search.name, "GET /api/robots/search/{name}");
    assert_eq!(unknown.name, "HTTP");
    assert!(unknown.parent_span_id.is_empty());
    assert_ne!(hex(&unknown.trace_id), TRACE);
    assert!(texts(&unknown.attributes).contains(&("http.request.method", "_OTHER".to_owned())));

    let requests = collector.requests();
    assert!(requests[0].head.starts_with("POST /v1/traces HTTP/1.1\r\n"));
    assert!(requests[0].head.contains("api-key: hunter2\r\n"));
    let resource = requests[0].resource();
    let resource = texts(&resource.attributes);
    for (name, text) in [
        ("service.name", "robot-rocket"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("deployment.environment", "test"),
    ] {
        assert!(resource.contains(&(name, text.to_owned())), "{resource:?}");
    }
    for request in &requests {
        let body = String::from_utf8_lossy(&request.body);
        for secret in ["robots_writer", "R2", "query", "hunter2"] {
            assert!(!body.contains(secret), "{secret}");
        }
    }
    assert!(
        log.contains(&format!("traces are sent to {url}\n")),
        "{log}"
    );
    assert!(!log.contains("hunter2"), "{log}");
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

#[test]
fn failed_and_aborted_requests_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let collector = Collector::start();
    let url = collector.url();
    // Nothing listens on this port.
    let database = ("DATABASE_URL", "postgres://127.0.0.1:1/robots");
    let server = Server::start(folder.path(), &[database, SOON, endpoint(&url)]);
    server.get("/api/robots/1");
    server.get("/R2-D2");
    let server = Server::start(folder.path(), &[MEMORY, SOON, endpoint(&url)]);
    server.add_long_list();
    drop(server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    for (name, error) in [
        ("GET /api/robots/{id}", Some("503")),
        ("GET", None),
        ("GET /api/robots", Some("aborted")),
    ] {
        let find = || {
            let spans = collector.spans(0).into_iter();
            spans.into_iter().find(|span| span.name == name)
        };
        wait_for(name, TIMEOUT, || find().is_some());
        let span = find().unwrap();
        let attributes = texts(&span.attributes);
        let mut errors = attributes.iter().filter(|(name, _)| *name == "error.type");
        assert_eq!(errors.next().map(|(_, text)| text.as_str()), error);
        let is_error = span
            .status
            .is_some_and(|it| it.code == StatusCode::Error as i32);
        assert_eq!(is_error, error.is_some(), "{name}");
    }
}

#[test]
fn requests_that_the_client_does_not_sample_are_not_exported() {
    let collector = Collector::start();
    let url = collector.url();
    let server = Server::with(&[endpoint(&url)]);
    for (target, flags) in [("/livez", "00"), ("/readyz", "01")] {
        let headers = format!("traceparent: 00-{TRACE}-{PARENT}-{flags}\r\n");
        send(&server, &format!("GET {target}"), &headers, "");
    }
    server.stop("TERM");
    let spans = collector.spans(1);
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].name, "GET /readyz");
}

#[test]
fn long_trace_state_is_ignored() {
    let collector = Collector::start();
    let url = collector.url();
    let server = Server::with(&[endpoint(&url)]);
    for length in [100, 100_000] {
        let state = "x".repeat(length);
        let headers =
            format!("traceparent: 00-{TRACE}-{PARENT}-01\r\ntracestate: vendor={state}\r\n");
        let answer = send(&server, "GET /livez", &headers, "");
        assert_status(&answer, 200);
    }
    server.stop("TERM");
    let lengths: Vec<_> = collector
        .spans(2)
        .iter()
        .map(|span| span.trace_state.len())
        .collect();
    assert_eq!(lengths, ["vendor=".len() + 100, 0]);
}

#[test]
fn hanging_collector_delays_neither_requests_nor_shutdown() {
    // The system accepts connections, and nothing answers.
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", collector.local_addr().unwrap());
    let forever = ("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000");
    let small = ("OTEL_BSP_MAX_QUEUE_SIZE", "10");
    let settings = [MEMORY, SOON, forever, small, endpoint(&url)];
    let server = Server::sqlite(&settings);
    let client = server.client();
    let request = || assert_eq!(call(&client, "GET", "/livez", "").status, 200);
    request();
    collector.set_nonblocking(true).unwrap();
    let mut hanging = None;
    wait_for("a connection", TIMEOUT, || {
        hanging = collector.accept().ok();
        hanging.is_some()
    });
    // More than the queue takes.
    (0..100).for_each(|_| request());
    // Fails if it takes too long.
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{log}");
    assert!(log.contains("the last traces were not sent"), "{log}");
}

#[test]
fn absent_collector_delays_neither_requests_nor_shutdown() {
    // Nothing listens on this port.
    let url = "http://127.0.0.1:1";
    let server = Server::with(&[SOON, endpoint(url)]);
    assert_eq!(server.get("/livez").status, 200);
    let words = "traces are lost: http://127.0.0.1:1 cannot be reached: Connection refused";
    wait_for(words, TIMEOUT, || server.log().contains(words));
    assert_eq!(server.get("/livez").status, 200);
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{log}");
}

#[test]
fn outage_of_the_collector_is_logged_once_and_its_end() {
    let failures = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&failures);
    let is_up = Arc::new(AtomicBool::new(false));
    let up = Arc::clone(&is_up);
    let collector = Collector::start_with(move |stream| {
        if up.load(Ordering::SeqCst) {
            return answer(stream);
        }
        counter.fetch_add(1, Ordering::SeqCst);
        None
    });
    let url = collector.url();
    let server = Server::with(&[SOON, INFO, endpoint(&url)]);
    wait_for("failures", TIMEOUT, || {
        server.get("/livez");
        failures.load(Ordering::SeqCst) >= 5
    });
    is_up.store(true, Ordering::SeqCst);
    let words = format!("traces are sent to {url} again");
    wait_for(&words, TIMEOUT, || {
        server.get("/livez");
        server.log().contains(&words)
    });
    let log = server.log();
    assert_eq!(log.matches("traces are lost").count(), 1, "{log}");
}

#[test]
fn collector_is_reached_by_https_if_its_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    write_certificate(&path("chain.pem"), &path("key.pem"));
    let tls = tls(&path("chain.pem"), &path("key.pem"));
    let collector = Collector::start_with(move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&tls)).unwrap();
        answer(rustls::StreamOwned::new(connection, stream))
    });
    let url = format!("https://localhost:{}", collector.address.port());
    write_certificate(&path("other.pem"), &path("other-key.pem"));
    for (file, is_trusted) in [("other.pem", false), ("chain.pem", true)] {
        let certificate = ("OTEL_EXPORTER_OTLP_CERTIFICATE", file);
        let settings = [MEMORY, SOON, INFO, certificate, endpoint(&url)];
        let server = Server::start(folder.path(), &settings);
        server.get("/livez");
        if is_trusted {
            assert_eq!(collector.spans(1).len(), 1);
        } else {
            let words = "cannot be reached: invalid peer certificate";
            wait_for(words, TIMEOUT, || server.log().contains(words));
        }
    }
}

fn tls(certificate: &str, key: &str) -> Arc<rustls::ServerConfig> {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let config = builder
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key);
    Arc::new(config.unwrap())
}

#[test]
fn wrong_variables_are_reported_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let local = endpoint("http://127.0.0.1:4318");
    let https = endpoint("https://127.0.0.1:4318");
    for (variables, words) in [
        (
            vec![endpoint("http://user:hunter2@127.0.0.1:4318")],
            "OTEL_EXPORTER_OTLP_ENDPOINT must be a URL without a user name",
        ),
        (
            vec![("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "hunter2")],
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL",
        ),
        (
            vec![local, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            "only http/protobuf, not the protocol of OTEL_EXPORTER_OTLP_PROTOCOL",
        ),
        (
            vec![https, ("OTEL_EXPORTER_OTLP_CERTIFICATE", "absent.pem")],
            "the certificate file 'absent.pem' (OTEL_EXPORTER_OTLP_CERTIFICATE) cannot be read",
        ),
    ] {
        let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2");
        let settings = [&[MEMORY, headers][..], &variables].concat();
        let output = command(folder.path(), &settings).arg("--check").output();
        let output = output.unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{log}");
        assert!(log.contains(words), "{log}");
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(!(log + &table).contains("hunter2"), "{table}");
        let (status, log) = Server::start(folder.path(), &settings).stop("TERM");
        assert!(status.success() && log.contains(words), "{log}");
        assert!(!log.contains("hunter2"), "{log}");
    }
}

#[test]
fn nothing_is_exported_unless_it_is_requested() {
    let collector = Collector::start();
    let url = collector.url();
    for variables in [
        vec![],
        vec![endpoint("")],
        vec![endpoint(&url), ("OTEL_SDK_DISABLED", "true")],
        vec![endpoint(&url), ("OTEL_TRACES_EXPORTER", "none")],
    ] {
        let settings = [&[MEMORY, INFO][..], &variables].concat();
        let server = Server::sqlite(&settings);
        server.get("/livez");
        let (_, log) = server.stop("TERM");
        assert!(!log.contains("traces are sent"), "{variables:?}: {log}");
    }
    assert!(collector.requests().is_empty());
}
