//! Lists: what a search finds, what a query asks for, and where `Link` leads.

use std::{collections::BTreeSet, fmt::Write};

use proptest::{collection::vec, prelude::*};

use crate::{
    configuration,
    encoding::{decoded, encoded},
    mutation::mutated,
    service::{Answer, Service},
};

/// What names and needles are made of: few pieces, so that they contain one another, and those
/// that mean something in a path, a query, a header, a page or a pattern.
const PIECES: [&str; 24] = [
    "a", "b", "A", "%", "%2F", "%25", "+", " ", "/", "?", "&", "=", "#", "<", ">", "\"", "\\", ";",
    "\r\n", "\u{301}", "é", "🤖", "*", "_",
];

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(prop::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

fn names() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set(text(1..5), 0..12)
}

/// A text and one of the ways to write it in a path or a query.
fn written(text: impl Strategy<Value = String>) -> impl Strategy<Value = (String, String)> {
    encoded(text.prop_map(String::into_bytes))
        .prop_map(|(bytes, written)| (String::from_utf8_lossy(&bytes).into_owned(), written))
}

/// What a client asks of a list, as it means and as it writes it.
#[derive(Debug, Clone)]
struct Question {
    containing: Option<(String, String)>,
    after: Option<(String, String)>,
    limit: Option<usize>,
    fields: Option<Vec<&'static str>>,
    /// What counts for nothing.
    other: Option<&'static str>,
    /// Whether the parameters come the other way round.
    is_reversed: bool,
}

fn question() -> impl Strategy<Value = Question> {
    let fields = prop::sample::subsequence(vec!["id", "name", "type", "year"], 1..=4);
    let others = vec![
        "",
        "x=1",
        "Limit=0",
        "limit%00=0",
        "fields2=",
        "=",
        "%FF=%FF",
        "&&",
    ];
    (
        prop::option::weighted(0.7, written(text(0..3))),
        prop::option::of(written(text(0..3))),
        prop::option::of(1..5_usize),
        prop::option::of(fields.prop_shuffle()),
        prop::option::of(prop::sample::select(others)),
        any::<bool>(),
    )
        .prop_map(
            |(containing, after, limit, fields, other, is_reversed)| Question {
                containing,
                after,
                limit,
                fields,
                other,
                is_reversed,
            },
        )
}

impl Question {
    fn target(&self) -> String {
        let path = match &self.containing {
            Some((_, written)) => format!("/api/robots/search/{written}"),
            None => "/api/robots".to_owned(),
        };
        let fields = self.fields.as_ref();
        let mut parameters: Vec<String> = [
            self.after
                .as_ref()
                .map(|(_, written)| format!("after={written}")),
            self.limit.map(|limit| format!("limit={limit}")),
            fields.map(|fields| format!("f%69elds={}", fields.join("%2C"))),
            self.other.map(str::to_owned),
        ]
        .into_iter()
        .flatten()
        .collect();
        if self.is_reversed {
            parameters.reverse();
        }
        format!("{path}?{}", parameters.join("&"))
    }

    /// The elements of the whole list, as the contract has them.
    fn elements(&self, service: &Service) -> Vec<String> {
        let text = |side: &Option<(String, String)>| side.clone().unwrap_or_default().0;
        let (containing, after) = (text(&self.containing), text(&self.after));
        let fields = self.fields.clone().unwrap_or(vec!["id", "name"]);
        let robots = service.robots().into_iter();
        robots
            .filter(|robot| robot.name().contains(&containing) && *robot.name() > *after)
            .map(|robot| {
                let name = serde_json::to_string(robot.name()).unwrap();
                let member = |field: &&str| match *field {
                    "id" => format!("\"id\":\"{}\"", robot.id()),
                    "name" => format!("\"name\":{}", without_markup(&name)),
                    "type" => format!("\"type\":\"{}\"", robot.robot_type().as_str()),
                    _ => format!("\"year\":{}", robot.year()),
                };
                let members: Vec<_> = fields.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            })
            .collect()
    }
}

