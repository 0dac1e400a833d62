//! Reads beside writers: a robot that is not changed is in every answer exactly once, with its values. The expected
//! answers are those of a store in memory that has only these robots. An export and a copy have each robot exactly
//! once, whatever is renamed meanwhile.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use robot_core::{
    Catalogue, CatalogueExt, Change, Cursor, Definition, Draft, Error, Field, Filter,
    MemoryCatalogue, PageRequest, Pages, Redefinition, Restoration, Revision, Robot, RobotId, Sort,
    Value,
    http::Api,
    transfer::{CopyError, copy},
};

use crate::{
    backend::{Backend, database_tests},
    definitions_beside_writers::Over,
    sorts, wait_for, wait_for_progress,
};

database_tests![reads_beside_writers_are_complete];

#[test]
fn memory_reads_beside_writers_are_complete() {
    let memory: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    assert_complete_beside_writers(&memory);
}

fn reads_beside_writers_are_complete<B: Backend>() {
    assert_complete_beside_writers(&B::new().open());
}

const DEFINITION: &str = r#"{"properties": {
    "serial": {"type": "string", "unique": true},
    "slot": {"type": "integer", "unique": true},
    "level": {"type": "integer", "index": true},
    "weight": {"type": "number", "index": true},
    "maker": {"type": "string", "maxLength": 100, "index": true, "search": true},
    "notes": {"type": "string", "search": true},
    "acquired": {"type": "string", "format": "date"},
    "state": {"enum": ["good", "fair"]},
    "lent": {"type": "boolean", "index": true},
    "parts": {"type": "integer"}}}"#;

/// Conditions as in a query. `text`, `folded` and `q` are the texts of a search.
const FILTERS: [&str; 14] = [
    "",
    "level=8&level=10",
    "level_from=5&level_to=12",
    "level=",
    "weight_from=1&weight_to=6",
    "weight=1.5&lent=false",
    "maker=Tyrell&maker=Ácme&level=3",
    "serial=s104&serial=s106",
    "slot_from=100&slot_to=700",
    "lent=true&acquired_from=2010-01-01",
    "state=fair&year_from=1990",
    "text=Bót 1",
    "folded=BOT 12&level_from=3",
    "q=acme grosse 1",
];

/// The number of robots at the start. Every second one keeps its values.
const ROBOTS: i64 = 2000;

const WRITERS: i64 = 4;

/// The number of rounds. In each, every order is used with another filter.
const ROUNDS: usize = 2;

/// The number of changes before each round.
const CHANGES: i64 = 100;

/// Writers do not change these robots, except the parts of some.
fn is_kept(id: i64) -> bool {
    id % 2 == 0 && id <= ROBOTS
}

fn has_other_parts(id: i64) -> bool {
    is_kept(id) && id % 6 == 0
}

fn draft(name: String, number: i64, has_unique: bool) -> Draft {
    let place = usize::try_from(number).unwrap();
    let mut draft = Draft::new(name, "virtual", 1950 + number % 71);
    if has_unique && number % 3 > 0 {
        draft.set("serial", format!("s{number}"));
        draft.set("slot", number);
    }
    if number % 7 > 0 {
        draft.set("level", number / 2 % 20);
    }
    draft.set(
        "weight",
        Value::number([0.5, 1.5, 2.5, 6.0][place / 2 % 4]).unwrap(),
    );
    draft.set("maker", ["Ácme", "Tyrell", "Cyberdyne"][place % 3]);
    draft.set("notes", format!("Größe {}", number % 100));
    draft.set("acquired", format!("20{:02}-01-02", number % 30));
    draft.set("state", ["good", "fair"][place / 2 % 2]);
    draft.set("lent", number % 4 == 0);
    draft.set("parts", number % 8);
    draft
}

