//! Cases: pages, filters, orders, counts and summaries.

use std::collections::BTreeMap;

use super::{
    Run, add_all, names, ok,
    own_fields::{OWN, parse},
};
use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Condition, Count, Cursor, Filter, PageRequest, Pages,
        Redefinition, Sort, Summary,
    },
    conformance::{Case, cases},
    model::{Definition, Draft, Field, Robot, RobotId, Value},
};

pub(super) const CASES: &[Case<Run>] = cases![
    filters_combine,
    every_filter_and_order_is_paged_and_counted,
    cursor_needs_no_robot,
    changes_between_pages_repeat_no_robot,
    pages_start_after_any_text,
    most_frequent_values_are_first,
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
        ("Hector", "mechanical", 1980),
        ("R5-D4", "droid", 1977),
    ];
    let robots = robots.map(|(name, robot_type, year)| {
        let draft = Draft::new(name, robot_type, year);
        ok(catalogue.add(draft))
    });
    robots.into()
}

/// The ids and the names of robots.
fn named_of(robots: &[Robot]) -> Vec<(RobotId, &str)> {
    let named = robots.iter().map(|robot| (robot.id(), robot.name()));
    named.collect()
}

/// A page in the order of names.
fn page<'a>(filter: &'a Filter, cursor: &'a Cursor, limit: usize) -> PageRequest<'a> {
    PageRequest {
        limit,
        ..PageRequest::new(filter, cursor)
    }
}

/// These robots with the times that the store has given to them.
fn with_times(catalogue: &dyn Catalogue, robots: &[Robot]) -> Vec<Robot> {
    let stored = Pages::new(catalogue, "").with_fields(Field::AUDIT.into());
    let stored = stored.flat_map(ok).map(|robot| (robot.id(), robot));
    let stored: BTreeMap<_, _> = stored.collect();
    let robots = robots.iter().map(|robot| {
        let audit = stored.get(&robot.id()).and_then(Robot::audit).cloned();
        robot.clone().with_audit(audit.unwrap_or_default())
    });
    robots.collect()
}

/// Asserts that the robots of a catalogue are listed completely with this filter, in each order, in
/// pages, and that they are counted.
pub(super) fn assert_listed(catalogue: &dyn Catalogue, robots: &[Robot], filter: &Filter) {
    let mut expected = with_times(catalogue, robots);
    expected.retain(|robot| filter.matches(robot));
    assert_eq!(
        ok(catalogue.count(filter)),
        expected.len() as u64,
        "{filter:?}"
    );
    let summary = ok(catalogue.summary(filter));
    let counts = Count::of(&expected, &[Field::TYPE, Field::YEAR]);
    assert_eq!(summary, Summary::of(counts), "{filter:?}");
    for sort in Sort::all(&catalogue.definition()) {
        expected.sort_by(|one, other| sort.compare(one, other));
        for size in [1 + robots.len() / 5, 1 + robots.len()] {
            let pages = Pages::new(catalogue, filter.clone()).sorted(sort.clone());
            let pages = || pages.clone().page_size(size);
            // In a store that repeats robots, the pages do not end.
            let found: Vec<Robot> = pages().take(10).flat_map(ok).collect();
            assert_eq!(names(&found), names(&expected), "{filter:?} by {sort}");
            assert_eq!(found, expected);
            let fields = vec![Field::ID, Field::NAME];
            let named = pages().with_fields(fields.into()).take(10);
            let found: Vec<Robot> = named.flat_map(ok).collect();
            assert_eq!(
                named_of(&found),
                named_of(&expected),
                "{filter:?} by {sort}"
            );
        }
        for limit in [0, 1, 7, usize::MAX] {
            let cursor = &Cursor::start(sort.clone());
            let request = page(filter, cursor, limit);
            let first = ..limit.min(expected.len());
            assert_eq!(
                ok(catalogue.page(request)).items,
                expected[first],
                "{request:?}"
            );
            let fields = &[Field::ID, Field::NAME];
            let found = ok(catalogue.page(PageRequest { fields, ..request }));
            assert_eq!(
                named_of(&found.items),
                named_of(&expected[first]),
                "{request:?}"
            );
        }
    }
}

