//! The cases for stores: the promises of [`Catalogue`], each held against a catalogue that
//! is empty at the start.

use std::{collections::HashSet, sync::Barrier, thread};

use super::{Case, cases};
use crate::{
    catalogue::{Catalogue, PageRequest, Pages},
    error::Error,
    robot::{Draft, Robot, RobotId, RobotType},
    rules::{NAME_LENGTH_LIMIT, ValidDraft, Violation},
};

/// Runs a case.
type Run = fn(&dyn Catalogue);

/// Every case.
pub(super) const CASES: &[Case<Run>] = cases![
    an_empty_catalogue_has_nothing,
    a_robot_that_was_added_is_there,
    every_type_and_year_is_kept,
    ids_are_distinct_and_never_come_back,
    a_taken_name_is_refused,
    all_broken_rules_are_reported_at_once,
    an_update_sets_all_three_members,
    an_update_may_keep_the_name,
    an_update_to_a_taken_name_changes_nothing,
    an_update_of_a_missing_robot_is_not_found,
    a_replacement_reports_all_broken_rules,
    a_name_that_was_given_up_is_free,
    a_deleted_robot_is_gone,
    names_differ_when_their_bytes_do,
    names_are_ordered_by_bytes,
    the_longest_names_are_kept,
    a_name_is_found_exactly,
    a_search_finds_parts_anywhere,
    a_search_has_no_wildcards,
    a_search_compares_bytes,
    a_search_for_what_no_name_contains_finds_nothing,
    pages_follow_one_another,
    pages_begin_behind_any_text,
    pages_of_a_search_hold_only_what_matches,
    pages_survive_changes_between_them,
    of_equal_inserts_at_once_one_succeeds,
    of_different_inserts_at_once_all_succeed,
    of_updates_to_one_name_at_once_one_succeeds,
    of_deletions_at_once_one_succeeds,
    a_reader_never_sees_half_an_update,
];

/// Names that careless stores confuse, misorder or mangle.
const DIFFICULT_NAMES: &[&str] = &[
    " ",
    "  ",
    " x",
    "x",
    "x ",
    "x  ",
    "\t",
    "\n",
    "\r\n",
    "X",
    "%",
    "_",
    "\\",
    "\\%",
    "*",
    "?",
    "[x]",
    "'",
    "''",
    "\"",
    "`",
    ";",
    "--",
    "/",
    "//",
    "a/b",
    "&",
    "<b>",
    "+",
    "%20",
    "%2F",
    "NULL",
    "null",
    "0",
    "1",
    "01",
    "1.0",
    "true",
    "é",
    "e\u{301}",
    "É",
    "ß",
    "ss",
    "ﬁ",
    "fi",
    "i",
    "I",
    "ı",
    "İ",
    "Å",
    "\u{212b}",
    "ａ",
    "a",
    "\u{7f}",
    "\u{80}",
    "\u{1}",
    "\u{1b}[31m",
    "\u{200b}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "🤖",
    "🤖🤖",
    "👩‍🚀",
    "日本",
    "עברית",
    "\u{202e}abc",
];

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn valid(draft: Draft) -> ValidDraft {
    ValidDraft::new(draft).unwrap_or_else(|rejection| panic!("{rejection}"))
}

fn add(catalogue: &dyn Catalogue, name: &str) -> Robot {
    catalogue
        .add(draft(name))
        .unwrap_or_else(|error| panic!("{name:?}: {error:?}"))
}

fn add_all(catalogue: &dyn Catalogue, names: impl IntoIterator<Item = impl AsRef<str>>) {
    for name in names {
        add(catalogue, name.as_ref());
    }
}

/// The value, or a failure of the case.
fn good<T>(result: crate::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{error:?}"))
}

fn get(catalogue: &dyn Catalogue, id: RobotId) -> Option<Robot> {
    good(catalogue.get(id))
}

fn names(robots: &[Robot]) -> Vec<&str> {
    robots.iter().map(Robot::name).collect()
}

/// Asserts that a search finds exactly these names, in this order.
#[track_caller]
fn assert_found(catalogue: &dyn Catalogue, containing: &str, expected: &[&str]) {
    let found = good(catalogue.search(containing));
    assert_eq!(names(&found), expected, "search for {containing:?}");
}