/// Changes robots until the reader has finished. Some changes conflict: with those of other writers, and with values of
/// the robots that are kept.
fn write(catalogue: &dyn Catalogue, writer: i64, done: &AtomicI64, is_over: &AtomicBool) {
    let definition = catalogue.definition();
    let mut added = Vec::new();
    for step in (1..).take_while(|_| !is_over.load(Relaxed)) {
        let number = (step * WRITERS + writer) * 7919 % (ROBOTS / 2);
        let id = RobotId::new(2 * number + 1).unwrap();
        let new = draft(format!("Bót {writer}-{step}"), number, step % 16 == 0);
        let values = Draft {
            name: None,
            ..draft(String::new(), number, number % 10 == 0)
        };
        let result = match step % 8 {
            0 => catalogue.add(new).map(|robot| added.push(robot.id())),
            1 | 6 if !added.is_empty() => catalogue.delete(added.swap_remove(0)),
            2 => {
                let changes = definition.validate_patch(values, &[]).unwrap();
                let other = RobotId::new(id.get() % (ROBOTS - 2) + 2).unwrap();
                let updates = [id, other].map(|id| Change::Update(id, None, changes.clone()));
                let insert = Change::Insert(definition.validate(new).unwrap());
                let all = updates.into_iter().chain([insert]).collect();
                catalogue
                    .apply_all(all)
                    .map(|receipts| added.push(receipts[2].id))
            }
            3 => {
                let mut parts = Draft::default();
                parts.set("parts", step % 8);
                catalogue.patch(RobotId::new(6 * (number / 3 + 1)).unwrap(), parts)
            }
            // As it was restored.
            4 => catalogue.patch_if(id, Revision::new(id.get()).unwrap(), values),
            _ => catalogue.patch(id, values),
        };
        match result {
            Ok(()) => _ = done.fetch_add(1, Relaxed),
            // A busy server may take too long.
            Err(
                Error::Rejected(_) | Error::Stale(_) | Error::NotFound(_) | Error::Unavailable(_),
            ) => {}
            Err(error) => panic!("{}", error.with_cause()),
        }
        // Leave time on the CPUs to the reader.
        thread::sleep(Duration::from_millis(1));
    }
}

fn assert_complete_beside_writers(shared: &Arc<dyn Catalogue>) {
    let catalogue = &**shared;
    let model = MemoryCatalogue::new();
    for catalogue in [&model, catalogue] {
        let redefinition = Redefinition::new(DEFINITION.parse().unwrap());
        catalogue.define(redefinition).unwrap();
    }
    let definition = catalogue.definition();
    let robots = (1..=ROBOTS).map(|number| {
        let mut draft = draft(format!("Bót {number}"), number, true);
        if is_kept(number) {
            draft.set("type", "droid");
        }
        let draft = definition.validate(draft).unwrap();
        draft.with_id(RobotId::new(number).unwrap())
    });
    let all = Restoration::new(robots, None).unwrap();
    for catalogue in [&model, catalogue] {
        catalogue.restore(&all).unwrap();
    }
    for number in (1..=ROBOTS).filter(|number| !is_kept(*number)) {
        model.delete(RobotId::new(number).unwrap()).unwrap();
    }
    let (done, is_over) = (AtomicI64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let _over = Over(&is_over);
        let (done, is_over) = (&done, &is_over);
        for writer in 0..WRITERS {
            scope.spawn(move || write(catalogue, writer, done, is_over));
        }
        for round in 0..ROUNDS {
            let enough = done.load(Relaxed) + CHANGES;
            wait_for_progress(
                "changes of robots",
                || done.load(Relaxed),
                |done| *done >= enough,
            );
            for (place, sort) in sorts(&definition).into_iter().enumerate() {
                let query = FILTERS[(place + 7 * round) % FILTERS.len()];
                assert_lists(catalogue, &model, query, &sort);
            }
            let countable: Vec<_> = definition.countable().collect();
            for (place, query) in FILTERS.iter().enumerate() {
                let field = countable[(place + round) % countable.len()];
                assert_numbers(catalogue, &model, query, field);
            }
        }
    });
    assert_each_once_beside_renames(shared);
}