fn filters_combine(catalogue: &dyn Catalogue) {
    add_some(catalogue);
    let all = Filter::all;
    for (filter, expected) in [
        (
            all().with(Field::TYPE, "virtual"),
            "HAL 9000, Zora, É\u{301}r",
        ),
        (
            all().at_least(Field::YEAR, 1977).at_most(Field::YEAR, 1979),
            "C-3PO, Marvin, R2-D2, R5-D4",
        ),
        (
            all().at_least(Field::YEAR, 1951).at_most(Field::YEAR, 1956),
            "Gort, Robby",
        ),
        (
            Filter::from("-D")
                .with(Field::TYPE, "droid")
                .at_most(Field::YEAR, 1977),
            "R2-D2, R5-D4",
        ),
        (all().with(Field::NAME, "Gort"), "Gort"),
        (all().with(Field::NAME, "gort"), ""),
    ] {
        let pages = Pages::new(catalogue, filter.clone());
        let found: Vec<Robot> = pages.flat_map(ok).collect();
        assert_eq!(names(&found).join(", "), expected, "{filter:?}");
    }
}

fn every_filter_and_order_is_paged_and_counted(catalogue: &dyn Catalogue) {
    let all = Filter::all;
    assert_listed(catalogue, &[], &all());
    let robots = add_some(catalogue);
    let types = Field::TYPE.choices().iter();
    let some = robots.iter().step_by(3).map(Robot::id);
    let with_ids = |ids: &mut dyn Iterator<Item = RobotId>| {
        ids.fold(all(), |filter, id| {
            filter.and(Condition::ID, Some(Value::Id(id)))
        })
    };
    for filter in [
        with_ids(&mut some.clone()),
        with_ids(&mut some.take(2))
            .with(Field::TYPE, "droid")
            .at_least(Field::YEAR, 1970),
        // More than SQLite nests in one condition.
        with_ids(&mut (1..=1100).filter_map(RobotId::new)),
        all(),
        all().with(Field::TYPE, "droid"),
        all()
            .with(Field::TYPE, "virtual")
            .with(Field::TYPE, "droid"),
        types.fold(all(), |filter, one| filter.with(Field::TYPE, &**one)),
        all().at_least(Field::YEAR, 1977).at_most(Field::YEAR, 1977),
        all().at_least(Field::YEAR, 1978),
        all().at_most(Field::YEAR, 1976),
        all().at_least(Field::YEAR, i64::MAX),
        all().with(Field::YEAR, 1977).with(Field::YEAR, 2015),
        all().at_least(Field::YEAR, 1990).at_most(Field::YEAR, 1999),
        all().with(Field::NAME, "C-3PO"),
        all().with(Field::NAME, "C-3"),
        all()
            .with(Field::NAME, "C-3PO")
            .containing("-")
            .at_least(Field::YEAR, 1977)
            .at_most(Field::YEAR, 1977),
        all()
            .with(Field::NAME, "C-3PO")
            .with(Field::TYPE, "virtual"),
        all().containing("-"),
        all().containing("-").with(Field::TYPE, "droid"),
        all().containing("BB-").at_least(Field::YEAR, 2015),
        all()
            .containing("R")
            .with(Field::TYPE, "mechanical")
            .at_least(Field::YEAR, 1950),
    ] {
        assert_listed(catalogue, &robots, &filter);
    }
}

fn cursor_needs_no_robot(catalogue: &dyn Catalogue) {
    let robots = add_some(catalogue);
    let mut robots = with_times(catalogue, &robots);
    for sort in Sort::all(Definition::built_in()) {
        robots.sort_by(|one, other| sort.compare(one, other));
        let deleted = robots.remove(4);
        ok(catalogue.delete(deleted.id()));
        let cursor = Cursor::after(sort.clone(), &deleted);
        let parsed = cursor.to_string().parse().unwrap_or_default();
        for cursor in [cursor, parsed] {
            let found = ok(catalogue.page(page(&Filter::all(), &cursor, 100)));
            assert_eq!(names(&found.items), names(&robots[4..]), "by {sort}");
        }
    }
}

