//! Requests to routes of the application.

use std::{collections::BTreeMap, io};

use rocket::{
    Build, Data, Request, Rocket,
    data::ToByteUnit,
    form::Form,
    fs::{FileServer, TempFile},
    get,
    http::CookieJar,
    outcome::Outcome,
    post, put,
    request::{self, FromRequest},
    routes,
    tokio::io::sink,
};

use crate::application::{Served, assert_status, body, figment};

type Fields = Form<BTreeMap<String, String>>;

#[post("/form", data = "<fields>")]
fn form(fields: Fields) -> String {
    format!("{:?}", *fields)
}

#[put("/put", data = "<fields>")]
fn put_form(fields: Fields) -> String {
    format!("put {:?}", *fields)
}

#[post("/file", data = "<file>")]
fn file(file: Form<TempFile<'_>>) -> String {
    format!("{} bytes", file.len())
}

#[post("/text", data = "<text>")]
fn text(text: String) -> String {
    text
}

#[post("/stream", data = "<data>")]
async fn stream(data: Data<'_>) -> io::Result<String> {
    let copied = data.open(1.gibibytes()).stream_to(sink()).await?;
    Ok(format!("{} bytes", copied.written))
}

#[get("/query?<text>&<number>")]
fn query(text: &str, number: Option<u8>) -> String {
    format!("{text} {number:?}")
}

#[get("/path/<part>/<rest..>")]
fn path(part: &str, rest: std::path::PathBuf) -> String {
    format!("{part} {}", rest.display())
}

#[get("/cookies")]
fn cookies(jar: &CookieJar<'_>) -> String {
    let mut cookies: Vec<_> = jar.iter().map(ToString::to_string).collect();
    cookies.sort();
    jar.add(("answer", "42"));
    cookies.join("; ")
}

/// What a handler sees of a request.
struct Seen(String);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Seen {
    type Error = ();

    async fn from_request(request: &'r Request<'_>) -> request::Outcome<Self, ()> {
        let headers: Vec<_> = request.headers().get("x-seen").collect();
        let remote = request.remote().map(|remote| remote.ip().to_string());
        let host = request.host().map(ToString::to_string);
        Outcome::Success(Self(format!(
            "{} {} {headers:?} {remote:?} {:?} {host:?}",
            request.method(),
            request.uri(),
            request.client_ip().map(|ip| ip.to_string()),
        )))
    }
}

#[get("/seen")]
fn seen(seen: Seen) -> String {
    seen.0
}

fn rocket() -> Rocket<Build> {
    rocket::custom(figment()).mount(
        "/",
        routes![
            form, put_form, file, text, stream, query, path, cookies, seen
        ],
    )
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[post("/", data = "<text>")]
fn root(text: String) -> String {
    text
}

#[post("/robot/<_>", data = "<text>")]
fn other(text: String) -> String {
    text
}

#[test]
fn import_beside_other_routes_is_not_buffered() {
    let folder = tempfile::tempdir().unwrap();
    let rocket = rocket().mount("/", routes![root, other]);
    let served = Served::start(rocket.mount("/", FileServer::from(folder.path())));
    let long = "x".repeat(200);
    let robots: String = (0..15_000).fold("name,type,year\n".to_owned(), |file, number| {
        file + &format!("{number} {long},droid,1977\n")
    });
    let import = "POST /robots/api/robots/import?format=csv";
    // By default, curl declares files as forms.
    for headers in ["", FORM] {
        let imported = served.answer(import, headers, &robots);
        assert_status(&imported, if headers.is_empty() { 200 } else { 409 });
    }
    for target in ["POST /", "POST /robot/1", "POST //robot/%31/"] {
        assert_eq!(body(&served.answer(target, "", "text")), "text", "{target}");
    }
}

#[test]
fn routes_get_bodies() {
    let served = Served::start(rocket());
    let mut connection = served.connect();
    for (line, headers, sent, expected) in [
        ("POST /text", "", r#"{"a":"é"}"#, r#"{"a":"é"}"#),
        ("POST /text", "", "", ""),
        ("POST //text/", "", "x", "x"),
        ("POST /%74ext", "", "x", "x"),
        ("POST /stream", "", "12345", "5 bytes"),
        ("POST /form", FORM, "a=%26+2", r#"{"a": "& 2"}"#),
        (
            "POST /put",
            FORM,
            "_method=put",
            r#"put {"_method": "put"}"#,
        ),
    ] {
        let answer = connection.answer(line, headers, sent);
        assert_status(&answer, 200);
        assert_eq!(body(&answer), expected, "{line}");
    }
    let multipart = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\
                     Content-Type: text/plain\r\n\r\ncontent\r\n--x--\r\n";
    let headers = "Content-Type: multipart/form-data; boundary=x\r\n";
    let answer = connection.answer("POST /file", headers, multipart);
    assert_eq!(body(&answer), "7 bytes", "{answer}");
    // The catalogue reads its bodies from the same connection.
    let robot = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
    let answer = connection.answer("POST /robots/api/robots", FORM, robot);
    assert_status(&answer, 201);
}

#[test]
fn body_beyond_all_limits_is_rejected_with_413() {
    let served = Served::start(rocket());
    // Rocket's limit of strings cuts the text off; the greatest limit rejects the request.
    let answer = served.answer("POST /stream", "", &"x".repeat(2 * 1024 * 1024));
    assert_eq!(body(&answer), "2097152 bytes", "{answer}");
    let large = "x".repeat(2 * 1024 * 1024 + 1);
    assert_status(&served.answer("POST /stream", "", &large), 413);
    let figment = figment().merge(("limits.own", "4 MiB"));
    let served = Served::start(rocket().configure(figment));
    let answer = served.answer("POST /stream", "", &large);
    assert_eq!(body(&answer), "2097153 bytes", "{answer}");
    assert_status(&served.answer("POST /stream", "", &large.repeat(2)), 413);
}

#[test]
fn handlers_see_targets_headers_cookies_and_addresses() {
    let served = Served::start(rocket());
    let mut connection = served.connect();
    let seen = connection.answer("GET /seen?a=1&b", "X-Seen: 1\r\nX-SEEN: é\r\n", "");
    assert_eq!(
        body(&seen),
        r#"GET /seen?a=1&b ["1", "é"] Some("127.0.0.1") Some("127.0.0.1") Some("localhost")"#
    );
    let proxied = connection.answer("GET /seen", "X-Real-IP: 192.0.2.7\r\n", "");
    assert!(proxied.contains(r#"Some("192.0.2.7")"#), "{proxied}");
    for (target, expected) in [
        ("/query?text=a+b%26%C3%A9&number=7", "a b&é Some(7)"),
        ("/query?text=[1]{2}|^\\`&number=x", "[1]{2}|^\\` None"),
        ("/query?text=é", "é None"),
        ("/query?text", " None"),
        ("/query?text=a=b?c/d:@!$'()*,;", "a=b?c/d:@!$'()*,; None"),
        ("/path/a%2Fb/c/d%20e", "a/b c/d e"),
        ("/path/%5B/[x]", "[ [x]"),
        ("http://other.example/path/a/b", "a b"),
    ] {
        let answer = connection.answer(&format!("GET {target}"), "", "");
        assert_status(&answer, 200);
        assert_eq!(body(&answer), expected, "{target}");
    }
    let headers = "Cookie: a=1; b=%20x\r\nCookie: c=3\r\n";
    let answer = connection.answer("GET /cookies", headers, "");
    assert_eq!(body(&answer), "a=1; b= x; c=3", "{answer}");
    assert!(answer.contains("\r\nset-cookie: answer=42"), "{answer}");
}
