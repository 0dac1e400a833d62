//! A search finds what a plain look at every name finds, however the names came about.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(feature = "sqlite")]
mod unindexed;

use std::sync::Arc;

use proptest::{collection::vec, prelude::*, sample::Index};
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
use robot_core::SqliteCatalogue;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use robot_core::conformance::scratch_database;
use robot_core::{
    Catalogue, CatalogueExt, Draft, Error, MemoryCatalogue, PageRequest, Pages, Robot, RobotId,
    load,
};

#[cfg(feature = "sqlite")]
use unindexed::let_the_index_take_all;

/// What names are made of: few pieces, so that they contain one another, and those that one
/// store or another might read as something else than themselves.
const PIECES: [&str; 20] = [
    "a",
    "b",
    "A",
    "B",
    "e",
    "e\u{301}",
    "\u{301}",
    "é",
    "É",
    "'",
    "\"",
    "%",
    "_",
    "*",
    "(",
    " ",
    "AND",
    "NEAR",
    "🤖",
    "🤖\u{fe0f}",
];

/// One step. Robots are chosen among those that there are.
#[derive(Debug, Clone)]
enum Step {
    Add(String),
    Rename(Index, String),
    Delete(Index),
}

/// What to look for.
#[derive(Debug, Clone)]
enum Needle {
    Text(String),
    /// So many characters of a name, from one of them on.
    Part(Index, Index, usize),
}

/// One page to read: after a text, so many robots.
type Place = (String, usize);

/// What is done to a catalogue, and what is then looked for.
type Round = (Vec<Step>, Vec<(Needle, Place)>);

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(prop::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

/// Names of which some are long, so that a store has to spread them.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => text(1..8),
        1 => (text(1..8), 100..200_usize).prop_map(|(name, length)| name + &"🤖".repeat(length)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => name().prop_map(Step::Add),
        2 => (any::<Index>(), name()).prop_map(|(which, name)| Step::Rename(which, name)),
        2 => any::<Index>().prop_map(Step::Delete),
    ]
}

fn needle() -> impl Strategy<Value = Needle> {
    prop_oneof![
        text(1..5).prop_map(|text| Needle::Text(text.chars().take(4).collect())),
        (any::<Index>(), any::<Index>(), 1..5_usize)
            .prop_map(|(name, start, length)| Needle::Part(name, start, length)),
        prop_oneof![Just(""), Just("\0"), Just("a\0b")]
            .prop_map(|text| Needle::Text(text.to_owned())),
    ]
}

impl Needle {
    fn among(&self, names: &[String]) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Part(..) if names.is_empty() => "a".to_owned(),
            Self::Part(name, start, length) => {
                let name: Vec<char> = name.get(names).chars().collect();
                name.iter()
                    .skip(start.index(name.len()))
                    .take(*length)
                    .collect()
            }
        }
    }
}

/// Does the step, where there is a robot to do it to. A name may be taken.
fn take(step: Step, catalogue: &impl Catalogue, ids: &mut Vec<RobotId>) {
    let result = match step {
        Step::Add(name) => catalogue
            .add(Draft::new(name, "droid", 1977))
            .map(|robot| ids.push(robot.id())),
        Step::Rename(..) | Step::Delete(_) if ids.is_empty() => Ok(()),
        Step::Rename(which, name) => {
            catalogue.replace(*which.get(ids), Draft::new(name, "droid", 1977))
        }
        Step::Delete(which) => catalogue.delete(ids.swap_remove(which.index(ids.len()))),
    };
    assert!(
        matches!(result, Ok(()) | Err(Error::Rejected(_))),
        "{result:?}"
    );
}

fn names(catalogue: &impl Catalogue, containing: &str) -> Vec<String> {
    let robots = catalogue.search(containing).unwrap();
    robots.iter().map(|robot| robot.name().to_owned()).collect()
}

