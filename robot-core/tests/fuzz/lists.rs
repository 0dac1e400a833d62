//! Lists: search, query parameters and `Link`.

use std::collections::BTreeSet;

use proptest::{collection::vec, prelude::*};
use robot_core::fold;

use crate::{
    configuration,
    encoding::encoded,
    mutation::mutated,
    service::{Answer, Service, request as request_to},
};

/// The pieces of names and search texts: few, so that texts contain one another, and with a meaning
/// in a path, a query, a header, HTML or a pattern.
const PIECES: &str = "a|b|A|%|%2F|%25|+| |/|?|&|=|#|<|>|\"|\\|;|\r\n|\u{301}|é|E|Ж|🤖|*|_";

fn text(count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let pieces: Vec<_> = PIECES.split('|').collect();
    vec(prop::sample::select(pieces), count).prop_map(|pieces| pieces.concat())
}

fn names() -> impl Strategy<Value = BTreeSet<String>> {
    prop::collection::btree_set(text(1..5), 0..12)
}

/// A text, and one of its encodings in a path or a query.
fn written(text: impl Strategy<Value = String>) -> impl Strategy<Value = (String, String)> {
    encoded(text.prop_map(String::into_bytes))
        .prop_map(|(bytes, written)| (String::from_utf8_lossy(&bytes).into_owned(), written))
}

/// The parameters of a list, each with its encoding.
#[derive(Debug, Clone)]
struct ListRequest {
    containing: Option<(String, String)>,
    after: Option<(String, String)>,
    limit: Option<usize>,
    fields: Option<Vec<&'static str>>,
    /// Ignored without a search.
    fold: Option<bool>,
    /// Ignored parameters.
    other: Option<&'static str>,
    /// Whether the parameters are in reverse order.
    is_reversed: bool,
}

fn request() -> impl Strategy<Value = ListRequest> {
    let fields = prop::sample::subsequence(vec!["id", "name", "type", "year"], 1..=4);
    let others = "|x=1|Limit=0|limit%00=0|fields2=|=|%FF=%FF|&&";
    let others: Vec<_> = others.split('|').collect();
    (
        prop::option::weighted(0.7, written(text(0..3))),
        prop::option::of(written(text(0..3))),
        prop::option::of(1..5_usize),
        prop::option::of(fields.prop_shuffle()),
        prop::option::of(any::<bool>()),
        prop::option::of(prop::sample::select(others)),
        any::<bool>(),
    )
        .prop_map(
            |(containing, after, limit, fields, fold, other, is_reversed)| ListRequest {
                containing,
                after,
                limit,
                fields,
                fold,
                other,
                is_reversed,
            },
        )
}

impl ListRequest {
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
            self.fold.map(|fold| format!("f%6Fld={fold}")),
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

    /// The elements of the whole list, according to the model.
    fn elements(&self, service: &Service) -> Vec<String> {
        let text = |side: &Option<(String, String)>| side.clone().unwrap_or_default().0;
        let (containing, after) = (text(&self.containing), text(&self.after));
        let fields = self.fields.clone().unwrap_or(vec!["id", "name"]);
        let contains = |name: &str| match self.fold {
            Some(true) => fold(name).contains(&*fold(&containing)),
            _ => name.contains(&containing),
        };
        let robots = service.robots().into_iter();
        robots
            .filter(|robot| contains(robot.name()) && *robot.name() > *after)
            .map(|robot| {
                let name = serde_json::to_string(robot.name()).unwrap();
                let member = |field: &&str| match *field {
                    "id" => format!("\"id\":\"{}\"", robot.id()),
                    "name" => format!("\"name\":{}", without_markup(&name)),
                    "type" => format!("\"type\":\"{}\"", robot.robot_type().unwrap()),
                    _ => format!("\"year\":{}", robot.year().unwrap()),
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

/// The target of `Link`, if there is one.
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
    fn links_lead_through_the_list_of_the_model(names in names(), request in request()) {
        let service = Service::of(&names);
        let mut elements = request.elements(&service);
        let mut target = Some(request.target());
        while let Some(page) = target {
            let answer = service.get(&page);
            prop_assert_eq!(answer.status, 200);
            let rest = elements.split_off(request.limit.unwrap_or(usize::MAX).min(elements.len()));
            prop_assert_eq!(&answer.body, &format!("[{}]", elements.join(",")));
            target = next(&answer);
            prop_assert_eq!(target.is_some(), !rest.is_empty());
            elements = rest;
        }
    }

    #[test]
    fn invalid_parameter_returns_400(
        request in request(),
        wrong in prop::sample::select(vec![
            "limit=0", "limit=", "limit=1001", "limit=-1", "limit=%2B1", "limit=1e2", "limit=1.0",
            "limit=99999999999999999999", "limit", "fields=", "fields", "fields=id,id", "fields=ID",
            "fields=id,,name", "fields=%FF", "after=%FF", "%61fter=%C3", "limit=1&limit=1",
            "fields=id&fields=id", "after=&after=",
        ]),
        wrong_fold in prop::sample::select(vec!["fold=", "fold", "fold=1", "fold=TRUE", "fold=%FF"]),
        is_first in any::<bool>(),
    ) {
        let target = request.target();
        let (path, query) = target.split_once('?').unwrap();
        let query = if is_first { format!("{wrong}&{query}") } else { format!("{query}&{wrong}") };
        prop_assert_eq!(Service::of(["a"]).get(&format!("{path}?{query}")).status, 400);
        if request.containing.is_some() {
            let target = format!("{target}&{wrong_fold}");
            prop_assert_eq!(Service::of(["a"]).get(&target).status, 400);
        }
    }

    #[test]
    fn random_queries_are_answered(names in names(), query in prop_oneof![
        mutated(request().prop_map(|request| request.target().into_bytes())),
        vec(any::<u8>(), 0..40).prop_map(|bytes| [b"/api/robots?", &bytes[..]].concat()),
    ]) {
        // The service checks the form of each answer.
        if let Some(request) = request_to("GET", &String::from_utf8_lossy(&query)) {
            Service::of(&names).send(request);
        }
    }
}