/// Asserts that a result is a rejection for exactly these broken rules.
#[track_caller]
fn assert_rejected<T: std::fmt::Debug>(result: crate::Result<T>, expected: &[Violation]) {
    match result {
        Err(Error::Rejected(violations)) => {
            assert!(
                violations.iter().eq(expected.iter().copied()),
                "{violations}"
            );
        }
        other => panic!("expected {expected:?}, got {other:?}"),
    }
}

#[track_caller]
fn assert_not_found<T: std::fmt::Debug>(result: crate::Result<T>, id: RobotId) {
    match result {
        Err(Error::NotFound(missing)) if missing == id => {}
        other => panic!("expected that {id} is not found, got {other:?}"),
    }
}

/// Runs so many calls at the same moment, each on a thread, and returns their results.
fn at_once<T: Send>(count: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (barrier, call) = (&barrier, &call);
                scope.spawn(move || {
                    barrier.wait();
                    call(number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| panic!("a call panicked")))
            .collect()
    })
}

fn an_empty_catalogue_has_nothing(catalogue: &dyn Catalogue) {
    assert_found(catalogue, "", &[]);
    assert_found(catalogue, "x", &[]);
    for number in [1, 2, i64::MAX] {
        let id = RobotId::new(number).unwrap_or_else(|| panic!("{number} is positive"));
        assert_eq!(get(catalogue, id), None);
        assert_not_found(catalogue.delete(id), id);
    }
    assert_eq!(good(catalogue.find("x")), None);
    assert!(Pages::new(catalogue, "").next().is_none());
}

fn a_robot_that_was_added_is_there(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(robot.name(), "R2-D2");
    assert_eq!(robot.robot_type(), RobotType::Droid);
    assert_eq!(robot.year(), 1977);
    assert_eq!(get(catalogue, robot.id()), Some(robot.clone()));
    assert_eq!(good(catalogue.find("R2-D2")), Some(robot.clone()));
    assert_eq!(good(catalogue.list()), [robot]);
}

fn every_type_and_year_is_kept(catalogue: &dyn Catalogue) {
    for robot_type in RobotType::ALL {
        for year in [0, 1, 1977, 2_147_483_648, 9_007_199_254_740_993, i64::MAX] {
            let name = format!("{robot_type} of {year}");
            let robot = good(catalogue.add(Draft::new(&name, robot_type.as_str(), year)));
            let kept = get(catalogue, robot.id());
            assert_eq!(kept.as_ref(), Some(&robot));
            assert_eq!((robot.robot_type(), robot.year()), (robot_type, year));
        }
    }
}

fn ids_are_distinct_and_never_come_back(catalogue: &dyn Catalogue) {
    let mut given = HashSet::new();
    for round in 0..20 {
        let robot = add(catalogue, "reborn");
        assert!(given.insert(robot.id()), "{} came back", robot.id());
        if round % 2 == 0 {
            let other = add(catalogue, &format!("other {round}"));
            assert!(given.insert(other.id()), "{} came back", other.id());
            good(catalogue.delete(other.id()));
        }
        good(catalogue.delete(robot.id()));
    }
}

fn a_taken_name_is_refused(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "virtual", 3)),
        &[Violation::NameTaken],
    );
    assert_rejected(
        catalogue.insert(&valid(draft("R2-D2"))),
        &[Violation::NameTaken],
    );
    assert_eq!(good(catalogue.list()), [robot]);
}

fn all_broken_rules_are_reported_at_once(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_rejected(
        catalogue.add(Draft::new("R2-D2", "toaster", -1)),
        &[
            Violation::TypeUnknown,
            Violation::NameTaken,
            Violation::YearNegative,
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("r2-d2", "toaster", 0)),
        &[Violation::TypeUnknown],
    );
    assert_rejected(
        catalogue.add(Draft::default()),
        &[
            Violation::TypeMissing,
            Violation::NameMissing,
            Violation::YearMissing,
        ],
    );
    assert_rejected(
        catalogue.add(Draft::new("\0".repeat(NAME_LENGTH_LIMIT + 1), "droid", 0)),
        &[Violation::NameTooLong, Violation::NameContainsNul],
    );
    assert_eq!(good(catalogue.list()), [robot]);
}

