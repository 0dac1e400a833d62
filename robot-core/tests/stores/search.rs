//! Property test: a search returns the same as a comparison with every name.

use std::sync::Arc;

use proptest::{collection::vec, prelude::*, sample::Index};
use robot_core::{
    Catalogue, CatalogueExt, Cursor, Draft, Entry, Error, Filter, MemoryCatalogue, PageRequest,
    Pages, Restoration, Robot, RobotId, Sort, ValidDraft, fold,
    transfer::{ImportOptions, Record, import},
};

#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
use crate::backend::Backend;
#[cfg(feature = "mysql")]
use crate::backend::Mysql;
#[cfg(feature = "postgres")]
use crate::backend::Postgres;
use crate::names;
#[cfg(feature = "sqlite")]
use crate::{
    backend::Sqlite,
    sqlite::{LEADING, add_leading_names, index_all_names},
};

/// Parts of names: few, so that names contain each other, and some that have a special meaning in a
/// query language.
const PIECES: [&str; 26] = [
    "a",
    "b",
    "A",
    "B",
    "e",
    "e\u{301}",
    "\u{301}",
    "é",
    "É",
    "ø",
    "Ø",
    "Ж",
    "ж",
    "ς",
    "가",
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

/// One change of a robot, which is chosen among those in the catalogue.
#[derive(Debug, Clone)]
enum Step {
    Add(String),
    Rename(Index, String),
    Delete(Index),
}

/// The text of a search.
#[derive(Debug, Clone)]
enum SearchText {
    Text(String),
    /// Characters of an existing name: which name, the first character, their number.
    Part(Index, Index, usize),
}

/// The start of a page, and its limit.
type Position = (String, usize);

/// Changes, and the searches after them.
type Round = (Vec<Step>, Vec<(SearchText, Position)>);

fn text(pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    vec(prop::sample::select(&PIECES[..]), pieces).prop_map(|pieces| pieces.concat())
}

/// Short names, and long ones that need several pages of a database.
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

fn search_text() -> impl Strategy<Value = SearchText> {
    prop_oneof![
        text(1..5).prop_map(|text| SearchText::Text(text.chars().take(4).collect())),
        (any::<Index>(), any::<Index>(), 1..5_usize)
            .prop_map(|(name, start, length)| SearchText::Part(name, start, length)),
        prop_oneof![Just(""), Just("\0"), Just("a\0b")]
            .prop_map(|text| SearchText::Text(text.to_owned())),
    ]
}

impl SearchText {
    fn resolve(&self, names: &[String]) -> String {
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

/// Applies a step, if it has a robot. A name may be taken.
fn apply(step: Step, catalogue: &impl Catalogue, ids: &mut Vec<RobotId>) {
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

fn assert_finds_every_match(catalogue: &impl Catalogue, text: &str, position: &Position) {
    let mut all = names(catalogue, "");
    let mut folded = all.clone();
    folded.retain(|name| fold(name).contains(&*fold(text)));
    assert_finds(catalogue, &Filter::from(text).folded(), &folded, position);
    all.retain(|name| name.contains(text));
    assert_eq!(names(catalogue, text), all, "{text:?}");
    assert_finds(catalogue, &Filter::from(text), &all, position);
}

fn assert_finds(
    catalogue: &impl Catalogue,
    filter: &Filter,
    expected: &[String],
    (after, limit): &Position,
) {
    let pages = Pages::new(catalogue, filter.clone()).page_size(*limit);
    // One page too many, in case they do not end.
    let pages = pages.take(expected.len() + 1);
    let sizes: Vec<usize> = pages.map(|page| page.unwrap().len()).collect();
    assert!(
        sizes.iter().rev().skip(1).all(|size| size == limit),
        "{filter:?}: {sizes:?}"
    );
    assert_eq!(sizes.iter().sum::<usize>(), expected.len(), "{filter:?}");

    let request = PageRequest {
        filter,
        cursor: &Cursor::after_name(after),
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

/// Calls `prepare` with the number of each round after its steps.
fn assert_searches_after(
    catalogue: impl Catalogue,
    rounds: Vec<Round>,
    mut prepare: impl FnMut(usize),
) {
    let mut ids = Vec::new();
    for (number, (steps, searches)) in rounds.into_iter().enumerate() {
        for step in steps {
            apply(step, &catalogue, &mut ids);
        }
        prepare(number);
        let mut names = names(&catalogue, "");
        #[cfg(feature = "sqlite")]
        names.retain(|name| !name.starts_with(LEADING));
        for (text, position) in searches {
            let text = text.resolve(&names);
            assert_finds_every_match(&catalogue, &text, &position);
        }
    }
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let position = (prop_oneof![text(0..4), Just("a\0b".to_owned())], 1..6_usize);
    vec(
        (vec(step(), 1..60), vec((search_text(), position), 1..6)),
        1..5,
    )
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
    fn memory_search_equals_full_comparison(rounds in rounds()) {
        assert_searches(MemoryCatalogue::new(), rounds);
    }
}

proptest! {
    // Each case has its own database.
    #![proptest_config(configuration(24))]

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_search_equals_full_comparison(rounds in rounds()) {
        let database = Sqlite::new();
        let catalogue = database.open();
        add_leading_names(&database);
        assert_searches(catalogue, rounds);
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite_search_of_unindexed_names_equals_full_comparison(rounds in rounds()) {
        let database = Sqlite::new();
        let catalogue = database.open();
        add_leading_names(&database);
        assert_searches_after(catalogue, rounds, |number| {
            if number % 2 == 0 {
                index_all_names(&database);
            }
        });
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn postgres_search_equals_full_comparison(rounds in rounds()) {
        assert_searches(Postgres::new().open(), rounds);
    }

    #[cfg(feature = "mysql")]
    #[test]
    fn mysql_search_equals_full_comparison(rounds in rounds()) {
        assert_searches(Mysql::new().open(), rounds);
    }
}

/// Searches a catalogue with many more robots than a page, with few, all or no matches.
fn assert_searches_many(catalogue: &Arc<dyn Catalogue>) {
    let records = Record::numbered(many_drafts());
    let mut outcomes = import(Arc::clone(catalogue), records, ImportOptions::default());
    assert!(outcomes.all(|outcome| outcome.result.is_ok()));
    for text in ["D", "9", "-0", "777", "0777", "-07777", "x", "Droid-1999"] {
        for (after, limit) in [("", 5), ("Droid-07777", 3), ("Droid-1", 1000), ("E", 5)] {
            assert_finds_every_match(catalogue, text, &(after.to_owned(), limit));
        }
    }
}

/// Robots of a hundred years, not in the order of their names. Most are droids.
fn many_drafts() -> impl Iterator<Item = Draft> + Send {
    (0..20_000_u32).map(|number| {
        let robot_type = ["virtual", "droid"][usize::from(number % 8 > 0)];
        let name = format!("Droid-{:05}", number * 7919 % 20_000);
        Draft::new(name, robot_type, i64::from(1900 + number % 100))
    })
}

/// Compares pages of filters that many and few robots meet, in all orders, with a comparison of all robots.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn assert_filters_many(catalogue: &dyn Catalogue) {
    let robots = (1..).map(|id| RobotId::new(id).unwrap()).zip(many_drafts());
    let robots = robots.map(|(id, draft)| ValidDraft::new(draft).unwrap().with_id(id));
    let robots: Vec<Robot> = robots.collect();
    let restoration = Restoration::new(robots.clone(), None).unwrap();
    catalogue.restore(&restoration).unwrap();
    let texts = ["", "D", "oid-00", "07777"].map(Filter::from);
    let folded = ["droid-1", "D", "777"].map(|text| Filter::from(text).folded());
    for filter in texts.into_iter().chain(folded) {
        let droids = filter.clone().of_type("droid");
        let of_one_year = droids.clone().years(1977..=1977);
        let late = filter.clone().years(1999..);
        for filter in [filter, droids, of_one_year, late] {
            let mut robots = robots.clone();
            robots.retain(|robot| filter.matches(robot));
            for sort in Sort::ALL {
                robots.sort_by(|one, other| sort.compare(one, other));
                assert_pages(catalogue, &filter, sort, &robots);
            }
        }
    }
}

/// Compares the first two pages of a filter with all of its robots.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn assert_pages(catalogue: &dyn Catalogue, filter: &Filter, sort: Sort, robots: &[Robot]) {
    let limit = 7;
    let mut cursor = Cursor::start(sort);
    for expected in robots.chunks(limit).take(2) {
        let request = PageRequest {
            filter,
            cursor: &cursor,
            limit,
        };
        assert_eq!(catalogue.page(request).unwrap(), expected, "{request:?}");
        let entries = catalogue.entries(request).unwrap();
        let expected_entries = expected.iter().cloned().map(Entry::from);
        assert!(entries.into_iter().eq(expected_entries), "{request:?}");
        cursor = Cursor::after(sort, &expected[expected.len() - 1]);
    }
}

#[test]
fn memory_search_of_many_robots_equals_full_comparison() {
    let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    assert_searches_many(&catalogue);
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_search_of_many_robots_equals_full_comparison() {
    let database = Sqlite::new();
    assert_searches_many(&database.open());
}

#[cfg(feature = "sqlite")]
#[test]
fn sqlite_filters_of_many_robots_equal_full_comparison() {
    let database = Sqlite::new();
    assert_filters_many(database.open().as_ref());
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_search_of_many_robots_equals_full_comparison() {
    assert_searches_many(&Postgres::new().open());
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_filters_of_many_robots_equal_full_comparison() {
    assert_filters_many(Postgres::new().open().as_ref());
}
