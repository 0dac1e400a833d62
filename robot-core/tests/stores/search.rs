//! Lists of many more robots than a page, with few, all or no matches, compared with all robots.

use robot_core::{
    Catalogue, CatalogueExt, Cursor, Draft, Field, Filter, PageRequest, Redefinition, Restoration,
    Revision, Robot, RobotId, Sort, ValidDraft,
};

use crate::{
    backend::{Backend, database_tests},
    sorts,
};

database_tests![
    lists_of_many_robots_equal_full_comparison,
    page_ends_after_its_maximum_of_bytes,
];

/// Robots of a hundred years, not in the order of their names. Most are droids.
fn many_robots() -> Vec<Robot> {
    let robots = (0..20_000_i64).map(|number| {
        let robot_type = ["virtual", "droid"][usize::from(number % 8 > 0)];
        let name = format!("Droid-{:05}", number * 7919 % 20_000);
        let draft = ValidDraft::new(Draft::new(name, robot_type, 1900 + number % 100));
        let robot = draft.unwrap().with_id(RobotId::new(number + 1).unwrap());
        robot.with_revision(Revision::new(number + 1).unwrap())
    });
    robots.collect()
}

fn lists_of_many_robots_equal_full_comparison<B: Backend>() {
    let database = B::new();
    let (catalogue, robots) = (database.open(), many_robots());
    let restoration = Restoration::new(robots.clone(), None).unwrap();
    catalogue.restore(&restoration).unwrap();
    let texts = ["", "D", "x", "9", "-0", "777", "0777", "oid-00", "-07777"];
    let folded = ["droid-1", "D", "777", "DROID-1999"];
    let folded = folded.map(|text| Filter::from(text).folded());
    for filter in texts.map(Filter::from).into_iter().chain(folded) {
        let droids = filter.clone().with(Field::TYPE, "droid");
        let of_one_year = droids
            .clone()
            .at_least(Field::YEAR, 1977)
            .at_most(Field::YEAR, 1977);
        let late = filter.clone().at_least(Field::YEAR, 1999);
        for filter in [filter, droids, of_one_year, late] {
            let mut robots = robots.clone();
            robots.retain(|robot| filter.matches(robot));
            for sort in sorts(robot_core::Definition::built_in()) {
                robots.sort_by(|one, other| sort.compare(one, other));
                assert_pages(&catalogue, &filter, &sort, &robots);
            }
        }
    }
}

/// Compares pages of a filter, at the start and in the middle, with all of its robots.
fn assert_pages(catalogue: &dyn Catalogue, filter: &Filter, sort: &Sort, robots: &[Robot]) {
    let limit = 7;
    for start in [0, limit, robots.len() / 2] {
        let before = start.checked_sub(1).and_then(|index| robots.get(index));
        let cursor = before.map_or_else(
            || Cursor::start(sort.clone()),
            |robot| Cursor::after(sort.clone(), robot),
        );
        let request = PageRequest {
            limit,
            ..PageRequest::new(filter, &cursor)
        };
        let start = if before.is_some() { start } else { 0 };
        let expected = &robots[start..robots.len().min(start + limit)];
        assert_eq!(
            catalogue.page(request).unwrap().items,
            expected,
            "{request:?}"
        );
        let fields = &[Field::ID, Field::NAME];
        let named = catalogue.page(PageRequest { fields, ..request });
        let named_of = |robot: &Robot| (robot.id(), robot.name().to_owned());
        let found = named.unwrap().items;
        assert!(
            found.iter().map(named_of).eq(expected.iter().map(named_of)),
            "{request:?}"
        );
    }
}

fn page_ends_after_its_maximum_of_bytes<B: Backend>() {
    let database = B::new();
    let catalogue = database.open();
    let definition = r#"{"properties": {"notes": {"type": "string", "maxLength": 10000}}}"#;
    let redefinition = Redefinition::new(definition.parse().unwrap());
    catalogue.define(redefinition).unwrap();
    for number in 0..20 {
        let mut draft = Draft::new(format!("robot {number:02}"), "droid", 1977 + number % 3);
        draft.set("notes", "x".repeat(10_000));
        catalogue.add(draft).unwrap();
    }
    for sort in Sort::all(&catalogue.definition()) {
        for (max_bytes, count) in [(0, 0), (1, 1), (10_000, 1), (35_000, 4), (usize::MAX, 20)] {
            let request = PageRequest {
                filter: &Filter::all(),
                cursor: &Cursor::start(sort.clone()),
                max_bytes,
                limit: 100,
                fields: &[],
            };
            let page = catalogue.page(request).unwrap();
            let found = (page.items.len(), page.is_last);
            assert_eq!(found, (count, count == 20), "{max_bytes} by {sort}");
            assert!(
                page.items
                    .is_sorted_by(|one, other| sort.compare(one, other).is_lt())
            );
        }
    }
}