fn without_markup(json: &str) -> String {
    let escapes = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026")];
    escapes
        .iter()
        .fold(json.to_owned(), |json, (character, escape)| {
            json.replace(*character, escape)
        })
}

/// Where `Link` leads, if there is one.
fn next(answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let target = link
        .strip_prefix('<')
        .unwrap()
        .strip_suffix(">; rel=\"next\"")
        .unwrap();
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%/?&=,".contains(&byte);
    assert!(target.bytes().all(is_safe), "{target}");
    Some(target.to_owned())
}

proptest! {
    #![proptest_config(configuration(1500))]

    #[test]
    fn a_list_is_what_a_look_at_every_name_makes_it(names in names(), question in question()) {
        let service = Service::of(&names);
        let elements = question.elements(&service);
        let answer = service.get(&question.target());
        prop_assert_eq!(answer.status, 200);
        let shown = question.limit.unwrap_or(elements.len()).min(elements.len());
        prop_assert_eq!(&answer.body, &format!("[{}]", elements[..shown].join(",")));
        prop_assert_eq!(next(&answer).is_some(), shown < elements.len());
    }

    #[test]
    fn links_lead_through_the_whole_list(names in names(), question in question()) {
        let question = Question { limit: question.limit.or(Some(2)), ..question };
        let service = Service::of(&names);
        let mut target = Some(question.target());
        let mut pages = Vec::new();
        while let Some(page) = target {
            // A page too many is enough, should there be no end to them.
            prop_assert!(pages.len() <= names.len());
            let answer = service.get(&page);
            prop_assert_eq!(answer.status, 200);
            let inner = answer.body.strip_prefix('[').and_then(|body| body.strip_suffix(']'));
            pages.push(inner.unwrap().to_owned());
            target = next(&answer);
        }
        prop_assert_eq!(pages.join(","), question.elements(&service).join(","));
    }

    #[test]
    fn a_needle_is_decoded_once(
        names in names(),
        pieces in vec(
            prop::sample::select(vec!["%", "%2", "%zz", "%25", "%2f", "%C3", "%A9", "+", "a", "é", "%c3%a9"]),
            0..4,
        ),
    ) {
        let needle = pieces.concat();
        let service = Service::of(&names);
        let answer = service.get(&format!("/api/robots/search/{needle}?fields=name"));
        let Ok(text) = String::from_utf8(decoded(&needle)) else {
            prop_assert_eq!(answer.status, 400);
            return Ok(());
        };
        let found = service.robots().into_iter().filter(|robot| robot.name().contains(&text));
        let mut expected = String::new();
        for robot in found {
            let name = serde_json::to_string(robot.name()).unwrap();
            write!(expected, ",{{\"name\":{}}}", without_markup(&name)).unwrap();
        }
        prop_assert_eq!(answer.body, format!("[{}]", expected.trim_start_matches(',')));
    }

    #[test]
    fn a_parameter_that_cannot_be_is_refused(
        question in question(),
        wrong in prop::sample::select(vec![
            "limit=0", "limit=", "limit=1001", "limit=-1", "limit=%2B1", "limit=1e2", "limit=1.0",
            "limit=99999999999999999999", "limit", "fields=", "fields", "fields=id,id", "fields=ID",
            "fields=id,,name", "fields=%FF", "after=%FF", "%61fter=%C3", "limit=1&limit=1",
            "fields=id&fields=id", "after=&after=",
        ]),
        is_first in any::<bool>(),
    ) {
        let target = question.target();
        let (path, query) = target.split_once('?').unwrap();
        let query = if is_first { format!("{wrong}&{query}") } else { format!("{query}&{wrong}") };
        prop_assert_eq!(Service::of(["a"]).get(&format!("{path}?{query}")).status, 400);
    }

    #[test]
    fn whatever_is_asked_is_answered(names in names(), query in prop_oneof![
        mutated(question().prop_map(|question| question.target().into_bytes())),
        vec(any::<u8>(), 0..40).prop_map(|bytes| [b"/api/robots?", &bytes[..]].concat()),
    ]) {
        // The shape of the answer is what matters, and it is looked at for each.
        Service::of(&names).get(&String::from_utf8_lossy(&query));
    }
}