/// Exports and copies a catalogue while its robots get other names, which move them anywhere in the order of names.
fn assert_each_once_beside_renames(catalogue: &Arc<dyn Catalogue>) {
    let robots = catalogue.list().unwrap();
    let expected: BTreeMap<_, _> = robots.iter().map(|robot| (robot.id(), 1)).collect();
    let (api, is_over) = (Api::new(Arc::clone(catalogue)), AtomicBool::new(false));
    let (renamed, is_over) = (AtomicI64::new(0), &is_over);
    let renames = || loop {
        for robot in &robots {
            let number = renamed.fetch_add(1, Relaxed);
            let name = format!("{:05}-{number}", number * 7919 % 100_003);
            catalogue
                .patch(
                    robot.id(),
                    Draft {
                        name: Some(name.into()),
                        ..Draft::default()
                    },
                )
                .unwrap();
            if is_over.load(Relaxed) {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let _over = Over(is_over);
        scope.spawn(renames);
        wait_for("renames", || renamed.load(Relaxed) > 0);
        for (path, format) in [
            ("api", "csv"),
            ("v1", "csv"),
            ("v1", "json"),
            ("v1", "ndjson"),
        ] {
            let target = format!("/{path}/robots/export?format={format}&fields=id");
            let response = api.handle(http::Request::get(target).body("").unwrap());
            let body = response.into_body().into_bytes().unwrap();
            let mut found = BTreeMap::new();
            for id in String::from_utf8(body)
                .unwrap()
                .split(|c: char| !c.is_ascii_digit())
            {
                if let Ok(id) = id.parse::<RobotId>() {
                    *found.entry(id).or_insert(0) += 1;
                }
            }
            assert!(found == expected, "{path} {format}");
        }
        let target = MemoryCatalogue::new();
        let copied = copy(&**catalogue, &target, |_| ControlFlow::Continue(()));
        assert!(
            matches!(copied, Ok(_) | Err(CopyError::Mismatch { .. })),
            "{copied:?}"
        );
        let copies = target.list().unwrap();
        assert!(
            copies
                .iter()
                .map(|robot| (robot.id(), 1))
                .collect::<BTreeMap<_, _>>()
                == expected
        );
    });
}

fn filter(definition: &Definition, query: &str) -> Filter {
    let parts = query.split('&').filter_map(|part| part.split_once('='));
    parts.fold(Filter::all(), |filter, (name, text)| match name {
        "text" => filter.containing(text),
        "folded" => filter.containing(text).folded(),
        "q" => filter.with_words(text, definition),
        _ => {
            let mut all = definition.conditions();
            let condition = all.find(|condition| condition.name() == name).unwrap();
            filter.and(condition.clone(), condition.parse(text).unwrap())
        }
    })
}

/// Compares a list in an order, page by page and as entries, with that of the model.
fn assert_lists(catalogue: &dyn Catalogue, model: &MemoryCatalogue, query: &str, sort: &Sort) {
    let context = &format!("{query} by {sort}");
    let filter = filter(&catalogue.definition(), query);
    let uses_parts = context.contains("parts");
    let is_compared = |id: RobotId| is_kept(id.get()) && !(uses_parts && has_other_parts(id.get()));
    let list = |catalogue: &dyn Catalogue| -> Vec<_> {
        let pages = Pages::new(catalogue, filter.clone()).sorted(sort.clone());
        let robots = pages.page_size(500).flat_map(Result::unwrap);
        let compared = robots.filter(|robot| is_compared(robot.id()));
        let is_whole = |robot: &Robot| !has_other_parts(robot.id().get());
        let compared = compared.map(|robot| (robot.id(), Some(robot).filter(is_whole)));
        compared.collect()
    };
    assert_eq!(list(catalogue), list(model), "{context}");
    let named = |catalogue: &dyn Catalogue| -> Vec<_> {
        let page = catalogue.page(PageRequest {
            fields: &[Field::ID, Field::NAME],
            ..PageRequest::new(&filter, &Cursor::start(sort.clone()))
        });
        let robots = page.unwrap().items.into_iter();
        let compared = robots.filter(|robot| is_compared(robot.id()));
        let named = compared.map(|robot| (robot.id(), robot.name().to_owned()));
        named.collect()
    };
    assert_eq!(named(catalogue), named(model), "{context}");
}

/// Compares the numbers of robots that are kept, and reads by ids, with those of the model.
fn assert_numbers(catalogue: &dyn Catalogue, model: &MemoryCatalogue, query: &str, field: &Field) {
    let filter = filter(&catalogue.definition(), query).with(Field::TYPE, "droid");
    let some = (1..=ROBOTS).step_by(7).filter_map(RobotId::new);
    let by_ids = some.fold(filter.clone(), |filter, id| {
        filter.with(Field::ID, Value::Id(id))
    });
    let numbers = |catalogue: &dyn Catalogue| {
        let robots = Pages::new(catalogue, by_ids.clone()).flat_map(Result::unwrap);
        (
            catalogue.count(&filter).unwrap(),
            catalogue.summary(&filter).unwrap(),
            catalogue.value_counts(&filter, field).unwrap(),
            robots.map(|robot| robot.id()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(numbers(catalogue), numbers(model), "{field} of {query}");
}
