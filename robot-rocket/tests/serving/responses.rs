//! Responses of routes of the application.

use std::{
    fs,
    io::{self, Read},
    sync::Arc,
};

use rocket::{
    Build, Rocket, State, catch, catchers,
    fairing::AdHoc,
    fs::FileServer,
    get,
    http::{Header, Status},
    response::{
        status::Custom,
        stream::{Event, EventStream, TextStream},
    },
    routes,
    tokio::sync::Notify,
};

use crate::application::{Served, assert_status, body, figment};

#[get("/text")]
fn text() -> &'static str {
    "text"
}

#[get("/large")]
fn large() -> String {
    "x".repeat(1_000_000)
}

#[get("/status/<code>")]
fn status(code: u16) -> Custom<&'static str> {
    Custom(Status::new(code), "text")
}

#[get("/panic")]
fn panic() -> &'static str {
    panic!("a panic of the test")
}

#[get("/invalid")]
fn invalid_header() -> (Status, InvalidHeader) {
    (Status::Ok, InvalidHeader)
}

/// A response with a header that HTTP does not allow.
struct InvalidHeader;

impl<'r> rocket::response::Responder<'r, 'static> for InvalidHeader {
    fn respond_to(self, _: &'r rocket::Request<'_>) -> rocket::response::Result<'static> {
        rocket::Response::build()
            .header(Header::new("X-Invalid", "a\r\nb"))
            .header(Header::new("X-Valid", "c"))
            .ok()
    }
}

#[get("/pieces")]
fn pieces(continued: &State<Arc<Notify>>) -> TextStream![String] {
    let continued = Arc::clone(continued);
    TextStream! {
        yield "first ".to_owned();
        continued.notified().await;
        yield "second ".to_owned();
        yield "x".repeat(100_000);
    }
}

#[get("/events")]
fn events(continued: &State<Arc<Notify>>) -> EventStream![] {
    let continued = Arc::clone(continued);
    EventStream! {
        yield Event::data("first");
        continued.notified().await;
        yield Event::data("second");
    }
}

#[get("/continue")]
fn resume(continued: &State<Arc<Notify>>) {
    continued.notify_one();
}

#[get("/broken")]
fn broken() -> TextStream![&'static str] {
    TextStream! {
        yield "first ";
        panic!("a panic of the test");
    }
}

#[catch(default)]
fn caught(status: Status, _: &rocket::Request<'_>) -> String {
    format!("caught {}", status.code)
}

fn rocket() -> Rocket<Build> {
    rocket::custom(figment())
        .manage(Arc::new(Notify::new()))
        .mount(
            "/",
            routes![
                text,
                large,
                status,
                panic,
                invalid_header,
                pieces,
                events,
                resume,
                broken
            ],
        )
        .register("/", catchers![caught])
}

#[test]
fn bodies_have_their_length() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.txt"), "small").unwrap();
    fs::write(folder.path().join("large.txt"), "x".repeat(1_000_000)).unwrap();
    let served = Served::start(rocket().mount("/files", FileServer::from(folder.path())));
    let mut connection = served.connect();
    for (target, length) in [
        ("/text", 4),
        ("/large", 1_000_000),
        ("/files/small.txt", 5),
        ("/files/large.txt", 1_000_000),
    ] {
        let answer = connection.answer(&format!("GET {target}"), "", "");
        assert_status(&answer, 200);
        assert_eq!(body(&answer).len(), length, "{target}");
        let stated = format!("\r\ncontent-length: {length}\r\n");
        assert!(answer.contains(&stated), "{target}");
        let head = connection.answer(&format!("HEAD {target}"), "", "");
        assert_status(&head, 200);
        assert!(head.contains(&stated), "{head}");
        assert!(!head.contains("transfer-encoding"), "{head}");
    }
}

