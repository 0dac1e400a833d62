//! Cases: changes of the definition, and lists by the fields that it has.

use super::{
    Run,
    lists::{assert_listed, pages_limited_by_bytes_are_complete},
    names, ok,
    own_fields::{OWN, ROWS, add_each, assert_messages, assert_own, define, parse, part, with},
};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, DefinitionConflict, Error, Filter, Pages,
        Redefinition, Sort,
    },
    conformance::{Case, at_once, cases},
    model::{Definition, Revision, Robot},
};

pub(super) const CASES: &[Case<Run>] = cases![
    definition_is_replaced_once,
    values_exclude_a_definition_or_are_dropped,
    values_are_converted_to_another_kind,
    types_and_years_can_be_left_out,
    duplicates_exclude_a_unique_field,
    values_stay_unique_while_they_are_defined,
    changes_are_checked_by_the_present_definition,
    types_and_years_may_be_missing,
    equal_names_are_in_the_order_of_ids,
    own_filters_and_orders_are_paged_and_counted,
    pages_limited_by_bytes_are_complete,
];

fn definition_is_replaced_once(catalogue: &dyn Catalogue) {
    let mut present = Revision::FIRST;
    assert_eq!(catalogue.definition(), *Definition::built_in());
    for document in [OWN, r#"{"required": ["name"]}"#, "{}"] {
        let redefinition = || Redefinition {
            expected: Some(present),
            ..Redefinition::new(parse(document))
        };
        let results = at_once(4, |_| catalogue.define(redefinition()));
        let (defined, stale): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
        let is_stale = |result: &_| matches!(result, Err(Error::DefinitionStale));
        assert_eq!(
            (defined.len(), stale.iter().all(is_stale)),
            (1, true),
            "{stale:?}"
        );
        present = present.next();
        assert_eq!(catalogue.definition().revision(), present);
        assert_eq!(*catalogue.definition(), parse(document));
    }
}

/// Asserts that these robots exclude a definition, which stays as it is.
fn assert_excluded(catalogue: &dyn Catalogue, document: &str, robots: &[Robot], message: &str) {
    let before = catalogue.definition();
    let ids = robots.iter().take(5).map(|robot| robot.id().to_string());
    let ids = ids.collect::<Vec<_>>().join(", ");
    let which = format!("{} robots (ids {ids} and others)", robots.len());
    let error = catalogue.define(Redefinition::new(parse(document))).err();
    let error = error.map(|error| error.to_string());
    assert_eq!(error, Some(message.replace("ROBOTS", &which)));
    assert_eq!(catalogue.definition(), before);
}

