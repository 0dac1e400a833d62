//! Paths in all their encodings.

use proptest::{collection::vec, prelude::*};

use crate::{
    configuration,
    encoding::{decoded, encoded},
    mutation::mutated,
    service::{Service, request},
};

const NAMES: [&str; 3] = ["R2-D2", "a/b", "100%"];

/// The resource of a path.
#[derive(Debug, PartialEq)]
enum Place {
    Nothing,
    Robots,
    Import,
    Export,
    Description,
    Definition,
    /// The id; `None` if it is out of range.
    Robot(Option<u64>),
    /// `None` if the name is not UTF-8.
    Search(Option<String>),
}

/// The resource of a path, according to the model.
fn place(path: &str) -> Place {
    let segments: Vec<_> = path.split('/').map(decoded).collect();
    let segments: Vec<_> = segments.iter().map(Vec::as_slice).collect();
    match segments[..] {
        [b"", b"api", b"robots"] => Place::Robots,
        [b"", b"api", b"robots", b"import"] => Place::Import,
        [b"", b"api", b"robots", b"export"] => Place::Export,
        [b"", b"openapi.json"] => Place::Description,
        [b"", b"api", b"definition"] => Place::Definition,
        [b"", b"api", b"robots", b"search", name] => {
            Place::Search(String::from_utf8(name.to_vec()).ok())
        }
        [b"", b"api", b"robots", id] if !id.is_empty() && id.iter().all(u8::is_ascii_digit) => {
            Place::Robot(String::from_utf8_lossy(id).parse().ok())
        }
        _ => Place::Nothing,
    }
}

fn segment() -> impl Strategy<Value = Vec<u8>> {
    let known = "api robots search import export definition openapi.json  .. .";
    let known: Vec<_> = known.split(' ').chain(NAMES).collect();
    prop_oneof![
        3 => prop::sample::select(known).prop_map(|text| text.as_bytes().to_vec()),
        1 => "0{0,3}[0-9]{1,20}".prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..6),
    ]
}

fn fixed(text: &'static str) -> BoxedStrategy<Vec<u8>> {
    Just(text.as_bytes().to_vec()).boxed()
}

/// A path of the contract, or a similar one, each segment in some encoding.
fn path() -> impl Strategy<Value = String> {
    let root = || vec![fixed("api"), fixed("robots")];
    let below = |last: Vec<BoxedStrategy<Vec<u8>>>| [root(), last].concat();
    let id = "0{0,2}[0-4]".prop_map(String::into_bytes).boxed();
    let segments = prop_oneof![
        1 => below(vec![]),
        3 => below(vec![id]),
        3 => below(vec![fixed("search"), segment().boxed()]),
        2 => below(vec![segment().boxed()]),
        1 => vec![segment().boxed(), segment().boxed(), segment().boxed()],
        1 => vec![fixed("openapi.json")],
        1 => vec![fixed("api"), fixed("definition")],
    ];
    segments.prop_flat_map(|segments| {
        let written: Vec<_> = segments.into_iter().map(encoded).collect();
        written.prop_map(|segments| format!("/{}", segments.join("/")))
    })
}

/// A path with mutations, or any text.
fn target() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => mutated(path().prop_map(String::into_bytes))
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        1 => any::<String>().prop_map(|text| format!("/{text}")),
        1 => any::<String>().prop_map(|text| format!("/api/robots/{text}")),
    ]
}

proptest! {
    #![proptest_config(configuration(1000))]

    #[test]
    fn paths_match_the_model(target in target()) {
        let service = Service::of(NAMES);
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let Some(request) = request("GET", &target) else { return Ok(()) };
        let answer = service.send(request);
        let status = answer.status;
        match place(path) {
            Place::Nothing => prop_assert_eq!(status, 404),
            Place::Import => prop_assert_eq!(status, 405),
            _ if !query.is_empty() => prop_assert!([200, 400].contains(&status), "{}", status),
            Place::Search(None) => prop_assert_eq!(status, 400),
            Place::Search(Some(_)) | Place::Robots => {
                prop_assert_eq!(status, 200);
                prop_assert!(answer.body.starts_with('['), "{}", answer.body);
            }
            Place::Description => {
                prop_assert_eq!(status, 200);
                prop_assert!(answer.body.contains("\"openapi\":\"3.1.0\""));
            }
            Place::Definition => {
                prop_assert_eq!(status, 200);
                prop_assert!(answer.body.contains("\"properties\""));
            }
            Place::Export => {
                prop_assert_eq!(status, 200);
                prop_assert_eq!(answer.body.lines().count(), NAMES.len());
            }
            Place::Robot(id) => {
                let is_there = id.is_some_and(|id| (1..=3).contains(&id));
                let found = format!(r#"{{"status":"FOUND","data":{{"id":"{}""#, id.unwrap_or(0));
                prop_assert_eq!(status, 200);
                prop_assert_eq!(answer.body.starts_with(&found), is_there, "{}", answer.body);
                let is_missing = answer.body == r#"{"status":"NOT-FOUND"}"#;
                prop_assert_eq!(is_missing, !is_there);
            }
        }
    }
}