fn an_update_sets_all_three_members(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    let other = add(catalogue, "C-3PO");
    good(catalogue.replace(robot.id(), Draft::new("HAL", "virtual", 2001)));
    let updated = valid(Draft::new("HAL", "virtual", 2001)).with_id(robot.id());
    assert_eq!(get(catalogue, robot.id()), Some(updated.clone()));
    assert_eq!(good(catalogue.list()), [other, updated]);
}

fn an_update_may_keep_the_name(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    good(catalogue.replace(robot.id(), Draft::new("R2-D2", "mechanical", 0)));
    let updated = valid(Draft::new("R2-D2", "mechanical", 0)).with_id(robot.id());
    assert_eq!(good(catalogue.list()), std::slice::from_ref(&updated));
    good(catalogue.replace(robot.id(), updated.clone().into()));
    assert_eq!(good(catalogue.list()), [updated]);
}

fn an_update_to_a_taken_name_changes_nothing(catalogue: &dyn Catalogue) {
    let (first, second) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(second.id(), Draft::new("a", "virtual", 5)),
        &[Violation::NameTaken],
    );
    assert_eq!(good(catalogue.list()), [first, second]);
}

fn an_update_of_a_missing_robot_is_not_found(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    let gone = add(catalogue, "b").id();
    good(catalogue.delete(gone));
    for draft in [draft("c"), draft("a"), Draft::new("a", "toaster", -1)] {
        assert_not_found(catalogue.replace(gone, draft), gone);
    }
    assert_eq!(good(catalogue.list()), [robot]);
}

fn a_replacement_reports_all_broken_rules(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("b", "toaster", -1)),
        &[
            Violation::TypeUnknown,
            Violation::NameTaken,
            Violation::YearNegative,
        ],
    );
    // Its own name is not another's.
    assert_rejected(
        catalogue.replace(robot.id(), Draft::new("a", "toaster", 0)),
        &[Violation::TypeUnknown],
    );
    assert_eq!(good(catalogue.list()), [robot, other]);
}

fn a_name_that_was_given_up_is_free(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "a");
    good(catalogue.replace(robot.id(), draft("b")));
    assert_eq!(good(catalogue.find("a")), None);
    let second = add(catalogue, "a");
    good(catalogue.delete(second.id()));
    let third = add(catalogue, "a");
    assert_eq!(good(catalogue.find("a")), Some(third));
    assert_found(catalogue, "", &["a", "b"]);
}

fn a_deleted_robot_is_gone(catalogue: &dyn Catalogue) {
    let (robot, other) = (add(catalogue, "a"), add(catalogue, "b"));
    good(catalogue.delete(robot.id()));
    assert_eq!(get(catalogue, robot.id()), None);
    assert_eq!(good(catalogue.find("a")), None);
    assert_not_found(catalogue.delete(robot.id()), robot.id());
    assert_eq!(good(catalogue.list()), [other]);
}

fn names_differ_when_their_bytes_do(catalogue: &dyn Catalogue) {
    for name in DIFFICULT_NAMES {
        let robot = add(catalogue, name);
        assert_eq!(robot.name(), *name);
        assert_eq!(good(catalogue.find(name)), Some(robot.clone()), "{name:?}");
        assert_eq!(get(catalogue, robot.id()), Some(robot), "{name:?}");
    }
    for name in DIFFICULT_NAMES {
        assert_rejected(catalogue.add(draft(name)), &[Violation::NameTaken]);
    }
}

fn names_are_ordered_by_bytes(catalogue: &dyn Catalogue) {
    add_all(catalogue, DIFFICULT_NAMES);
    let mut sorted = DIFFICULT_NAMES.to_vec();
    sorted.sort_unstable_by_key(|name| name.as_bytes());
    assert_found(catalogue, "", &sorted);
}

