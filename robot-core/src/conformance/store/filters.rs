//! Cases: filters, orders, counts and summaries.

use super::{Run, names, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Cursor, Filter, PageRequest, Pages, Sort, Summary},
    conformance::{Case, cases},
    model::{Draft, Entry, Field, Robot},
};

pub(super) const CASES: &[Case<Run>] = cases![
    filters_combine,
    every_filter_and_order_is_paged,
    cursor_needs_no_robot,
    changes_between_pages_repeat_no_robot,
    counts_and_summaries_have_the_filter,
    filters_with_nul_match_nothing,
];

/// Robots with equal years, and with names in another order than the years.
fn add_some(catalogue: &dyn Catalogue) -> Vec<Robot> {
    let robots = [
        ("R2-D2", "droid", 1977),
        ("HAL 9000", "virtual", 1968),
        ("C-3PO", "droid", 1977),
        ("Maria", "mechanical", 1927),
        ("Robby", "mechanical", 1956),
        ("BB-8", "droid", 2015),
        ("Gort", "mechanical", 1951),
        ("Marvin", "droid", 1978),
        ("É\u{301}r", "virtual", 0),
        ("Zora", "virtual", i64::MAX),
        ("K-2SO", "droid", 2016),
        ("Dot Matrix", "droid", 1987),
        ("Daryl", "mechanical", 1985),
        ("Hector", "mechanical", 1980),
        ("V.I.N.CENT", "droid", 1979),
        ("BB-9E", "droid", 2017),
        ("R5-D4", "droid", 1977),
    ];
    let robots = robots.map(|(name, robot_type, year)| {
        let draft = Draft::new(name, robot_type, year);
        ok(catalogue.add(draft))
    });
    robots.into()
}

fn filters() -> Vec<Filter> {
    let all = Filter::all;
    vec![
        all(),
        all().of_type("droid"),
        all().of_type("virtual").of_type("droid"),
        Field::TYPE
            .choices()
            .iter()
            .copied()
            .fold(all(), Filter::of_type),
        all().years(1977..=1977),
        all().years(1978..),
        all().years(..1977),
        all().years(i64::MAX..),
        all().years(1990..2000),
        all().named("C-3PO"),
        all().named("C-3"),
        all().named("C-3PO").containing("-").years(1977..=1977),
        all().named("C-3PO").of_type("virtual"),
        all().containing("-").of_type("droid"),
        all().containing("BB-").years(2016..),
        all()
            .containing("R")
            .of_type("mechanical")
            .years(1950..1960),
    ]
}

fn filters_combine(catalogue: &dyn Catalogue) {
    add_some(catalogue);
    for (filter, expected) in [
        (
            Filter::all().of_type("virtual"),
            &["HAL 9000", "Zora", "É\u{301}r"][..],
        ),
        (
            Filter::all().years(1977..1980),
            &["C-3PO", "Marvin", "R2-D2", "R5-D4", "V.I.N.CENT"],
        ),
        (Filter::all().years(1951..=1956), &["Gort", "Robby"]),
        (
            Filter::from("-D").of_type("droid").years(..=1977),
            &["R2-D2", "R5-D4"],
        ),
        (Filter::all().named("Gort"), &["Gort"]),
        (Filter::all().named("gort"), &[]),
    ] {
        let pages = Pages::new(catalogue, filter.clone());
        let found: Vec<Robot> = pages.flat_map(ok).collect();
        assert_eq!(names(&found), expected, "{filter:?}");
    }
}

fn every_filter_and_order_is_paged(catalogue: &dyn Catalogue) {
    let robots = add_some(catalogue);
    for filter in filters() {
        for sort in Sort::ALL {
            let mut expected = robots.clone();
            expected.retain(|robot| filter.matches(robot));
            expected.sort_by(|one, other| sort.compare(one, other));
            let pages = || {
                Pages::new(catalogue, filter.clone())
                    .sorted(sort)
                    .page_size(3)
            };
            // In a store that repeats robots, the pages do not end.
            let found: Vec<Robot> = pages().take(10).flat_map(ok).collect();
            assert_eq!(names(&found), names(&expected), "{filter:?} by {sort}");
            assert_eq!(found, expected);
            let entries: Vec<Entry> = pages().entries().take(10).flat_map(ok).collect();
            let expected: Vec<Entry> = expected.into_iter().map(Entry::from).collect();
            assert_eq!(entries, expected, "entries of {filter:?} by {sort}");
        }
    }
}

