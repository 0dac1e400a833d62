//! Request bodies: valid and invalid JSON, valid and invalid robots.

use proptest::{collection::vec, prelude::*};
use robot_core::{Draft, Robot};
use serde_json::{Value, json};

use crate::{
    configuration,
    mutation::{Bytes, mutated},
    service::{Answer, Service, request},
    verdict::{Verdict, verdict},
};

/// The names of the stored robots; their ids start at 1.
const NAMES: [&str; 2] = ["taken", "R2-D2"];

/// Pieces of strings on which JSON parsers disagree, separated by `|`.
const STRING_PIECES: &str = "\\u0000|\\ud800|\\udc00|\\ud83e\\udd16|\\uD83E|\\/|\\x|\\u12|\\u+123|\u{7f}|\u{2028}|\
                             \t|\n|é|e\u{301}|🤖|a||'|<|\\\"|\\\\";

/// Numbers, and text that some parsers accept as a number, separated by `|`.
const NUMBERS: &str = "-0|0|00|01|+1|-1|1.0|1.|.5|-|1e3|1E+3|1e|1e400|-1e-400|0x10|NaN|Infinity|1977 |1_000|\
                       9223372036854775807|9223372036854775808|-9223372036854775808|\
                       -9223372036854775809|18446744073709551616";

/// One of these texts, which are separated by `|`.
fn one_of(texts: &'static str) -> impl Strategy<Value = String> {
    let texts: Vec<_> = texts.split('|').map(str::to_owned).collect();
    prop::sample::select(texts)
}

/// A word as a JSON string, with some of its first eight characters escaped.
fn spelled(word: &str, escaped: u8) -> String {
    let characters = word.chars().enumerate().map(|(index, character)| {
        let is_escaped = index < 8 && escaped >> index & 1 == 1;
        match character {
            '"' | '\\' => format!("\\{character}"),
            other if is_escaped || other < ' ' => {
                let units = &mut [0; 2];
                let units = other.encode_utf16(units).iter();
                let escapes: Vec<_> = units.map(|unit| format!("\\u{unit:04x}")).collect();
                escapes.concat()
            }
            other => other.to_string(),
        }
    });
    format!("\"{}\"", characters.collect::<String>())
}

/// One of these words, which are separated by `|`, as a JSON string, mostly without escapes.
fn word(words: &'static str) -> impl Strategy<Value = String> {
    let escaped = prop_oneof![3 => Just(0), 1 => any::<u8>()];
    (one_of(words), escaped).prop_map(|(word, escaped)| spelled(&word, escaped))
}

fn string_literal() -> impl Strategy<Value = String> {
    vec(one_of(STRING_PIECES), 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => (0..3000_i64).prop_map(|year| year.to_string()),
        2 => one_of(NUMBERS),
        1 => any::<i64>().prop_map(|year| year.to_string()),
        1 => any::<f64>().prop_map(|year| format!("{year:?}")),
    ]
}

/// Any JSON value.
fn value() -> impl Strategy<Value = String> {
    let literal = one_of("null|true|false|nul|None|");
    let leaf = prop_oneof![literal, number(), string_literal()];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|values| format!("[{}]", values.join(","))),
            vec((member_name(), inner), 0..4).prop_map(|members| object(&members, "")),
        ]
    })
}

fn member_name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => word("name|type|year|id|NAME|name |"),
        1 => string_literal(),
    ]
}

fn name_value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => word("HAL 9000|taken|R2-D2|é|🤖|x|Taken|taken "),
        1 => word("|\0|a\0b"),
        1 => (254..=256_usize, prop::sample::select(vec!["a", "é", "\\u0000", "🤖"]))
            .prop_map(|(length, piece)| format!("\"{}\"", piece.repeat(length))),
        1 => value(),
    ]
}

fn type_value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => word("droid|mechanical|virtual"),
        1 => word("|Droid|droid |dr\0id"),
        1 => value(),
    ]
}

fn year_value() -> impl Strategy<Value = String> {
    prop_oneof![6 => (0..3000_i64).prop_map(|year| year.to_string()), 1 => number(), 1 => value()]
}