fn the_longest_names_are_kept(catalogue: &dyn Catalogue) {
    for character in ["a", "é", "日", "🤖"] {
        let name = character.repeat(NAME_LENGTH_LIMIT);
        let robot = add(catalogue, &name);
        assert_eq!(get(catalogue, robot.id()), Some(robot));
        assert_rejected(
            catalogue.add(draft(&format!("{name}{character}"))),
            &[Violation::NameTooLong],
        );
        // They differ in the last character alone.
        let mut other = character.repeat(NAME_LENGTH_LIMIT - 1);
        other.push('z');
        add(catalogue, &other);
        assert_found(catalogue, &name, &[&name]);
    }
}

fn a_name_is_found_exactly(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(good(catalogue.find("R2-D2")), Some(robot));
    for name in [
        "r2-d2", "R2-D2 ", " R2-D2", "R2", "R2-D_", "%", "", "R2-D2\0", "\0",
    ] {
        assert_eq!(good(catalogue.find(name)), None, "{name:?}");
    }
    let long = "R".repeat(100_000);
    assert_eq!(good(catalogue.find(&long)), None);
}

fn a_search_finds_parts_anywhere(catalogue: &dyn Catalogue) {
    add_all(catalogue, ["R2-D2", "BB-8", "D2", "2", "x2-D2x"]);
    assert_found(catalogue, "2-D2", &["R2-D2", "x2-D2x"]);
    assert_found(catalogue, "D2", &["D2", "R2-D2", "x2-D2x"]);
    assert_found(catalogue, "2", &["2", "D2", "R2-D2", "x2-D2x"]);
    assert_found(catalogue, "BB", &["BB-8"]);
    assert_found(catalogue, "8", &["BB-8"]);
    assert_found(catalogue, "", &["2", "BB-8", "D2", "R2-D2", "x2-D2x"]);
}

fn a_search_has_no_wildcards(catalogue: &dyn Catalogue) {
    add_all(catalogue, DIFFICULT_NAMES);
    let mut sorted = DIFFICULT_NAMES.to_vec();
    sorted.sort_unstable();
    for part in DIFFICULT_NAMES {
        let expected: Vec<_> = sorted
            .iter()
            .copied()
            .filter(|name| name.contains(part))
            .collect();
        assert_found(catalogue, part, &expected);
    }
}

fn a_search_compares_bytes(catalogue: &dyn Catalogue) {
    add_all(
        catalogue,
        ["Robby", "robby", "É", "e\u{301}", "é", "Straße", "STRASSE"],
    );
    assert_found(catalogue, "robby", &["robby"]);
    assert_found(catalogue, "OBB", &[]);
    assert_found(catalogue, "é", &["é"]);
    assert_found(catalogue, "e", &["Straße", "e\u{301}"]);
    assert_found(catalogue, "\u{301}", &["e\u{301}"]);
    assert_found(catalogue, "SS", &["STRASSE"]);
}

fn a_search_for_what_no_name_contains_finds_nothing(catalogue: &dyn Catalogue) {
    add_all(catalogue, ["a", "ab"]);
    let long = "a".repeat(100_000);
    for part in ["b ", "ba", "\0", "a\0", "\0a", long.as_str(), "' OR 1=1 --"] {
        assert_found(catalogue, part, &[]);
    }
}

/// 25 names in order, `n00` to `n24`.
fn twenty_five() -> Vec<String> {
    (0..25).map(|number| format!("n{number:02}")).collect()
}

fn page_names(
    catalogue: &dyn Catalogue,
    containing: &str,
    after: &str,
    limit: usize,
) -> Vec<String> {
    let page = good(catalogue.page(PageRequest {
        containing,
        after,
        limit,
    }));
    page.iter().map(|robot| robot.name().to_owned()).collect()
}

fn pages_follow_one_another(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five().iter().rev());
    for size in [1, 7, 24, 25, 26, 1000] {
        let pages: Vec<Vec<Robot>> = Pages::new(catalogue, "")
            .page_size(size)
            .map(good)
            .collect();
        let (last, full) = pages.split_last().unwrap_or_else(|| panic!("no pages"));
        assert!(full.iter().all(|page| page.len() == size));
        assert!((1..=size).contains(&last.len()));
        assert_eq!(names(&pages.concat()), twenty_five(), "pages of {size}");
    }
}