fn values_exclude_a_definition_or_are_dropped(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let values = r#"{"maker": "m", "parts": 7, "notes": "Кот 🤖"}"#;
    let robots = add_each(catalogue, &[values; 7].join("\n"));
    ok(catalogue.add(with("other", r#"{"serial": "s"}"#)));
    let before = ok(catalogue.list());
    let message = "maker cannot be removed, because ROBOTS would lose the value";
    let removed = OWN.replace("maker", "made_by");
    assert_excluded(catalogue, &removed, &robots, message);
    assert_eq!(ok(catalogue.list()), before);
    drop_values(catalogue, &removed);
    assert_own(catalogue, &robots[6], r#"{"parts": 7, "notes": "Кот 🤖"}"#);
    let found = Filter::all().with_words("кот", &catalogue.definition());
    assert_eq!(ok(catalogue.count(&found)), 7);
    drop_values(catalogue, "{}");
    // Values do not come back, and new rules apply to new values only.
    define(catalogue, OWN);
    assert_own(catalogue, &robots[6], "{}");
    ok(catalogue.patch(robots[0].id(), part(r#"{"maker": "long", "serial": "s"}"#)));
    define(catalogue, &OWN.replace("200", "2"));
    assert_own(catalogue, &robots[0], r#"{"maker": "long", "serial": "s"}"#);
    // Rules are checked for values that change.
    ok(catalogue.patch(robots[0].id(), part(r#"{"maker": "long", "serial": "t"}"#)));
    let rejected = catalogue.patch(robots[0].id(), part(r#"{"maker": "longer"}"#));
    assert_messages(rejected, &["The maker must be at most 2 characters long"]);
}

fn drop_values(catalogue: &dyn Catalogue, document: &str) {
    let mut redefinition = Redefinition::new(parse(document));
    redefinition.drops_values = true;
    ok(catalogue.define(redefinition));
}

/// The keywords of a field, values, other keywords, and what the values become. Values that become `null` cannot be
/// converted.
const CONVERSIONS: [[&str; 4]; 9] = [
    [
        r#""type":"string""#,
        r#"["7","7.0"," 8","007","x"]"#,
        r#""type":"integer","index":true"#,
        "[7,7,8,null,null]",
    ],
    [
        r#""type":"string""#,
        r#"["-1.50","1e3","NaN"]"#,
        r#""type":"number","unique":true"#,
        "[-1.5,1000,null]",
    ],
    [
        r#""type":"string""#,
        r#"["yes","FALSE","1","2"]"#,
        r#""type":"boolean","index":true"#,
        "[true,false,true,null]",
    ],
    [
        r#""type":"string""#,
        r#"["2020-02-29","2020-02-29T00:00:00","2021-02-29"]"#,
        r#""type":"string","format":"date","index":true"#,
        r#"["2020-02-29","2020-02-29",null]"#,
    ],
    [
        r#""type":"string""#,
        r#"["a","b ","c"]"#,
        r#""enum":["a","b"]"#,
        r#"["a","b",null]"#,
    ],
    [
        r#""type":"number","unique":true"#,
        "[2.5,3,1e300]",
        r#""type":"integer","index":true"#,
        "[null,3,null]",
    ],
    [
        r#""type":"integer""#,
        "[0,1,2]",
        r#""type":"boolean""#,
        "[false,true,null]",
    ],
    [
        r#""type":"number""#,
        "[2.5,-7,1e300]",
        r#""type":"string","search":true"#,
        r#"["2.5","-7","1e+300"]"#,
    ],
    [
        r#""type":"boolean""#,
        "[true,false]",
        r#""type":"string","unique":true"#,
        r#"["true","false"]"#,
    ],
];

fn values_are_converted_to_another_kind(catalogue: &dyn Catalogue) {
    let document = |keywords| {
        format!(r#"{{"properties": {{"kept": {{"type": "string"}}, "v": {{{keywords}}}}}}}"#)
    };
    let read = |json| -> Vec<serde_json::Value> { serde_json::from_str(json).unwrap_or_default() };
    for [before, values, after, converted] in CONVERSIONS {
        define(catalogue, &document(before));
        let member = |value: &serde_json::Value| format!(r#"{{"kept": "a", "v": {value}}}"#);
        let values = read(values);
        let members: Vec<_> = values.iter().map(member).collect();
        let robots = add_each(catalogue, &members.join("\n"));
        let converted = read(converted);
        let pairs = robots.iter().zip(&converted);
        let lost: Vec<_> = pairs.filter(|(_, value)| value.is_null()).collect();
        let defined = catalogue.define(Redefinition::new(parse(&document(after))));
        let ids: Vec<_> = lost.iter().map(|(robot, _)| robot.id()).collect();
        match defined {
            Err(Error::DefinitionConflict {
                conflict,
                robots,
                ids: named,
                values,
                ..
            }) => {
                assert_eq!(conflict, DefinitionConflict::HaveOtherKinds);
                assert_eq!(
                    (robots, named, values.len()),
                    (ids.len() as u64, ids.clone(), ids.len())
                );
                drop_values(catalogue, &document(after));
            }
            defined => assert_eq!(
                (defined.is_ok(), lost.len()),
                (true, 0),
                "{after}: {defined:?}"
            ),
        }
        for (robot, value) in robots.iter().zip(&converted) {
            let own = if value.is_null() {
                r#"{"kept": "a"}"#.to_owned()
            } else {
                member(value)
            };
            assert_own(catalogue, robot, &own);
        }
        let present = ok(catalogue.list());
        assert_filters(catalogue, &present, "|v=|kept=a");
        for robot in &robots {
            ok(catalogue.delete(robot.id()));
        }
    }
    // Values that become equal exclude a unique field.
    define(catalogue, &document(r#""type":"string""#));
    add_each(catalogue, "{\"v\": \"1\"}\n{\"v\": \"1.0\"}");
    let unique = document(r#""type":"integer","unique":true"#);
    let defined = catalogue.define(Redefinition::new(parse(&unique)));
    let is_excluded = |conflict| conflict == DefinitionConflict::HaveDuplicates;
    assert!(
        matches!(defined, Err(Error::DefinitionConflict { conflict, .. }) if is_excluded(conflict)),
        "{defined:?}"
    );
}

fn types_and_years_can_be_left_out(catalogue: &dyn Catalogue) {
    let robots = ["a", "b"].map(|name| super::add(catalogue, name));
    let document = r#"{"properties": {"type": false, "year": false}, "required": ["name"]}"#;
    let defined = catalogue.define(Redefinition::new(parse(document)));
    assert!(
        matches!(defined, Err(Error::DefinitionConflict { .. })),
        "{defined:?}"
    );
    drop_values(catalogue, document);
    assert_messages(
        catalogue.add(super::draft("c")),
        &[
            "type is not a field of this catalogue",
            "year is not a field of this catalogue",
        ],
    );
    ok(catalogue.add(super::named("c")));
    define(catalogue, r#"{"required": ["name"]}"#);
    for robot in robots {
        let robot = ok(catalogue.get(robot.id())).unwrap_or(robot);
        assert_eq!((robot.robot_type(), robot.year()), (None, None));
    }
}

fn duplicates_exclude_a_unique_field(catalogue: &dyn Catalogue) {
    let free = r#"{"properties": {"slot": {"type": "number", "unique": false}, "name": {"unique": false}}}"#;
    define(catalogue, free);
    let slots = ["1", "2.5", "1.0", "3", "2.5", "1e0", "3.0"];
    let members = slots.map(|slot| format!(r#"{{"name": "a", "slot": {slot}}}"#));
    let robots = add_each(catalogue, &members.join("\n"));
    let message =
        "cannot be unique, because ROBOTS have a value that others have; change these first";
    let unique = free.replacen("false", "true", 1);
    assert_excluded(catalogue, &unique, &robots, &format!("slot {message}"));
    let both = unique.replace("false", "true");
    for (number, robot) in robots.iter().enumerate() {
        let slot = format!(r#"{{"slot": {number}}}"#);
        ok(catalogue.patch(robot.id(), part(&slot)));
    }
    assert_excluded(catalogue, &both, &robots, &format!("name {message}"));
    define(catalogue, &unique);
    assert_messages(
        catalogue.add(with("a", r#"{"slot": 3}"#)),
        &["The slot must be unique"],
    );
}

fn values_stay_unique_while_they_are_defined(catalogue: &dyn Catalogue) {
    let unique = r#"{"properties": {"serial": {"type": "string", "unique": true}}}"#;
    for round in 0..10 {
        define(catalogue, &unique.replace("true", "false"));
        let serial = format!(r#"{{"serial": "{round}"}}"#);
        let results = at_once(4, |thread| match thread {
            0 => catalogue.define(Redefinition::new(parse(unique))).is_ok(),
            thread => {
                let draft = with(&format!("{round} {thread}"), &serial);
                catalogue.add(draft).is_ok()
            }
        });
        let added = results[1..].iter().filter(|is_added| **is_added).count();
        assert_eq!(added == 1, results[0], "{results:?}");
        let found = ok(catalogue.count(&Filter::from(&format!("{round} "))));
        assert_eq!(found, added as u64);
    }
}

/// Changes that an earlier definition has checked are stored by the present one, or rejected: no value that is
/// acknowledged is lost.
fn changes_are_checked_by_the_present_definition(catalogue: &dyn Catalogue) {
    let document = |kind| {
        let field = format!(r#""n": {{"type": "{kind}", "index": true}}"#);
        format!(r#"{{"properties": {{"name": {{"unique": false}}, {field}}}}}"#)
    };
    let earlier = define(catalogue, &document("integer"));
    let robot = ok(catalogue.add(with("a", r#"{"n": 1}"#)));
    let insert = || {
        earlier
            .validate(with("b", r#"{"n": 2}"#))
            .map(Change::Insert)
    };
    let update = |members| {
        let changes = earlier.validate_patch(part(members), &[]);
        changes.map(|changes| Change::Update(robot.id(), None, changes))
    };
    let replace = || {
        let draft = earlier.validate(with("c", r#"{"n": 4}"#));
        draft.map(|draft| Change::Update(robot.id(), None, draft.into()))
    };
    let changes = || {
        let changes = [insert(), update(r#"{"n": 3}"#), replace()];
        changes.map(|change| change.unwrap_or_else(|rejection| panic!("{rejection}")))
    };
    for (definition, message) in [
        (document("string"), "The n must be a string"),
        ("{}".to_owned(), "n is not a field of this catalogue"),
    ] {
        let mut redefinition = Redefinition::new(parse(&definition));
        redefinition.drops_values = true;
        ok(catalogue.define(redefinition));
        let before = ok(catalogue.list());
        for change in changes() {
            assert_messages(catalogue.apply(change.clone()), &[message]);
            assert_messages(catalogue.apply_all(vec![change]), &[message]);
        }
        for pending in changes().map(|change| catalogue.start(change, None)) {
            assert_messages(pending.wait(), &[message]);
        }
        assert_eq!(ok(catalogue.list()), before);
    }
    // What the present definition permits is stored.
    define(catalogue, &document("integer").replace("integer", "number"));
    let stored = changes().map(|change| ok(catalogue.apply(change)));
    assert_own(
        catalogue,
        &ok(catalogue.get(stored[0].id)).unwrap_or(robot),
        r#"{"n": 2}"#,
    );
}

fn types_and_years_may_be_missing(catalogue: &dyn Catalogue) {
    let document = r#"{"required": ["name"], "properties": {"year": {"minimum": -5000}}}"#;
    define(catalogue, document);
    let members = r#"{"name": "a", "type": "droid", "year": -1}
        {"name": "b", "year": -5000}
        {"name": "c", "type": "droid"}
        {"name": "d"}
        {"name": "e", "type": "virtual", "year": 3}"#;
    let add = |members| ok(catalogue.add(part(members)));
    let robots: Vec<_> = members.lines().map(add).collect();
    let queries = "|year=|type=|type=&year=|year_to=-1|type=droid&type=|year_from=-5000";
    assert_filters(catalogue, &robots, queries);
}

fn equal_names_are_in_the_order_of_ids(catalogue: &dyn Catalogue) {
    define(catalogue, r#"{"properties": {"name": {"unique": false}}}"#);
    let robots = ["b", "a", "c", "a", "b", "a"].map(|name| super::add(catalogue, name));
    assert_filters(catalogue, &robots, "|name=a|name=x");
    assert_eq!(ok(catalogue.find("a")).as_ref(), Some(&robots[1]));
    ok(catalogue.patch(robots[5].id(), super::named("b")));
    ok(catalogue.delete(robots[1].id()));
    assert_eq!(ok(catalogue.find("a")).as_ref(), Some(&robots[3]));
    assert_eq!(names(&ok(catalogue.list())), ["a", "b", "b", "b", "c"]);
}

/// A filter with the conditions of a query.
pub(super) fn filter(definition: &Definition, query: &str) -> Filter {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.fold(Filter::all(), |filter, (name, text)| {
        let mut conditions = definition.conditions();
        let condition = conditions.find(|condition| condition.name() == name);
        let parsed =
            condition.and_then(|condition| Some((condition.clone(), condition.parse(text).ok()?)));
        let (condition, value) = parsed.unwrap_or_else(|| panic!("{name}={text}"));
        filter.and(condition, value)
    })
}

/// Asserts that the robots are listed and counted with each of these queries, in all orders, and that
/// lists continue at the text of any place.
fn assert_filters(catalogue: &dyn Catalogue, robots: &[Robot], queries: &str) {
    let definition = catalogue.definition();
    for query in queries.split('|') {
        assert_listed(catalogue, robots, &filter(&definition, query));
    }
    for sort in Sort::all(&definition) {
        let sorted = Pages::new(catalogue, "").sorted(sort.clone()).flat_map(ok);
        let sorted: Vec<Robot> = sorted.collect();
        for (index, robot) in sorted.iter().enumerate() {
            let place = Cursor::after(sort.clone(), robot).to_string();
            let cursor = Cursor::parse(&place, &definition).unwrap_or_default();
            let rest = Pages::new(catalogue, "").starting_at(cursor).flat_map(ok);
            assert_eq!(rest.collect::<Vec<Robot>>(), sorted[index + 1..], "{place}");
        }
    }
}

fn own_filters_and_orders_are_paged_and_counted(catalogue: &dyn Catalogue) {
    define(catalogue, OWN);
    let robots = add_each(catalogue, ROWS);
    let queries = "|maker=ACME&maker=|weight=1e300&weight=0.0&weight=|weight_from=-0.1&weight_to=9.5\
                   |parts_from=9007199254740993|acquired=2020-02-29|acquired_from=2000-01-01&lent=true&lent=\
                   |lent=false|state=it's \"poor\"|serial=é:1|slot=1e19|slot_to=0&serial=a";
    assert_filters(catalogue, &robots, queries);
}
