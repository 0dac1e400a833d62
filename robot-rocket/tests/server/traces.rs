//! Traces: a span for each request, for a collector of OpenTelemetry.

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use opentelemetry_proto::tonic::trace::v1::{span::SpanKind, status::StatusCode};

use crate::{
    Server,
    certificates::{certify, write_certificate},
    collector::{Collector, answer, texts},
    draft,
    process::{assert_status, cases, command, wait_for},
    token,
};

const INFO: (&str, &str) = ("RUST_LOG", "robot_rocket=info");

/// Milliseconds between two batches.
const SOON: (&str, &str) = ("OTEL_BSP_SCHEDULE_DELAY", "50");

const LOCAL: &str = "Host: localhost\r\n";

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn endpoint(url: &str) -> (&str, &str) {
    ("OTEL_EXPORTER_OTLP_ENDPOINT", url)
}

#[test]
fn span_has_the_attributes_of_its_request() {
    let token = token("writer");
    let collector = Collector::start();
    let url = collector.url();
    let server = Server::with(&[
        INFO,
        endpoint(&url),
        ("ROCKET_API_TOKENS", &token),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test"),
    ]);
    let headers = format!(
        "{LOCAL}Authorization: Bearer robots_writer\r\nX-Request-Id: of-the-client\r\n\
         X-Real-IP: 192.0.2.7\r\ntraceparent: 00-{TRACE}-{PARENT}-01\r\n"
    );
    let answer = server.ask("POST /api/robots?x=query", &headers, &draft("R2-D2"));
    assert_status(&answer, 201);
    server.ask("GET /api/robots/search/R2", &headers, "");
    server.ask("BREW /R2", LOCAL, "");
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
        ("robots.token", "writer"),
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
    for words in ["POST /v1/traces HTTP/1.1\r\n", "api-key: hunter2\r\n"] {
        assert!(requests[0].head.contains(words), "{}", requests[0].head);
    }
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
    assert!(log.contains("traces are exported"), "{log}");
    assert!(!log.contains("hunter2"), "{log}");
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

#[test]
fn failed_and_aborted_requests_are_errors() {
    let collector = Collector::start();
    let url = collector.url();
    // Nothing listens on this port.
    let database = ("DATABASE_URL", "postgres://127.0.0.1:1/robots");
    let failing = Server::with(&[database, SOON, endpoint(&url)]);
    failing.get("/api/robots/1");
    failing.get("/R2-D2");
    let server = Server::with(&[SOON, endpoint(&url)]);
    server.add_long_list();
    drop(server.connect("GET /api/robots HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    for (name, error) in [
        ("GET /api/robots/{id}", Some("503")),
        ("GET", None),
        ("GET /api/robots", Some("aborted")),
    ] {
        let mut found = None;
        wait_for(name, || {
            found = collector
                .spans(0)
                .into_iter()
                .find(|span| span.name == name);
            found.is_some()
        });
        let span = found.unwrap();
        let attributes = texts(&span.attributes);
        let mut errors = attributes.iter().filter(|(name, _)| *name == "error.type");
        assert_eq!(errors.next().map(|(_, text)| text.as_str()), error);
        let code = span.status.map(|status| status.code);
        let is_error = code == Some(StatusCode::Error as i32);
        assert_eq!(is_error, error.is_some(), "{name}");
    }
}

#[test]
fn hanging_collector_delays_neither_requests_nor_shutdown() {
    // The system accepts connections, and nothing answers.
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", collector.local_addr().unwrap());
    let forever = ("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000");
    let small = ("OTEL_BSP_MAX_QUEUE_SIZE", "10");
    let server = Server::with(&[SOON, forever, small, endpoint(&url)]);
    server.get("/livez");
    let hanging = collector.accept().unwrap();
    // More than the queue takes.
    (0..100).for_each(|_| assert_eq!(server.get("/livez").status, 200));
    // Fails if it takes too long.
    let (status, log) = server.stop("TERM");
    assert!(status.success(), "{log}");
    assert!(log.contains("the last traces were not sent"), "{log}");
    drop(hanging);
}

#[test]
fn outage_of_the_collector_is_logged_once() {
    let failures = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&failures);
    let collector = Collector::start_with(move |stream| {
        // Of five connections, the last is used.
        let is_up = counter.fetch_add(1, Ordering::SeqCst) >= 5;
        is_up.then(|| answer(stream)).flatten()
    });
    let url = collector.url();
    let server = Server::with(&[SOON, INFO, endpoint(&url)]);
    wait_for("a span after failures", || {
        server.get("/livez");
        !collector.requests().is_empty()
    });
    let words = "traces are lost: the collector cannot be reached: ";
    assert_eq!(server.log().matches(words).count(), 1);
}

#[test]
fn collector_is_reached_by_https_if_its_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    write_certificate(folder.path(), "other.pem", "other-key.pem");
    let [chain, key] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
    let tls = tls(&chain, &key);
    let collector = Collector::start_with(move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&tls)).unwrap();
        answer(rustls::StreamOwned::new(connection, stream))
    });
    let url = format!("https://localhost:{}", collector.address.port());
    for (file, words) in [
        ("other.pem", "cannot be reached: invalid peer certificate"),
        ("chain.pem", "traces are exported"),
    ] {
        let file = folder.path().join(file);
        let certificate = ("OTEL_EXPORTER_OTLP_CERTIFICATE", file.to_str().unwrap());
        let server = Server::with(&[SOON, INFO, certificate, endpoint(&url)]);
        server.get("/livez");
        server.wait_for_log(words);
        // The end sends them.
        server.stop("TERM");
    }
    assert_eq!(collector.spans(1).len(), 1);
}

fn tls(certificate: &std::path::Path, key: &std::path::Path) -> Arc<rustls::ServerConfig> {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let certificate = CertificateDer::from_pem_file(certificate).unwrap();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let builder = builder.with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
}

/// Variables, and words of the log.
const WRONG: &str = "
ENDPOINT=hunter2:4317 -> OTEL_EXPORTER_OTLP_ENDPOINT must be a URL
TRACES_ENDPOINT=hunter2 -> OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be a URL
PROTOCOL=grpc -> only http/protobuf, not the protocol of OTEL_EXPORTER_OTLP_PROTOCOL
";

#[test]
fn wrong_variables_are_reported_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    for (variable, words) in cases(WRONG) {
        let (name, value) = variable.split_once('=').unwrap();
        let name = format!("OTEL_EXPORTER_OTLP_{name}");
        let settings = [
            ("DATABASE_URL", "memory:"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=hunter2"),
            endpoint("https://127.0.0.1:4318"),
            (&*name, value),
        ];
        let checked = command(folder.path(), &settings)
            .arg("--check")
            .output()
            .unwrap();
        let text = String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap();
        assert!(checked.status.success(), "{text}");
        let (status, log) = Server::start(folder.path(), &settings).stop("TERM");
        assert!(status.success(), "{log}");
        for text in [text, log] {
            assert!(text.contains(words) && !text.contains("hunter2"), "{text}");
        }
    }
}

#[test]
fn nothing_is_exported_unless_it_is_requested() {
    let collector = Collector::start();
    let url = collector.url();
    for variables in [
        &[endpoint("")][..],
        &[endpoint(&url), ("OTEL_SDK_DISABLED", "true")],
        &[endpoint(&url), ("OTEL_TRACES_EXPORTER", "none")],
    ] {
        let server = Server::with(&[&[INFO], variables].concat());
        server.get("/livez");
        let (_, log) = server.stop("TERM");
        assert!(!log.contains("traces are exported"), "{variables:?}: {log}");
    }
    assert!(collector.requests().is_empty());
}