fn pages_begin_behind_any_text(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    for (after, first) in [
        ("", Some("n00")),
        ("a", Some("n00")),
        ("n00", Some("n01")),
        ("n00\0", Some("n01")),
        ("n0", Some("n00")),
        ("n055", Some("n06")),
        ("N99", Some("n00")),
        ("n24", None),
        ("z", None),
        ("🤖", None),
    ] {
        let page = page_names(catalogue, "", after, 1);
        assert_eq!(page.first().map(String::as_str), first, "after {after:?}");
    }
    assert_eq!(page_names(catalogue, "", "n22", 10), ["n23", "n24"]);
}

fn pages_of_a_search_hold_only_what_matches(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    assert_eq!(page_names(catalogue, "5", "", 2), ["n05", "n15"]);
    assert_eq!(page_names(catalogue, "5", "n05", 2), ["n15"]);
    assert_eq!(page_names(catalogue, "n1", "n14", 3), ["n15", "n16", "n17"]);
    assert_eq!(page_names(catalogue, "5", "n15", 2), [""; 0]);
}

fn pages_survive_changes_between_them(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    let mut pages = Pages::new(catalogue, "").page_size(10);
    let mut seen = Vec::new();
    let mut next = |seen: &mut Vec<String>| {
        let page = pages.next().map(good).unwrap_or_default();
        seen.extend(page.iter().map(|robot| robot.name().to_owned()));
    };
    next(&mut seen);
    // The last one of the page goes, and new ones come before and behind it.
    let last = good(catalogue.find("n09")).unwrap_or_else(|| panic!("n09 is gone"));
    good(catalogue.delete(last.id()));
    add_all(catalogue, ["n05x", "n09x", "n30"]);
    next(&mut seen);
    next(&mut seen);
    let mut expected = twenty_five();
    expected.insert(10, "n09x".to_owned());
    expected.push("n30".to_owned());
    assert_eq!(seen, expected);
}

fn of_equal_inserts_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let results = at_once(24, |_| catalogue.add(draft("R2-D2")));
    let (added, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!(added.len(), 1);
    for result in refused {
        assert_rejected(result, &[Violation::NameTaken]);
    }
    assert_found(catalogue, "", &["R2-D2"]);
}

fn of_different_inserts_at_once_all_succeed(catalogue: &dyn Catalogue) {
    let added = at_once(16, |thread| {
        let names = (0..25).map(|number| format!("{thread} {number}"));
        names
            .map(|name| add(catalogue, &name).id())
            .collect::<Vec<_>>()
    });
    let ids: HashSet<_> = added.into_iter().flatten().collect();
    assert_eq!(ids.len(), 400);
    assert_eq!(good(catalogue.list()).len(), 400);
}

fn of_updates_to_one_name_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let robots: Vec<_> = (0..12)
        .map(|number| add(catalogue, &number.to_string()))
        .collect();
    let results = at_once(robots.len(), |number| {
        catalogue.replace(robots[number].id(), draft("chosen"))
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_rejected(result, &[Violation::NameTaken]);
    }
    assert_found(catalogue, "chosen", &["chosen"]);
    assert_eq!(good(catalogue.list()).len(), robots.len());
}

fn of_deletions_at_once_one_succeeds(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "R2-D2").id();
    let results = at_once(12, |_| catalogue.delete(id));
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_not_found(result, id);
    }
}

fn a_reader_never_sees_half_an_update(catalogue: &dyn Catalogue) {
    let id = add(catalogue, "one").id();
    let states = [
        Draft::new("one", "droid", 1977),
        Draft::new("two", "virtual", 2001),
    ];
    at_once(5, |thread| {
        for round in 0..100 {
            if thread == 0 {
                good(catalogue.replace(id, states[round % 2].clone()));
            } else {
                let robot = get(catalogue, id).unwrap_or_else(|| panic!("the robot is gone"));
                assert!(states.contains(&Draft::from(robot.clone())), "{robot:?}");
                let listed = good(catalogue.list());
                assert_eq!(listed.len(), 1, "{listed:?}");
            }
        }
    });
}
