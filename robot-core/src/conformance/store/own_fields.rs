//! Cases: the values of fields of the owner, and their rules.

use std::{fmt::Debug, sync::Arc};

use serde_json::json;

use super::{Run, draft, get, id, numbered, ok, restore};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, Error, Filter, PageRequest, Redefinition,
    },
    conformance::{Case, at_once, cases},
    model::{Definition, Draft, Robot, Rule, ValidDraft},
};

pub(super) const CASES: &[Case<Run>] = cases![
    values_of_every_kind_are_stored,
    taken_values_are_reported_in_order,
    equal_values_are_equal_in_every_form,
    concurrent_equal_values_succeed_once,
    taken_value_prevents_all_changes,
    own_values_are_restored,
    searches_find_own_values_after_every_change,
    texts_are_compared_by_bytes_with_and_without_an_index,
];

/// Fields of every kind beside the built-in ones, without limits.
pub(in crate::conformance) const OWN: &str = r#"{"properties": {
    "serial": {"type": "string", "unique": true},
    "maker": {"type": "string", "maxLength": 200, "index": true, "search": true},
    "notes": {"type": "string", "maxLength": 10000, "search": true},
    "weight": {"type": "number", "index": true},
    "parts": {"type": "integer"},
    "slot": {"type": "number", "unique": true},
    "acquired": {"type": "string", "format": "date"},
    "lent": {"type": "boolean"},
    "state": {"enum": ["good", "fair", "it's \"poor\""]}}}"#;

/// The members of robots with fields of `OWN`.
pub(in crate::conformance) const ROWS: &str = r#"{"maker": "ACME", "weight": 10, "parts": -1, "acquired": "2020-02-29", "lent": true, "state": "good"}
        {"maker": "acme", "weight": 9.5, "parts": 9007199254740993, "acquired": "1999-12-31", "lent": false}
        {"maker": "Ácme \"&:\\", "weight": -0.1, "parts": 9007199254740992, "serial": "b", "slot": 0.1}
        {"weight": 1e300, "acquired": "2020-01-01", "state": "it's \"poor\"", "serial": "a", "slot": -2}
        {"notes": "Made by ACME", "parts": 10, "lent": true, "serial": "é:1", "slot": 1e19}
        {"maker": "ACME", "weight": 0, "parts": 9, "state": "fair", "serial": "B"}
        {"weight": 10, "lent": false, "acquired": "2020-02-29", "state": "good", "slot": 9007199254740993}
        {"maker": null}"#;

/// Numbers, as clients send them and as they are stored.
const NUMBERS: &str = "0=0 -0=0 -0.0=0 1.0=1 1E2=100 -3=-3 0.1=0.1 0.30000000000000004=0.30000000000000004 1e-7=1e-7 \
    5e-324=5e-324 9007199254740993=9007199254740992 1e18=1000000000000000000 1e300=1e+300 2.50=2.5 \
    18446744073709551616=1.8446744073709552e+19 -1.7976931348623157e308=-1.7976931348623157e+308";

/// Texts that a database or a format may change, separated by `|`.
const TEXTS: &str =
    "\"|'|\\|\\u0041|a\"b\\c\n\t\r\u{1}|🤖|e\u{301}|é| x |x| x|null|NaN|%_*|$.maker|X";