fn cursor_needs_no_robot(catalogue: &dyn Catalogue) {
    let mut robots = add_some(catalogue);
    for sort in Sort::ALL {
        robots.sort_by(|one, other| sort.compare(one, other));
        let deleted = robots.remove(4);
        ok(catalogue.delete(deleted.id()));
        let cursor = Cursor::after(sort, &deleted);
        assert_eq!(cursor.to_string().parse(), Ok(cursor.clone()));
        let request = PageRequest {
            filter: &Filter::all(),
            cursor: &cursor,
            limit: 100,
        };
        let page = ok(catalogue.page(request));
        assert_eq!(names(&page), names(&robots[4..]), "by {sort}");
    }
}

fn changes_between_pages_repeat_no_robot(catalogue: &dyn Catalogue) {
    let robots = add_some(catalogue);
    let sort: Sort = "-year".parse().unwrap_or_default();
    let mut pages = Pages::new(catalogue, "").sorted(sort).page_size(5);
    let mut found = pages.next().map(ok).unwrap_or_default();
    assert_eq!(
        names(&found),
        ["Zora", "BB-9E", "K-2SO", "BB-8", "Dot Matrix"]
    );
    // The last one of the page is deleted, and others are added before and after it.
    ok(catalogue.delete(robots[11].id()));
    for (name, year) in [("before", 1988), ("after", 1986)] {
        ok(catalogue.add(Draft::new(name, "droid", year)));
    }
    found.extend(pages.flat_map(ok));
    assert_eq!(found.len(), robots.len() + 1);
    let expected = [
        "after",
        "Daryl",
        "Hector",
        "V.I.N.CENT",
        "Marvin",
        "R5-D4",
        "C-3PO",
    ];
    assert_eq!(names(&found[5..12]), expected);
}

fn counts_and_summaries_have_the_filter(catalogue: &dyn Catalogue) {
    assert_eq!(ok(catalogue.count(&Filter::all())), 0);
    assert_eq!(ok(catalogue.summary(&Filter::all())), Summary::default());
    let robots = add_some(catalogue);
    for filter in filters() {
        let matching = || robots.iter().filter(|robot| filter.matches(robot));
        let expected = matching().count() as u64;
        assert_eq!(ok(catalogue.count(&filter)), expected, "{filter:?}");
        let summary = ok(catalogue.summary(&filter));
        assert_eq!(summary, Summary::of(matching()), "{filter:?}");
    }
    let summary = ok(catalogue.summary(&Filter::all().years(1970..)));
    let groups = summary.groups.iter();
    let groups = groups.map(|group| (group.robot_type.as_str(), group.decade, group.count));
    let expected = [
        ("droid", 1970, 5),
        ("droid", 1980, 1),
        ("droid", 2010, 3),
        ("mechanical", 1980, 2),
        ("virtual", 9_223_372_036_854_775_800, 1),
    ];
    assert_eq!(groups.collect::<Vec<_>>(), expected);
    assert_eq!(summary.count, 12);
}

fn filters_with_nul_match_nothing(catalogue: &dyn Catalogue) {
    add_some(catalogue);
    for filter in [Filter::all().named("Gort\0"), Filter::from("Go\0")] {
        let found: Vec<Robot> = Pages::new(catalogue, filter.clone()).flat_map(ok).collect();
        assert_eq!(names(&found), [""; 0]);
        assert_eq!(ok(catalogue.count(&filter)), 0);
        assert_eq!(ok(catalogue.summary(&filter)), Summary::default());
    }
}
