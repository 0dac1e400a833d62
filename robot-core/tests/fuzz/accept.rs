//! `Accept`: always one of two content types, and the right one for a valid header.

use http::{HeaderValue, header::ACCEPT};
use proptest::{collection::vec, prelude::*};

use crate::{
    configuration,
    mutation::{Bytes, mutated},
    service::{Service, request},
};

const CONTRACT: &str = "text/html; charset=UTF-8";
const JSON: &str = "application/json";

/// A media range, and its weight in thousandths if it has one.
type Range = (&'static str, Option<u16>);

fn range() -> impl Strategy<Value = Range> {
    let names = [
        JSON,
        JSON,
        "text/html",
        "text/html",
        "text/*",
        "*/*",
        "application/*",
        "application/xml",
        "text/plain",
    ];
    let weight = prop_oneof![
        Just(1000_u16),
        Just(0),
        (0..=10_u16).prop_map(|tenths| tenths * 100),
        0..=1000_u16
    ];
    (
        prop::sample::select(names.to_vec()),
        prop::option::of(weight),
    )
}

/// A range in the styles of clients: with capitals, spaces, other parameters.
fn written((name, weight): Range, style: u8) -> String {
    let is = |bit: u8| style >> bit & 1 == 1;
    let name = if is(0) {
        name.to_uppercase()
    } else {
        name.to_owned()
    };
    let blank = if is(1) { " " } else { "" };
    let other = if is(2) { "; charset=utf-8" } else { "" };
    let weight = weight.map(|weight| {
        let name = if is(3) { "Q" } else { "q" };
        let decimals = format!("{}.{:03}", weight / 1000, weight % 1000);
        let shortest = decimals.trim_end_matches('0').trim_end_matches('.');
        let value = if is(4) { shortest } else { &decimals };
        format!("{blank};{blank}{name}={value}")
    });
    format!("{blank}{name}{other}{}{blank}", weight.unwrap_or_default())
}

/// The content type according to the model: JSON if it is listed and HTML is not preferred.
fn expected(ranges: &[Range]) -> &'static str {
    let weight = |name: &str| {
        let mut same = ranges.iter().rev().filter(|(known, _)| *known == name);
        same.next().map(|(_, weight)| weight.unwrap_or(1000))
    };
    let html = weight("text/html")
        .or_else(|| weight("text/*"))
        .or_else(|| weight("*/*"))
        .unwrap_or(0);
    match weight(JSON) {
        Some(json) if json > 0 && json >= html => JSON,
        _ => CONTRACT,
    }
}

/// The content type of an answer, which is one of the two.
fn answered(lines: &[Bytes]) -> String {
    let mut request = request("GET", "/api/robots").unwrap();
    for line in lines {
        let line = HeaderValue::from_bytes(&line.0).unwrap();
        request.headers_mut().append(ACCEPT, line);
    }
    let answer = Service::of(["R2-D2"]).send(request);
    assert_eq!(answer.status, 200);
    answer.header("content-type").unwrap().to_owned()
}

proptest! {
    #![proptest_config(configuration(1500))]

    #[test]
    fn content_type_matches_the_model(
        ranges in vec((range(), any::<u8>()), 0..6),
        is_on_one_line in any::<bool>(),
    ) {
        let lines = ranges.iter().map(|(range, style)| written(*range, *style));
        let mut lines: Vec<_> = lines.collect();
        if is_on_one_line {
            lines = vec![lines.join(",")];
        }
        let ranges: Vec<Range> = ranges.into_iter().map(|(range, _)| range).collect();
        let sent: Vec<_> = lines.iter().map(|line| Bytes(line.clone().into_bytes())).collect();
        prop_assert_eq!(answered(&sent), expected(&ranges), "{:?}", lines);
    }

    #[test]
    fn random_accept_headers_are_answered(
        lines in vec(
            prop_oneof![
                mutated(vec((range(), any::<u8>()), 0..4).prop_map(|ranges| {
                    let ranges: Vec<_> = ranges.into_iter().map(|(range, style)| written(range, style)).collect();
                    ranges.join(",").into_bytes()
                })),
                vec(any::<u8>(), 0..40),
            ].prop_map(|mut line| {
                line.retain(|byte| *byte >= b' ' && *byte != 0x7f);
                Bytes(line)
            }),
            0..3,
        ),
    ) {
        let answered = answered(&lines);
        let names_json = lines.iter().any(|line| {
            String::from_utf8_lossy(&line.0).to_ascii_lowercase().contains(JSON)
        });
        prop_assert!(names_json || answered == CONTRACT, "{}", answered);
    }
}