fn assert_finds_like_a_look_at_every_name(
    catalogue: &impl Catalogue,
    needle: &str,
    (after, limit): &Place,
) {
    let mut expected = names(catalogue, "");
    expected.retain(|name| name.contains(needle));
    assert_eq!(names(catalogue, needle), expected, "{needle:?}");

    let pages = Pages::new(catalogue, needle).page_size(*limit);
    // A page too many is enough, should there be no end to them.
    let pages = pages.take(expected.len() + 1);
    let sizes: Vec<usize> = pages.map(|page| page.unwrap().len()).collect();
    assert!(
        sizes.iter().rev().skip(1).all(|size| size == limit),
        "{needle:?}: {sizes:?}"
    );
    assert_eq!(sizes.iter().sum::<usize>(), expected.len(), "{needle:?}");

    let request = PageRequest {
        containing: needle,
        after,
        limit: *limit,
    };
    let page = catalogue.page(request).unwrap();
    let expected = expected.iter().filter(|name| *name > after).take(*limit);
    assert!(
        page.iter().map(Robot::name).eq(expected),
        "{request:?}: {page:?}"
    );
}

fn assert_searches(catalogue: impl Catalogue, rounds: Vec<Round>) {
    assert_searches_after(catalogue, rounds, |_| ());
}

/// The same, with something done after the steps of each round, by its number.
fn assert_searches_after(
    catalogue: impl Catalogue,
    rounds: Vec<Round>,
    mut prepare: impl FnMut(usize),
) {
    let mut ids = Vec::new();
    for (number, (steps, needles)) in rounds.into_iter().enumerate() {
        for step in steps {
            take(step, &catalogue, &mut ids);
        }
        prepare(number);
        let names = names(&catalogue, "");
        for (needle, place) in needles {
            let needle = needle.among(&names);
            assert_finds_like_a_look_at_every_name(&catalogue, &needle, &place);
        }
    }
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let place = (prop_oneof![text(0..4), Just("a\0b".to_owned())], 1..6_usize);
    vec((vec(step(), 1..60), vec((needle(), place), 1..6)), 1..5)
}

fn configuration(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configuration(200))]

    #[test]
    fn memory_searches(rounds in rounds()) {
        assert_searches(MemoryCatalogue::new(), rounds);
    }
}

proptest! {
    // A database of its own for each.
    #![proptest_config(configuration(24))]

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_searches(rounds in rounds()) {
        let folder = tempfile::tempdir().unwrap();
        assert_searches(sqlite(&folder), rounds);
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_searches_what_the_index_has_and_has_not_taken(rounds in rounds()) {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = sqlite(&folder);
        assert_searches_after(catalogue, rounds, |number| {
            if number % 2 == 0 {
                let_the_index_take_all(folder.path());
            }
        });
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_searches(rounds in rounds()) {
        assert_searches(on_a_server("TEST_POSTGRES_URL"), rounds);
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn mysql_searches(rounds in rounds()) {
        assert_searches(on_a_server("TEST_MYSQL_URL"), rounds);
    }
}

#[cfg(feature = "sqlite")]
fn sqlite(folder: &tempfile::TempDir) -> SqliteCatalogue {
    let url = format!("sqlite://{}/robots.db", folder.path().display());
    SqliteCatalogue::open(&url).unwrap()
}

#[cfg(any(feature = "postgres", feature = "mysql"))]
fn on_a_server(variable: &str) -> SqliteCatalogue {
    SqliteCatalogue::open(&scratch_database(variable)).unwrap()
}

/// Many more robots than any store looks at in one go, of which few, all or none are found.
fn assert_searches_many(catalogue: &Arc<impl Catalogue + 'static>) {
    // An order that has nothing to do with that of the names.
    let drafts = (0..20_000_u64).map(|number| {
        Draft::new(
            format!("Droid-{:05}", number * 7919 % 20_000),
            "droid",
            1977,
        )
    });
    assert!(load(Arc::clone(catalogue), drafts).all(|robot| robot.is_ok()));
    for needle in ["D", "9", "-0", "777", "0777", "-07777", "x", "Droid-1999"] {
        for place in [("", 1), ("Droid-07777", 5), ("Droid-1", 1000), ("E", 5)] {
            let (after, limit) = place;
            let place = (after.to_owned(), limit);
            assert_finds_like_a_look_at_every_name(catalogue, needle, &place);
        }
    }
}

#[test]
fn memory_searches_many() {
    assert_searches_many(&Arc::new(MemoryCatalogue::new()));
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_searches_many() {
    let folder = tempfile::tempdir().unwrap();
    assert_searches_many(&Arc::new(sqlite(&folder)));
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_searches_many() {
    assert_searches_many(&Arc::new(on_a_server("TEST_POSTGRES_URL")));
}