fn changes_between_pages_repeat_no_robot(catalogue: &dyn Catalogue) {
    for (sort, new) in [
        ("name", [("Abe", 1), ("Lore", 1)]),
        ("-year", [("before", 1988), ("after", 1976)]),
    ] {
        let mut robots = add_some(catalogue);
        let sort: Sort = sort.parse().unwrap_or_default();
        robots.sort_by(|one, other| sort.compare(one, other));
        let mut pages = Pages::new(catalogue, "").sorted(sort.clone()).page_size(7);
        let mut found = pages.next().map(ok).unwrap_or_default();
        assert_eq!(names(&found), names(&robots[..7]));
        // The last one of the page is deleted, and others are added before and after it.
        ok(catalogue.delete(robots[6].id()));
        let [_, after] = new.map(|(name, year)| ok(catalogue.add(Draft::new(name, "droid", year))));
        found.extend(pages.flat_map(ok));
        robots.push(after);
        robots.sort_by(|one, other| sort.compare(one, other));
        assert_eq!(names(&found), names(&robots), "by {sort}");
        for robot in ok(catalogue.list()) {
            ok(catalogue.delete(robot.id()));
        }
    }
}

fn pages_start_after_any_text(catalogue: &dyn Catalogue) {
    add_all(catalogue, (0..25).map(|number| format!("n{number:02}")));
    for (after, first) in [
        ("", "n00"),
        ("a", "n00"),
        ("n00", "n01"),
        ("n00\0", "n01"),
        ("n0", "n00"),
        ("n055", "n06"),
        ("N99", "n00"),
        ("n24", ""),
        ("z", ""),
        ("🤖", ""),
    ] {
        let cursor = Cursor::after_name(after);
        let found = ok(catalogue.page(page(&Filter::all(), &cursor, 1)));
        assert_eq!(names(&found.items).concat(), first, "after {after:?}");
    }
}

pub(super) fn pages_limited_by_bytes_are_complete(catalogue: &dyn Catalogue) {
    ok(catalogue.define(Redefinition::new(parse(OWN))));
    let mut robots = add_some(catalogue);
    for (robot, length) in robots
        .iter_mut()
        .zip([0, 9_000, 10, 3_000, 0, 10_000, 2_000])
    {
        let mut draft = Draft::default();
        draft.set("notes", "é".repeat(length));
        draft.set("lent", length % 4 == 0);
        ok(catalogue.patch(robot.id(), draft));
        *robot = ok(catalogue.get(robot.id())).unwrap_or_else(|| robot.clone());
    }
    let mut robots = with_times(catalogue, &robots);
    for sort in Sort::all(&catalogue.definition()) {
        robots.sort_by(|one, other| sort.compare(one, other));
        for max_bytes in [1, 5_000, 30_000, 100_000] {
            for filter in [
                Filter::all(),
                Filter::from("o"),
                Filter::all().at_least(Field::YEAR, 1),
            ] {
                let pages = Pages::new(catalogue, filter.clone()).sorted(sort.clone());
                let found: Vec<_> = pages.max_bytes(max_bytes).take(20).flat_map(ok).collect();
                let matching = robots.iter().filter(|robot| filter.matches(robot));
                assert!(found.iter().eq(matching), "{filter:?} by {sort}: {found:?}");
            }
        }
    }
}

fn most_frequent_values_are_first(catalogue: &dyn Catalogue) {
    add_some(catalogue);
    let droids = Filter::all().with(Field::TYPE, "droid");
    for (filter, field, limit, values, others) in [
        (
            Filter::all(),
            Field::TYPE,
            2,
            "droid 7, mechanical 4",
            (1, 3),
        ),
        (Filter::all(), Field::YEAR, 2, "1977 3, 0 1", (10, 10)),
        (
            droids.clone(),
            Field::YEAR,
            10,
            "1977 3, 1978 1, 1987 1, 2015 1, 2016 1",
            (0, 0),
        ),
        (droids, Field::NAME, 1, "BB-8 1", (6, 6)),
        (Filter::from("\0"), Field::NAME, 1, "", (0, 0)),
    ] {
        let found = ok(catalogue.frequent_values(&filter, &field, limit));
        let groups = found.groups.iter().map(|(value, count)| {
            let value = value.as_ref().map(ToString::to_string);
            format!("{} {count}", value.unwrap_or_default())
        });
        assert_eq!(groups.collect::<Vec<_>>().join(", "), values, "{filter:?}");
        assert_eq!(
            (found.others, found.count),
            (others, ok(catalogue.count(&filter)))
        );
    }
}

fn filters_with_nul_match_nothing(catalogue: &dyn Catalogue) {
    let robots = add_some(catalogue);
    for filter in [
        Filter::all().with(Field::NAME, "Gort\0"),
        Filter::from("Go\0"),
    ] {
        assert!(!robots.iter().any(|robot| filter.matches(robot)));
        assert_listed(catalogue, &robots, &filter);
    }
}