fn object(members: &[(String, String)], blank: &str) -> String {
    let members: Vec<_> = members
        .iter()
        .map(|(name, value)| format!("{blank}{name}{blank}:{blank}{value}{blank}"))
        .collect();
    format!("{blank}{{{}}}{blank}", members.join(","))
}

/// A robot, possibly with missing or additional members.
fn robot() -> impl Strategy<Value = String> {
    let present = || prop::bool::weighted(0.95);
    let known = (
        (present(), word("name"), name_value()),
        (present(), word("type"), type_value()),
        (present(), word("year"), year_value()),
    );
    let others = prop_oneof![2 => Just(Vec::new()), 1 => vec((member_name(), value()), 1..3)];
    let members = (known, others).prop_map(|((name, robot_type, year), others)| {
        let known = [name, robot_type, year].into_iter();
        let known =
            known.filter_map(|(is_present, name, value)| is_present.then_some((name, value)));
        known.chain(others).collect::<Vec<_>>()
    });
    let blank = || one_of("|| |\r\n\t|\u{a0}|\u{b}|\u{feff}");
    (members.prop_shuffle(), blank(), blank()).prop_map(|(members, around, within)| {
        format!("{around}{}{around}", object(&members, &within))
    })
}

fn body() -> impl Strategy<Value = Bytes> {
    let bytes = prop_oneof![
        8 => mutated(robot().prop_map(String::into_bytes)),
        1 => mutated(value().prop_map(String::into_bytes)),
        1 => vec(any::<u8>(), 0..60),
        1 => any::<String>().prop_map(String::into_bytes),
    ];
    bytes.prop_map(Bytes)
}

fn send(service: &Service, method: &str, target: &str, body: &[u8]) -> Answer {
    service.send(request(method, target).unwrap().map(|_| body.to_vec()))
}

fn assert_refused(answer: &Answer, status: u16, messages: Option<&[&str]>) {
    assert_eq!(answer.status, status, "{answer:?}");
    if let Some(messages) = messages {
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!(body["messages"], json!(messages));
    }
}

/// The stored robot with an id.
fn stored(service: &Service, id: &str) -> Option<Draft> {
    let mut robots = service.robots().into_iter();
    robots
        .find(|robot: &Robot| robot.id().to_string() == id)
        .map(Draft::from)
}

fn assert_added(service: &Service, answer: &Answer, draft: &Draft) {
    assert_eq!(answer.status, 201, "{answer:?}");
    let body: Value = serde_json::from_str(&answer.body).unwrap();
    let (name, robot_type, year) = (&draft.name, &draft.robot_type, draft.year);
    let data = json!({"name": name, "type": robot_type, "year": year, "id": "3"});
    assert_eq!(body, json!({"status": "OK", "data": data}));
    assert_eq!(stored(service, "3").as_ref(), Some(draft));
}

proptest! {
    #![proptest_config(configuration(1000))]

    #[test]
    fn post_matches_the_model(Bytes(body) in body()) {
        let service = Service::of(NAMES);
        let answer = send(&service, "POST", "/api/robots", &body);
        match verdict(&body, &NAMES) {
            Verdict::Malformed => assert_refused(&answer, 400, None),
            Verdict::Rejected(messages) => assert_refused(&answer, 409, Some(&messages)),
            Verdict::Accepted(draft) => assert_added(&service, &answer, &draft),
        }
    }

    #[test]
    fn put_matches_the_model(Bytes(body) in body(), id in prop_oneof![4 => Just(2), 1 => Just(3)]) {
        let service = Service::of(NAMES);
        let answer = send(&service, "PUT", &format!("/api/robots/{id}"), &body);
        match verdict(&body, &NAMES[..1]) {
            Verdict::Malformed => assert_refused(&answer, 400, None),
            _ if id == 3 => assert_refused(&answer, 404, None),
            Verdict::Rejected(messages) => assert_refused(&answer, 409, Some(&messages)),
            Verdict::Accepted(draft) => {
                assert_eq!((answer.status, &*answer.body), (200, r#"{"status":"OK"}"#));
                assert_eq!(stored(&service, "2"), Some(draft));
            }
        }
    }
}