/// Objects with one member, as clients send them and as they are stored.
pub(in crate::conformance) fn values() -> Vec<(String, String)> {
    let weight = |number| format!(r#"{{"weight":{number}}}"#);
    let numbers = NUMBERS.split(' ').filter_map(|pair| pair.split_once('='));
    let numbers = numbers.map(|(sent, kept)| (weight(sent), weight(kept)));
    let long = "🤖".repeat(10_000);
    let texts = TEXTS.split('|').chain([&*long]);
    let texts = texts.map(|text| json!({ "notes": text }).to_string());
    let others = r#"{"lent":true} {"lent":false} {"state":"fair"} {"acquired":"0001-02-28"}
        {"parts":9223372036854775807} {"parts":-9223372036854775808} {"parts":9007199254740993}"#;
    let others = others.split_whitespace().map(str::to_owned);
    let same = texts.chain(others).map(|text| (text.clone(), text));
    numbers.chain(same).collect()
}

pub(super) fn parse(document: &str) -> Definition {
    let parsed = document.parse();
    parsed.unwrap_or_else(|error| panic!("{document}: {error}"))
}

pub(super) fn define(catalogue: &dyn Catalogue, document: &str) -> Arc<Definition> {
    ok(catalogue.define(Redefinition::new(parse(document))))
}

/// A draft with these members only.
pub(super) fn part(members: &str) -> Draft {
    serde_json::from_str(members).unwrap_or_else(|error| panic!("{members}: {error}"))
}

/// A droid of 1977, unless the members say otherwise.
pub(super) fn with(name: &str, members: &str) -> Draft {
    let (whole, part) = (draft(name), part(members));
    Draft {
        name: part.name.or(whole.name),
        own: part.own,
        ..whole
    }
}

/// Adds a robot for each line of members. Their names are `a`, `b` and so on, unless the members say otherwise.
pub(super) fn add_each(catalogue: &dyn Catalogue, members: &str) -> Vec<Robot> {
    let drafts = members.lines().zip('a'..);
    let drafts = drafts.map(|(members, name)| with(&name.to_string(), members));
    drafts.map(|draft| ok(catalogue.add(draft))).collect()
}

fn valid_with(definition: &Definition, name: &str, members: &str) -> ValidDraft {
    let valid = definition.validate(with(name, members));
    valid.unwrap_or_else(|rejection| panic!("{rejection}"))
}

#[track_caller]
pub(super) fn assert_own(catalogue: &dyn Catalogue, robot: &Robot, expected: &str) {
    let robot = get(catalogue, robot.id()).map(Draft::from);
    assert_eq!(robot.unwrap_or_default().own, part(expected).own);
}

/// Asserts that a result is a rejection with these messages.
#[track_caller]
pub(super) fn assert_messages<T: Debug>(result: crate::Result<T>, expected: &[&str]) {
    match result {
        Err(Error::Rejected(violations)) => {
            assert_eq!(violations.messages(), expected);
            let taken = |message: &str| message.ends_with("must be unique");
            let mut rules = violations.iter().map(|one| (one.rule(), one.to_string()));
            assert!(rules.all(|(rule, text)| (rule == Rule::Taken) == taken(&text)));
        }
        other => panic!("expected {expected:?}, got {other:?}"),
    }
}

fn values_of_every_kind_are_stored(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let values = values();
    let sent: Vec<_> = values.iter().map(|(sent, _)| sent.as_str()).collect();
    let robots = add_each(catalogue, &sent.join("\n"));
    assert_eq!(ok(catalogue.list()), robots);
    // Each robot gets the value of another one.
    let others = values.iter().cycle().skip(1);
    for ((robot, (_, kept)), (sent, other)) in robots.iter().zip(&values).zip(others) {
        assert_own(catalogue, robot, kept);
        ok(catalogue.replace(robot.id(), with(robot.name(), sent)));
        assert_own(catalogue, robot, other);
        ok(catalogue.patch(robot.id(), part(r#"{"slot":0.1}"#)));
        assert_own(catalogue, robot, &other.replace('}', r#","slot":0.1}"#));
        ok(catalogue.replace(robot.id(), with(robot.name(), sent)));
    }
}

const NAME: &str = "The robot name must be unique";
const SERIAL: &str = "The serial must be unique";
const SLOT: &str = "The slot must be unique";

fn taken_values_are_reported_in_order(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let members = r#"{"serial": "s", "slot": 1}
        {"serial": "t", "slot": 2}
        {}"#;
    let robots = add_each(catalogue, members);
    let [first, second, third] = [0, 1, 2].map(|index| robots[index].id());
    for (members, messages) in [
        (
            r#"{"name":"a","serial":"s","slot":1}"#,
            &[NAME, SERIAL, SLOT][..],
        ),
        (
            r#"{"name":"b","serial":"s","slot":2.0}"#,
            &[NAME, SERIAL, SLOT],
        ),
        (r#"{"name":"d","serial":"t","slot":1}"#, &[SERIAL, SLOT]),
        (r#"{"name":"d","slot":2}"#, &[SLOT]),
        (r#"{"name":"a","serial":"u"}"#, &[NAME]),
    ] {
        let mut draft = with("", members);
        assert_messages(catalogue.add(draft.clone()), messages);
        assert_messages(catalogue.replace(third, draft.clone()), messages);
        assert_messages(catalogue.patch(third, part(members)), messages);
        let mut all = messages.to_vec();
        let year = usize::from(all[0] == NAME);
        all.insert(year, "The year cannot be less than zero");
        draft.year = Some(-1);
        assert_messages(catalogue.add(draft.clone()), &all);
        assert_messages(catalogue.patch(third, draft), &all);
    }
    assert_eq!(ok(catalogue.list()), robots);
    // A robot keeps its values, and takes those that another one has released.
    ok(catalogue.patch(first, part(r#"{"serial": "s", "slot": 3}"#)));
    ok(catalogue.patch(second, part(r#"{"slot": 1}"#)));
    ok(catalogue.delete(first));
    add_each(catalogue, r#"{"serial": "s", "slot": 3}"#);
}

fn equal_values_are_equal_in_every_form(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let mut seen = Vec::new();
    for (sent, kept) in values() {
        let unique = |text: &str| text.replace("weight", "slot").replace("notes", "serial");
        if unique(&sent) == sent || sent.len() > 255 {
            continue;
        }
        let added = catalogue.add(with(&sent, &unique(&sent)));
        assert_eq!(added.is_ok(), !seen.contains(&kept), "{sent}");
        let message = if sent.contains("notes") { SERIAL } else { SLOT };
        assert_messages(catalogue.add(with("again", &unique(&kept))), &[message]);
        seen.push(kept);
    }
}

/// Asserts that one of four threads succeeds, and the others get these messages.
fn assert_one_succeeds<T: Debug + Send>(
    messages: &[&str],
    call: impl Fn(usize) -> crate::Result<T> + Sync,
) {
    let results = at_once(4, call).into_iter();
    let (successes, rejections): (Vec<_>, Vec<_>) = results.partition(Result::is_ok);
    assert_eq!(successes.len(), 1, "{messages:?}");
    for result in rejections {
        assert_messages(result, messages);
    }
}

fn concurrent_equal_values_succeed_once(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let robots = add_each(catalogue, "{}\n{}\n{}\n{}");
    for round in 0..10 {
        let new = format!(r#"{{"serial": "{round}", "slot": {round}}}"#);
        assert_one_succeeds(&[SERIAL, SLOT], |thread| {
            catalogue.add(with(&format!("{round} {thread}"), &new))
        });
        let equal = format!(r#"{{"serial": "equal {round}"}}"#);
        assert_one_succeeds(&[NAME, SERIAL], |_| catalogue.add(with(&equal, &equal)));
        let changed = part(&format!(r#"{{"serial": "changed {round}"}}"#));
        assert_one_succeeds(&[SERIAL], |thread| {
            catalogue.patch(robots[thread].id(), changed.clone())
        });
    }
    assert_eq!(ok(catalogue.list()).len(), 24);
}

fn taken_value_prevents_all_changes(catalogue: &dyn Catalogue) {
    let definition = define(catalogue, OWN);
    let before = "{\"serial\": \"s\", \"lent\": true}\n{\"serial\": \"u\"}";
    let robots = add_each(catalogue, before);
    let valid = |name, members: &str| valid_with(&definition, name, members);
    let replaced = valid("c", r#"{"serial": "t", "weight": 0.1}"#);
    let apply = |serial: &str| {
        catalogue.apply_all(vec![
            Change::Update(robots[0].id(), None, replaced.clone().into()),
            Change::Insert(valid("d", r#"{"slot": 1}"#)),
            Change::Insert(valid("e", &format!(r#"{{"serial": "{serial}"}}"#))),
        ])
    };
    assert_messages(apply("u"), &[SERIAL]);
    assert_eq!(ok(catalogue.list()), robots);
    ok(apply("v"));
    assert_own(catalogue, &robots[0], r#"{"serial": "t", "weight": 0.1}"#);
    let taken = catalogue.add(with("f", r#"{"serial": "v", "slot": 1}"#));
    assert_messages(taken, &[SERIAL, SLOT]);
}

fn own_values_are_restored(catalogue: &dyn Catalogue) {
    let definition = define(catalogue, OWN);
    let robot = |number: i64, members: &str| {
        valid_with(&definition, &number.to_string(), members).with_id(id(number))
    };
    let first = robot(3, r#"{"serial": "s", "maker": "'\"\\🤖"}"#);
    let robots = [first, robot(7, r#"{"slot": 0.1, "lent": false}"#)];
    ok(restore(catalogue, &robots, None));
    for (number, members, message) in [
        (8, r#"{"serial": "s"}"#, SERIAL),
        (9, r#"{"serial": "t", "slot": 0.1}"#, SLOT),
        (9, r#"{"serial": "s", "slot": 0.1}"#, SERIAL),
        (3, r#"{"serial": "s"}"#, "The robot id must be unique"),
    ] {
        let conflicting = [robot(5, r#"{"maker": "m"}"#), robot(number, members)];
        let error = restore(catalogue, &conflicting, None).map_err(|error| error.to_string());
        let expected = format!("The robot {number} cannot be restored: {message}");
        assert_eq!(error, Err(expected));
        assert_eq!(ok(catalogue.list()), numbered(&robots, 0));
    }
}

/// More robots than a store adds to its search index at once, of which some are not in it yet.
fn searches_find_own_values_after_every_change(catalogue: &dyn Catalogue) {
    let document = |search| {
        format!(r#"{{"properties": {{"maker": {{"type": "string", "search": {search}}}}}}}"#)
    };
    let found = |words: &str| {
        let definition = catalogue.definition();
        let filter = Filter::all().with_words(words, &definition);
        ok(catalogue.count(&filter))
    };
    define(catalogue, &document(false));
    let insert = |number: usize| {
        let draft = with(&format!("unit {number}"), r#"{"maker": "ÁCME"}"#);
        let valid = catalogue.definition().validate(draft);
        Change::Insert(valid.unwrap_or_else(|rejection| panic!("{rejection}")))
    };
    let receipts = ok(catalogue.apply_all((0..300).map(insert).collect()));
    assert_eq!((found("acme"), found("unit 7 unit")), (0, 57));
    define(catalogue, &document(true));
    assert_eq!(found("acme 29 unit"), 13);
    let added = ok(catalogue.add(with("late", r#"{"maker": "Acme"}"#)));
    assert_eq!(found("ACME"), 301);
    // A rename keeps the own texts, also of a robot that is not in the index.
    for id in [added.id(), receipts[0].id] {
        ok(catalogue.patch(id, part(&format!(r#"{{"name": "renamed {id}"}}"#))));
    }
    assert_eq!((found("acme"), found("renamed acme")), (301, 2));
    ok(catalogue.patch(receipts[1].id, part(r#"{"maker": "other"}"#)));
    assert_eq!((found("acme"), found("OTHER")), (300, 1));
    define(catalogue, &document(false));
    assert_eq!((found("acme"), found("renamed")), (0, 2));
}

fn texts_are_compared_by_bytes_with_and_without_an_index(catalogue: &dyn Catalogue) {
    for index in [false, true] {
        let own = format!(
            r#"{{"properties": {{"state": {{"enum": ["Good", "good", "good ", "göod"],
            "index": {index}}}}}}}"#
        );
        let definition = define(catalogue, &own);
        let Some(state) = definition.field("state") else {
            panic!("a field is missing");
        };
        if !index {
            for text in state.choices() {
                ok(catalogue.add(with(text, &json!({ "state": text }).to_string())));
            }
        }
        let counts = ok(catalogue.value_counts(&Filter::all(), state));
        let texts: Vec<_> = counts
            .iter()
            .map(|(text, count)| {
                (
                    text.as_ref().map(ToString::to_string).unwrap_or_default(),
                    *count,
                )
            })
            .collect();
        let expected = ["Good", "good", "good ", "göod"].map(|text| (text.to_owned(), 1));
        assert_eq!(texts, expected);
        for text in state.choices() {
            let filter = Filter::all().with(state.clone(), text.clone().into_owned());
            let found = ok(catalogue.page(PageRequest::new(&filter, &Cursor::default())));
            assert!(
                found.items.iter().map(Robot::name).eq([&**text]),
                "{text:?}: {found:?}"
            );
        }
    }
}