#[test]
fn unread_body_does_not_block_the_next_request() {
    let figment = figment().merge(("keep_alive", 300));
    let served = Served::start(rocket::custom(figment));
    let robots = (0..5000).fold("name,type,year\n".to_owned(), |file, number| {
        file + &format!("robot {number:04},droid,1977\n")
    });
    let mut connection = served.connect();
    let import = "POST /robots/api/robots/import?format=csv";
    let imported = connection.answer(import, "", &robots);
    assert_status(&imported, 200);
    connection.send("GET /robots/api/robots", "", &"x".repeat(300_000));
    assert_status(&connection.head(), 200);
    connection.until("]\r\n0\r\n\r\n");
    // The server answers, or closes the connection.
    connection.send("GET /robots/api/robots/1", "", "");
    if let Err(error) = connection.0.read(&mut [0]) {
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}

#[test]
fn responses_without_body_end_with_the_head() {
    let served = Served::start(rocket());
    let mut connection = served.connect();
    for status in [204, 304] {
        connection.send(&format!("GET /status/{status}"), "", "");
        let answer = connection.head();
        assert_status(&answer, status);
        assert!(!answer.contains("transfer-encoding"), "{answer}");
        assert!(!answer.contains("content-length"), "{answer}");
    }
    let head = connection.answer("HEAD /pieces", "", "");
    assert_status(&head, 200);
    assert_eq!(body(&connection.answer("GET /text", "", "")), "text");
}

#[test]
fn streamed_pieces_arrive_while_the_handler_continues() {
    let served = Served::start(rocket());
    for (target, end) in [("/pieces", "second "), ("/events", "data:second")] {
        let mut connection = served.connect();
        connection.send(&format!("GET {target}"), "", "");
        let head = connection.head();
        assert_status(&head, 200);
        assert!(
            head.contains("\r\ntransfer-encoding: chunked\r\n"),
            "{head}"
        );
        let first = connection.until("first");
        assert!(!first.contains("second"), "{first}");
        assert_status(&served.answer("GET /continue", "", ""), 200);
        connection.until(end);
        connection.until("\r\n0\r\n\r\n");
        // The connection is used for the next request.
        assert_eq!(body(&connection.answer("GET /text", "", "")), "text");
    }
}

#[test]
fn panics_and_invalid_headers_disturb_no_other_requests() {
    let served = Served::start(rocket());
    let mut connection = served.connect();
    let answer = connection.answer("GET /panic", "", "");
    assert_status(&answer, 500);
    assert_eq!(body(&answer), "caught 500");
    let answer = connection.answer("GET /invalid", "", "");
    assert_status(&answer, 200);
    assert!(answer.contains("\r\nx-valid: c\r\n"), "{answer}");
    assert!(!answer.contains("x-invalid"), "{answer}");
    // A panic in a stream ends the connection.
    connection.send("GET /broken", "", "");
    connection.until("first ");
    let rest = io::read_to_string(&mut connection.0).unwrap_or_default();
    assert!(!rest.ends_with("0\r\n\r\n"), "{rest:?}");
    assert_eq!(body(&served.answer("GET /text", "", "")), "text");
}

#[test]
fn fairings_and_catchers_run() {
    let rocket = rocket()
        .attach(AdHoc::on_request("request", |request, _| {
            request.add_header(Header::new("X-Added", "by a fairing"));
            Box::pin(async {})
        }))
        .attach(AdHoc::on_response("response", |request, response| {
            let added = request.headers().get_one("X-Added").unwrap_or("nothing");
            response.set_header(Header::new("X-Answer", added.to_owned()));
            Box::pin(async {})
        }));
    let served = Served::start(rocket);
    for (target, code) in [("/text", 200), ("/nothing", 404)] {
        let mut connection = served.connect();
        connection.send(&format!("GET {target}"), "Connection: close\r\n", "");
        let answer = io::read_to_string(&mut connection.0).unwrap();
        assert_status(&answer, code);
        assert!(
            answer.contains("\r\nx-answer: by a fairing\r\n"),
            "{answer}"
        );
        if code == 404 {
            assert_eq!(body(&answer), "caught 404");
        }
    }
}
