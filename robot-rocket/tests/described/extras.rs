//! Exchanges that the conformance cases do not have, for every operation of the document.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use robot_core::{
    MemoryCatalogue,
    conformance::{Call, Client, Framing, Pace, TcpClient},
    http::{Access, AccessToken, Api, BODY_LIMIT, Behaviour, Hosts, IMPORT_LIMIT, Permission},
};
use rocket::figment::Figment;
use serde_json::Value;

use super::{
    Descriptions, call,
    document::{Document, Operation},
    preferring_json,
};

/// Starts a server with these settings.
pub(crate) type Serve = fn(Figment, Behaviour) -> (SocketAddr, Box<dyn FnOnce()>);

/// How often, and after which pause, a connection is tried that depends on the end of another one.
const ATTEMPTS: usize = 1000;
const PAUSE: Duration = Duration::from_millis(10);

const READER: &str = "robots_reader";
const ROBOT: &str = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
const PATCH_TYPE: &str = "application/merge-patch+json";
const PAGE: &str = "https://app.example";

/// Sends the exchanges, and returns what is described and was still not produced.
pub(crate) fn produce_the_rest(descriptions: &Descriptions, serve: Serve) -> Vec<String> {
    let mut missing = Vec::new();
    for behaviour in [Behaviour::A, Behaviour::B] {
        let api = Api::new(Arc::new(MemoryCatalogue::new())).behaviour(behaviour);
        let document = descriptions.of(behaviour, &api);
        let extras = Extras {
            document: &document,
            behaviour,
        };
        extras.successes(&api);
        extras.rejections(&api);
        extras.refusals(serve);
        let all = document.missing().into_iter();
        missing.extend(all.map(|part| format!("{behaviour}: {part}")));
    }
    missing
}

struct Extras<'a> {
    document: &'a Document,
    behaviour: Behaviour,
}

impl Extras<'_> {
    /// Sends a call, and the same for JSON. Returns the statuses.
    fn send(&self, client: &dyn Client, call: &Call) -> [u16; 2] {
        self.deliver(client, call, Framing::Length, Pace::AtOnce)
    }

    fn deliver(&self, client: &dyn Client, call: &Call, framing: Framing, pace: Pace) -> [u16; 2] {
        [call.clone(), preferring_json(call)].map(|call| {
            let answer = client.deliver(&call, framing, pace);
            let mut answer = answer.unwrap_or_else(|error| panic!("{call:?}: {error}"));
            if call.method == "HEAD" && matches!(answer.status, 431 | 503) {
                // A request that is not read is refused with a body, whatever its method is.
                answer.body.clear();
            }
            self.document.check(&call, &answer);
            answer.status
        })
    }

    /// Sends a call that must have this status.
    fn expect(&self, status: u16, client: &dyn Client, call: &Call) {
        assert_eq!(self.send(client, call), [status; 2], "{call:?}");
    }

    fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        self.document.operations()
    }

    /// Successes in both types, and with the headers and parameters that every operation has.
    fn successes(&self, api: &Api) {
        let api = api.clone().origins(PAGE.parse().into_iter().collect());
        let common = [
            ("prefer", "handling=strict"),
            ("x-request-id", "1"),
            ("origin", PAGE),
            ("if-match", "*"),
        ];
        let send = |method: &str, target: &str, headers: &[(&str, &str)], body: &str| {
            let headers = [&common, headers].concat();
            self.send(&api, &call(method, target, &headers, body.as_bytes()));
        };
        let json = [("content-type", "application/json")];
        for format in [
            "application/json",
            "application/x-ndjson",
            "text/csv; charset=utf-8; header=present",
        ] {
            let body = if format.starts_with("text/csv") {
                "name,type,year\n"
            } else {
                "[]"
            };
            let body = if format.ends_with("ndjson") { "" } else { body };
            send(
                "POST",
                "/api/robots/import",
                &[("content-type", format)],
                body,
            );
        }
        for name in ["A", "B"] {
            let robot = ROBOT.replace("R2-D2", name);
            let request = call(
                "POST",
                "/api/robots",
                &[&common[..3], &json].concat(),
                robot.as_bytes(),
            );
            let request = if name == "A" {
                request
            } else {
                preferring_json(&request)
            };
            let answer = api.send(&request).unwrap_or_else(|error| panic!("{error}"));
            self.document.check(&request, &answer);
        }
        send("PUT", "/api/robots/1", &json, ROBOT);
        send(
            "PATCH",
            "/api/robots/1",
            &[("content-type", PATCH_TYPE), ("if-none-match", "\"7\"")],
            r#"{"year":1}"#,
        );
        for operation in self.operations() {
            for parameter in self.document.parameters(&operation) {
                if parameter["in"] == "query" && operation.method != "post" {
                    let (path, query) = (target(&operation, "1"), sample(parameter));
                    let method = operation.method.to_uppercase();
                    self.expect(
                        200,
                        &api,
                        &call(&method, &format!("{path}?{query}"), &[], b""),
                    );
                }
            }
            if matches!(operation.method, "get" | "head" | "options") {
                send(
                    &operation.method.to_uppercase(),
                    &target(&operation, "1"),
                    &[],
                    "",
                );
            }
        }
        for (id, accept) in [("1", "text/html"), ("2", "application/json")] {
            let headers = [
                &common,
                &[("accept", accept), ("if-none-match", "\"7\"")][..],
            ]
            .concat();
            let request = call("DELETE", &format!("/api/robots/{id}"), &headers, b"");
            let answer = api.send(&request).unwrap_or_else(|error| panic!("{error}"));
            self.document.check(&request, &answer);
        }
    }

    /// Rejections by the contract.
    fn rejections(&self, api: &Api) {
        let token = AccessToken::of(READER, Permission::Read);
        let guarded = api.clone().access(Access::new(vec![token], None));
        let elsewhere = api.clone().hosts(Hosts::Only(Vec::new()));
        let reader = format!("Bearer {READER}");
        for operation in self.operations() {
            let method = operation.method.to_uppercase();
            let path = target(&operation, "1");
            let request =
                |target: &str, headers: &[(&str, &str)]| call(&method, target, headers, b"");
            let strict = [("prefer", "handling=strict")];
            self.expect(400, api, &request(&format!("{path}?nothing=1"), &strict));
            self.expect(
                421,
                &elsewhere,
                &request(&path, &[("host", "evil.example")]),
            );
            if operation.path.contains("{id}") {
                self.expect(404, api, &request(&target(&operation, "x"), &[]));
            }
            if operation.value["security"].is_array() {
                self.expect(401, &guarded, &request(&path, &[]));
            }
            if operation.value["responses"]["403"].is_object() {
                self.expect(
                    403,
                    &guarded,
                    &request(&path, &[("authorization", &reader)]),
                );
            }
            if operation.value["responses"]["413"].is_object() {
                let length = if operation.path.ends_with("/import") {
                    IMPORT_LIMIT + 1
                } else {
                    BODY_LIMIT as u64 + 1
                };
                let length = length.to_string();
                let header = [("content-type", "text/csv"), ("content-length", &length)];
                let too_large = request(&path, &header);
                let statuses = self.deliver(api, &too_large, Framing::Chunked, Pace::AtOnce);
                assert_eq!(statuses, [413; 2], "{method} {path}");
                let mut slow = request(&path, &header[..1]);
                slow.body = b"name,type,year".into();
                let statuses = self.deliver(api, &slow, Framing::Length, Pace::StopAfter(3));
                assert_eq!(statuses, [408; 2], "{method} {path}");
            }
        }
    }

    /// Refusals by the server, before a request is known.
    fn refusals(&self, serve: Serve) {
        let figment = rocket::Config::figment().merge(("max_connections", 1));
        let (address, stop) = serve(figment, self.behaviour);
        let client = TcpClient::new(address);
        let too_many = [("x", "x"); 101];
        let request = |operation: &Operation<'_>, headers: &[(&str, &str)]| {
            call(
                &operation.method.to_uppercase(),
                &target(operation, "1"),
                headers,
                b"",
            )
        };
        for operation in self.operations() {
            self.eventually(431, &client, &request(&operation, &too_many));
        }
        let only_one = occupy(address);
        for operation in self.operations() {
            self.eventually(503, &client, &request(&operation, &[]));
        }
        drop(only_one);
        stop();
    }

    /// Sends a call until it has this status in both types: a connection may not have ended yet, or not
    /// begun.
    fn eventually(&self, status: u16, client: &dyn Client, call: &Call) {
        for _ in 0..ATTEMPTS {
            if self.send(client, call) == [status; 2] {
                return;
            }
            thread::sleep(PAUSE);
        }
        panic!("{call:?} does not return {status}");
    }
}

/// A query with one parameter.
fn sample(parameter: &Value) -> String {
    let (name, schema) = (
        parameter["name"].as_str().unwrap_or_default(),
        &parameter["schema"],
    );
    let value = match (name, schema["type"].as_str()) {
        ("fields", _) => "id",
        ("cursor", _) => "name:a",
        (_, Some("boolean")) => "false",
        (_, Some("integer")) => "1",
        _ => {
            let choice = schema["enum"][0].as_str();
            choice
                .or(schema["items"]["enum"][0].as_str())
                .unwrap_or("x")
        }
    };
    format!("{name}={value}")
}

/// A connection to a server that admits no other. Connects until it is admitted.
fn occupy(address: SocketAddr) -> TcpStream {
    const REQUEST: &[u8] = b"GET /api/robots/1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let occupied = || {
        let mut connection = TcpStream::connect(address)?;
        connection.write_all(REQUEST)?;
        let mut start = [0; 12];
        connection.read_exact(&mut start)?;
        let is_admitted = start.ends_with(b" 200");
        is_admitted
            .then_some(connection)
            .ok_or(io::Error::other("rejected"))
    };
    for _ in 0..ATTEMPTS {
        if let Ok(connection) = occupied() {
            return connection;
        }
        thread::sleep(PAUSE);
    }
    panic!("no connection is admitted");
}

/// The path of an operation, with this id.
fn target(operation: &Operation<'_>, id: &str) -> String {
    operation.path.replace("{id}", id).replace("{name}", "x")
}
