//! Cases: the changes of a catalogue, and the history of robots. A store that keeps none has nothing to show.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use super::{
    Run, add, assert_not_found, assert_rejected, draft, get, id, insert, ok, restore, revision,
    robot, valid, year,
};
use crate::{
    catalogue::{
        Action, AuthoredCatalogue, By, Catalogue, CatalogueExt, Change, Error, Event, Extent,
        Filter, Pages, Position, Redefinition, Retention, Revert, Sort, Start,
    },
    conformance::{Case, at_once, cases},
    model::{Audit, Draft, Field, Robot, RobotId, Timestamp, ValidChanges, Value, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    changes_are_in_order_and_robots_are_once,
    changes_start_at_a_time_or_before_the_last_ones,
    history_has_every_version_and_author,
    times_and_authors_choose_and_sort_robots,
    positions_of_others_are_gone,
    changes_together_are_between_positions,
    followers_have_the_state_of_the_catalogue,
    versions_come_back_under_the_rules_of_today,
    every_change_is_listed_once,
    changes_of_one_author_are_undone,
    released_names_are_taken_back,
    versions_are_pruned_from_the_oldest,
];

/// Of stores whose definition can be changed.
pub(super) const OF_DEFINITIONS: &[Case<Run>] = cases![changes_of_the_definition_are_kept];

/// The present position, if the store keeps the history.
fn position(catalogue: &dyn Catalogue) -> Option<Position> {
    match catalogue.position() {
        Err(Error::NoHistory) => None,
        position => Some(ok(position)),
    }
}

fn shown(events: &[Event]) -> Vec<(i64, Action, i64, Option<&str>)> {
    let shown = events.iter().map(|event| {
        let name = event.robot.as_ref().map(Robot::name);
        let (revision, id) = (event.revision.get(), event.id.get());
        assert!(
            event
                .robot
                .iter()
                .all(|robot| robot.revision() == event.revision)
        );
        (revision, event.action, id, name)
    });
    shown.collect()
}

fn changes_are_in_order_and_robots_are_once(catalogue: &dyn Catalogue) {
    use Action::{Added, Changed, Deleted};
    let Some(start) = position(catalogue) else {
        return;
    };
    let [a, b, c] = ["a", "b", "c"].map(|name| add(catalogue, name).id());
    let middle = ok(catalogue.position());
    ok(catalogue.update(a, year(1)));
    ok(catalogue.delete(b));
    assert!(catalogue.add(draft("c")).is_err());
    ok(restore(catalogue, &[robot(70, "d")], None));
    ok(catalogue.update(a, year(2)));
    let [a, b, c] = [a, b, c].map(RobotId::get);
    let [changed, deleted] = [(7, Changed, a, Some("a")), (5, Deleted, b, None)];
    let (kept, restored) = ((3, Added, c, Some("c")), (6, Added, 70, Some("d")));
    for (after, expected) in [
        (&start, &[kept, deleted, restored, changed][..]),
        (&middle, &[deleted, restored, changed]),
    ] {
        let all = ok(catalogue.changes(after, Extent::Latest, 100));
        assert_eq!(shown(&all.events), expected);
        assert!(all.is_last && all.next == ok(catalogue.position()));
        let (mut one_by_one, mut next) = (Vec::new(), after.clone());
        loop {
            let page = ok(catalogue.changes(&next, Extent::Latest, 1));
            assert!(page.events.len() <= 1);
            one_by_one.extend(page.events);
            next = page.next;
            if page.is_last {
                break;
            }
        }
        assert_eq!((one_by_one, next), (all.events, all.next));
    }
    let now = ok(catalogue.position());
    assert_eq!(ok(catalogue.changes(&now, Extent::Latest, 100)).events, []);
    assert_eq!(now.to_string().parse(), Ok(now));
}

fn changes_start_at_a_time_or_before_the_last_ones(catalogue: &dyn Catalogue) {
    let Some(start) = position(catalogue) else {
        return;
    };
    let first = add(catalogue, "a");
    for name in ["b", "c", "d"] {
        add(catalogue, name);
    }
    // The time of the next change is another one.
    thread::sleep(Duration::from_millis(5));
    ok(catalogue.update(first.id(), year(1980)));
    let time = ok(catalogue.history(first.id(), None, 1))[0].at;
    ok(catalogue.delete(add(catalogue, "e").id()));
    let revisions = |start: Start| {
        let changes = ok(catalogue.changes(&ok(start.find(catalogue)), Extent::Latest, 100));
        let revisions = changes.events.iter().map(|event| event.revision.get());
        revisions.collect::<Vec<_>>()
    };
    assert_eq!(
        time.map(|time| revisions(Start::At(time))),
        Some(vec![5, 7])
    );
    for (text, expected) in [
        ("last-0", &[][..]),
        ("last-1", &[7]),
        ("last-3", &[5, 7]),
        ("last-4", &[4, 5, 7]),
        ("last-1000", &[2, 3, 4, 5, 7]),
        ("1999-12-31", &[2, 3, 4, 5, 7]),
        ("2999-12-31T09:30:00Z", &[]),
    ] {
        let start = text.parse::<Start>();
        let start = start.unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(revisions(start), expected, "{text}");
    }
    assert_eq!(start.to_string().parse(), Ok(Start::After(start)));
    for text in [
        "",
        "last",
        "last-",
        "last--1",
        "5",
        "2026-02-30",
        "yesterday",
    ] {
        assert!(text.parse::<Start>().is_err(), "{text}");
    }
}

fn history_has_every_version_and_author(catalogue: &dyn Catalogue) {
    use Action::{Added, Changed, Deleted};
    if position(catalogue).is_none() {
        return;
    }
    let by = |author: &str| AuthoredCatalogue::new(catalogue, author);
    let robot = ok(by("Anna").add(draft("a")));
    let other = add(catalogue, "b");
    ok(catalogue.update(robot.id(), year(1980)));
    let rename: ValidChanges = valid(draft("A")).into();
    ok(by("Боб").commit(vec![Change::Update(robot.id(), None, rename)], None));
    ok(by("Anna").delete(robot.id()));
    let history = ok(catalogue.history(robot.id(), None, 100));
    let number = robot.id().get();
    let expected = [
        (5, Deleted, number, None),
        (4, Changed, number, Some("A")),
        (3, Changed, number, Some("a")),
        (1, Added, number, Some("a")),
    ];
    assert_eq!(shown(&history), expected);
    let authors: Vec<_> = history.iter().map(|event| event.by.as_deref()).collect();
    assert_eq!(authors, [Some("Anna"), Some("Боб"), None, Some("Anna")]);
    let years = history.iter().map(|event| event.robot.as_ref()?.year());
    assert!(years.eq([None, Some(1977), Some(1980), Some(1977)]));
    assert!(history.iter().all(|event| event.at.is_some()));
    let created = history[3].at;
    for event in &history[1..] {
        let audit = event.robot.as_ref().and_then(Robot::audit);
        let audit = audit.unwrap_or_else(|| panic!("{event:?}"));
        assert_eq!((audit.created_at, audit.updated_at), (created, event.at));
        assert_eq!(audit.updated_by, event.by);
    }
    for (before, limit) in [
        (None, 2),
        (Some(history[0].revision), 3),
        (Some(history[2].revision), 9),
    ] {
        let skipped = history.iter();
        let skipped = skipped.filter(|event| before.is_none_or(|before| event.revision < before));
        let page = ok(catalogue.history(robot.id(), before, limit));
        assert!(page.iter().eq(skipped.take(limit)), "{page:?}");
    }
    assert_eq!(shown(&ok(catalogue.history(other.id(), None, 9))).len(), 1);
    assert_eq!(ok(catalogue.history(id(i64::MAX), None, 9)), []);
    // The robots of lists and look-ups have none of it.
    assert_eq!(ok(catalogue.list()), [other]);
}

fn times_and_authors_choose_and_sort_robots(catalogue: &dyn Catalogue) {
    if position(catalogue).is_none() {
        return;
    }
    let wait = || thread::sleep(Duration::from_millis(3));
    let anna = AuthoredCatalogue::new(catalogue, "Anna");
    let first = ok(anna.add(draft("a"))).id();
    wait();
    add(catalogue, "b");
    wait();
    let c = ok(anna.add(draft("c"))).id();
    wait();
    ok(AuthoredCatalogue::new(catalogue, "Боб").update(first, year(1)));
    let time = Timestamp::from_milliseconds(1_000_000);
    let kept = Audit {
        created_at: time,
        updated_at: time,
        updated_by: Some("Zoe".into()),
    };
    let restored = robot(70, "d").with_audit(kept.clone());
    ok(restore(catalogue, &[restored], None));
    let of = |id: RobotId| {
        let robot = ok(catalogue.get_with(id, Field::AUDIT));
        let audit = robot.as_ref().and_then(Robot::audit);
        audit.cloned().unwrap_or_default()
    };
    assert_eq!(of(id(70)), kept);
    let added = of(c).created_at.unwrap_or_else(Timestamp::now);
    let added = Value::Timestamp(added);
    let (by, all) = (Field::UPDATED_BY, Filter::all);
    for (filter, sort, expected) in [
        (all(), "created_at", "dabc"),
        (all(), "-updated_at", "acbd"),
        (all().with(by.clone(), "Anna"), "name", "c"),
        (all().with(by.clone(), "Боб"), "name", "a"),
        (all().with(by, "anna"), "name", ""),
        (
            all().at_least(Field::CREATED_AT, added.clone()),
            "name",
            "c",
        ),
        (
            all().at_most(Field::CREATED_AT, added.clone()),
            "id",
            "abcd",
        ),
        (all().at_least(Field::UPDATED_AT, added), "updated_at", "ca"),
    ] {
        let sort: Sort = ok(sort.parse().map_err(|_| Error::store("no order")));
        let found = Pages::new(catalogue, filter.clone())
            .sorted(sort)
            .page_size(1);
        let found: Vec<Robot> = found.flat_map(ok).collect();
        let names: String = found.iter().map(Robot::name).collect();
        assert_eq!(names, expected, "{filter:?}");
        assert_eq!(ok(catalogue.count(&filter)), found.len() as u64);
    }
}

fn positions_of_others_are_gone(catalogue: &dyn Catalogue) {
    let Some(start) = position(catalogue) else {
        return;
    };
    let text = start.to_string();
    let (identity, _) = text.rsplit_once('-').unwrap_or_default();
    for text in [format!("{identity}-1"), format!("{identity}x-0")] {
        let other: Position = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let changes = catalogue.changes(&other, Extent::Latest, 10);
        assert!(matches!(changes, Err(Error::PositionGone)), "{changes:?}");
    }
    add(catalogue, "a");
    assert_eq!(
        ok(catalogue.changes(&start, Extent::Latest, 10))
            .events
            .len(),
        1
    );
}

fn changes_together_are_between_positions(catalogue: &dyn Catalogue) {
    let Some(start) = position(catalogue) else {
        return;
    };
    let old = add(catalogue, "old").id();
    let before = ok(catalogue.position());
    let changes = ["a", "b"].map(insert).into_iter();
    let changes = changes.chain([Change::Delete(old, None)]);
    let positions = ok(catalogue.commit(changes.collect(), Some("Anna"))).positions;
    assert_eq!(positions, Some((before.clone(), ok(catalogue.position()))));
    let made = ok(catalogue.changes(&before, Extent::Latest, 10)).events;
    assert!(
        made.iter().all(|event| event.by.as_deref() == Some("Anna")),
        "{made:?}"
    );
    assert_eq!(made.len(), 3);
    let failing = vec![insert("c"), insert("a")];
    assert!(catalogue.commit(failing, None).is_err());
    assert_eq!(ok(catalogue.position()).revision(), start.revision() + 4);
}

fn changes_of_the_definition_are_kept(catalogue: &dyn Catalogue) {
    if position(catalogue).is_none() {
        return;
    }
    let define = |document: &str| {
        let definition = super::own_fields::parse(document);
        let mut redefinition = Redefinition::new(definition);
        redefinition.drops_values = true;
        redefinition.by = Some("Ben".into());
        ok(catalogue.define(redefinition))
    };
    define(r#"{"properties": {"rooms": {"type": "string"}, "maker": {"type": "string"}}}"#);
    let mut draft = Draft::new("a", "droid", 1977);
    draft.set("maker", "ACME");
    let named = Draft {
        name: Some("b".into()),
        ..draft.clone()
    };
    let dropping = ok(catalogue.add(named)).id();
    draft.set("rooms", "3");
    let id = ok(AuthoredCatalogue::new(catalogue, "Anna").add(draft)).id();
    let other = add(catalogue, "c").id();
    define(r#"{"properties": {"rooms": {"type": "integer"}}}"#);
    let history = ok(catalogue.history(id, None, 10));
    let value = |event: &Event, name| {
        let robot = event.robot.as_ref();
        robot.and_then(|robot| robot.value(name).map(Value::into_owned))
    };
    let latest = history
        .first()
        .map(|event| (value(event, "rooms"), value(event, "maker")));
    assert_eq!(latest, Some((Some(3_i64.into()), None)));
    for id in [id, dropping] {
        let events = ok(catalogue.history(id, None, 10));
        let authors: Vec<_> = events.iter().map(|event| event.by.as_deref()).collect();
        assert_eq!((authors.len(), authors[0]), (2, Some("Ben")));
    }
    let first = history
        .last()
        .map(|event| (value(event, "rooms"), value(event, "maker")));
    assert_eq!(first, Some((Some("3".into()), Some("ACME".into()))));
    assert_eq!(
        history[0].revision,
        get(catalogue, id).map_or(history[1].revision, |robot| robot.revision())
    );
    assert_eq!(ok(catalogue.history(other, None, 10)).len(), 1);
}

/// Writers change robots, and followers make the same of the changes that they read.
fn followers_have_the_state_of_the_catalogue(catalogue: &dyn Catalogue) {
    const WRITERS: usize = 3;
    let Some(start) = position(catalogue) else {
        return;
    };
    let (are_done, running) = (
        AtomicBool::new(false),
        std::sync::atomic::AtomicUsize::new(WRITERS),
    );
    let copies = at_once(WRITERS + 2, |thread| {
        if thread < WRITERS {
            write(catalogue, thread);
            let left = running.fetch_sub(1, Ordering::SeqCst) - 1;
            are_done.store(left == 0, Ordering::SeqCst);
            return None;
        }
        let (mut copy, mut next) = (BTreeMap::new(), start.clone());
        loop {
            let is_over = are_done.load(Ordering::SeqCst);
            let changes = ok(catalogue.changes(&next, Extent::Latest, 1 + 5 * (thread - WRITERS)));
            let mut last = next.revision();
            for event in changes.events {
                assert!(event.revision.get() > last, "{event:?} after {last}");
                last = event.revision.get();
                match event.robot {
                    Some(robot) => copy.insert(event.id, robot),
                    None => copy.remove(&event.id),
                };
            }
            assert!(changes.next.revision() >= last);
            next = changes.next;
            if is_over && changes.is_last {
                return Some(copy);
            }
        }
    });
    let robots = ok(catalogue.list())
        .into_iter()
        .map(|robot| (robot.id(), robot));
    let robots: BTreeMap<_, _> = robots.collect();
    for copy in copies.into_iter().flatten() {
        assert_eq!(copy, robots);
    }
}

/// Adds, changes and deletes robots, alone and together.
fn write(catalogue: &dyn Catalogue, thread: usize) {
    for round in 0..12_i64 {
        let name = |number: i64| format!("{thread} {round} {number}");
        let alone = ok(catalogue.add(draft(&name(0)))).id();
        let both = ok(catalogue.apply_all(vec![insert(&name(1)), insert(&name(2))]));
        ok(catalogue.update(alone, year(round)));
        let changes = [
            Change::Update(alone, None, year(round + 1)),
            Change::Delete(both[0].id, None),
        ];
        ok(catalogue.apply_all(changes.to_vec()));
        if round % 3 == 0 {
            ok(catalogue.delete(alone));
        }
    }
}

fn versions_come_back_under_the_rules_of_today(catalogue: &dyn Catalogue) {
    if position(catalogue).is_none() {
        return;
    }
    let id = ok(catalogue.add(draft("a"))).id();
    ok(catalogue.replace(id, Draft::new("b", "virtual", 2001)));
    let stale = catalogue.revert_to(id, revision(1), Some(revision(1)));
    assert!(matches!(stale, Err(Error::Stale(_))), "{stale:?}");
    let reverted = ok(catalogue.revert_to(id, revision(1), Some(revision(2))));
    let expected = valid(draft("a")).with_id(id).with_revision(revision(3));
    assert_eq!(
        (&reverted, get(catalogue, id)),
        (&expected, Some(expected.clone()))
    );
    // It has the values already.
    assert_eq!(ok(catalogue.revert_to(id, revision(3), None)), reverted);
    ok(catalogue.delete(id));
    let missing = catalogue.revert_to(id, revision(4), None);
    assert!(
        matches!(missing, Err(Error::NoSuchVersion { .. })),
        "{missing:?}"
    );
    let other = add(catalogue, "a");
    assert_rejected(
        catalogue.revert_to(id, revision(3), None),
        &[Violation::NAME_TAKEN],
    );
    ok(catalogue.delete(other.id()));
    let mut events = ok(catalogue.history(id, None, 9));
    assert_eq!(events.len(), 4);
    let created = events.pop().and_then(|event| event.at);
    let anna = AuthoredCatalogue::new(catalogue, "Anna");
    let reverted = ok(anna.revert_to(id, revision(3), None));
    assert_eq!(get(catalogue, id), Some(reverted));
    let event = ok(catalogue.history(id, None, 1)).pop();
    let event = event.unwrap_or_else(|| panic!("no event"));
    assert_eq!(
        (event.action, event.by.as_deref()),
        (Action::Added, Some("Anna"))
    );
    let audit = event.robot.and_then(|robot| robot.audit().cloned());
    assert_eq!(audit.and_then(|audit| audit.created_at), created);
    assert!(add(catalogue, "c").id() > other.id());
    let never = super::id(i64::MAX);
    assert_not_found(catalogue.revert_to(never, revision(1), None), never);
    let draft = valid(draft("d"));
    assert_not_found(
        catalogue.apply(Change::Undelete(never, draft.clone())),
        never,
    );
    let present = catalogue.apply(Change::Undelete(id, draft));
    assert_rejected(present, &[Violation::ID_TAKEN]);
}

/// Adds, changes or deletes a robot.
fn change(catalogue: &dyn Catalogue, random: &mut fastrand::Rng, number: u64) -> RobotId {
    let robots = ok(catalogue.list());
    match robots.get(random.usize(..robots.len() + 3)) {
        None => ok(catalogue.add(draft(&number.to_string()))).id(),
        Some(robot) if random.u8(..3) == 0 => {
            ok(catalogue.delete(robot.id()));
            robot.id()
        }
        Some(robot) => {
            ok(catalogue.update(robot.id(), year(random.i64(..5000).abs())));
            robot.id()
        }
    }
}

/// Every change after any position is what the histories of all robots have.
fn every_change_is_listed_once(catalogue: &dyn Catalogue) {
    let Some(start) = position(catalogue) else {
        return;
    };
    let mut random = fastrand::Rng::with_seed(48);
    let (mut positions, mut ids) = (vec![start.clone()], BTreeSet::new());
    for number in 0..30 {
        ids.insert(change(catalogue, &mut random, number));
        positions.push(ok(catalogue.position()));
    }
    let now = || ok(catalogue.position());
    // Deleted robots come back, and are changed and deleted again.
    ok(catalogue.revert(&Revert::new(positions[20].clone(), now())));
    let both = ok(catalogue.apply_all(vec![insert("x"), insert("y")]));
    ids.extend(both.iter().map(|receipt| receipt.id));
    for number in 30..40 {
        ids.insert(change(catalogue, &mut random, number));
    }
    let histories = ids.iter();
    let histories = histories.flat_map(|id| ok(catalogue.history(*id, None, 1000)));
    let mut all: Vec<_> = histories.collect();
    for event in &all {
        let before = ok(catalogue.history(event.id, Some(event.revision), 1)).pop();
        assert_eq!(event.before, before.and_then(|event| event.robot));
    }
    all.sort_unstable_by_key(|event| event.revision);
    for after in positions.into_iter().step_by(6) {
        let first = all.partition_point(|event| !after.precedes(event.revision));
        for limit in [1, 7, 1000] {
            let (mut events, mut next, mut is_last) = (Vec::new(), after.clone(), false);
            while !is_last {
                let page = ok(catalogue.changes(&next, Extent::Every, limit));
                assert!(page.events.len() <= limit);
                events.extend(page.events);
                (next, is_last) = (page.next, page.is_last);
            }
            assert_eq!(
                (&events[..], next),
                (&all[first..], now()),
                "after {after}, by {limit}"
            );
        }
    }
    let last = ok(Start::Last(20).find(catalogue));
    assert_eq!(last.revision(), now().revision() - 20);
    let other = catalogue.changes(&Position::new("x", 0), Extent::Every, 1);
    assert!(matches!(other, Err(Error::PositionGone)), "{other:?}");
}

/// After any position, the changes of one author are undone for all robots that no other one has changed.
fn changes_of_one_author_are_undone(catalogue: &dyn Catalogue) {
    const CHANGES: u64 = 40;
    let Some(start) = position(catalogue) else {
        return;
    };
    let mut random = fastrand::Rng::with_seed(47);
    let (mut states, mut touched) = (vec![(start, Vec::new())], Vec::new());
    for number in 0..CHANGES {
        let author = ["Anna", "Bob"][usize::from(random.u8(..3) == 0)];
        let acting = AuthoredCatalogue::new(catalogue, author);
        touched.push((author, change(&acting, &mut random, number)));
        states.push((ok(catalogue.position()), ok(catalogue.list())));
    }
    let values = |robots: Vec<Robot>| {
        let values = robots
            .into_iter()
            .map(|robot| (robot.id(), Draft::from(robot)));
        values.collect::<BTreeMap<_, _>>()
    };
    let from = random.usize(..10);
    let (after, before) = states[from].clone();
    let revert = Revert {
        by: By::Only(Some("Anna".into())),
        ..Revert::new(after, states[states.len() - 1].0.clone())
    };
    let dry_run = Revert {
        is_dry_run: true,
        ..revert.clone()
    };
    let (now, planned) = (ok(catalogue.list()), ok(catalogue.revert(&dry_run)));
    assert_eq!(ok(catalogue.list()), now);
    let reverted = ok(AuthoredCatalogue::new(catalogue, "Undo").revert(&revert));
    assert_eq!(
        (&reverted.ids, &reverted.left),
        (&planned.ids, &planned.left)
    );
    let of = |author| {
        let touched = touched[from..].iter().filter(move |(by, _)| *by == author);
        touched.map(|(_, id)| *id).collect::<BTreeSet<_>>()
    };
    let (mut expected, before) = (values(now.clone()), values(before));
    for id in &of("Anna") - &of("Bob") {
        expected.remove(&id);
        let state = before.get(&id).cloned();
        expected.extend(state.map(|state| (id, state)));
    }
    assert_eq!(values(ok(catalogue.list())), expected, "from {from}");
    // The revert is undone by its positions.
    if let Some((after, until)) = reverted.positions {
        ok(catalogue.revert(&Revert::new(after, until)));
    }
    assert_eq!(values(ok(catalogue.list())), values(now));
}

/// In any order of the changes, also if robots have exchanged their names.
fn released_names_are_taken_back(catalogue: &dyn Catalogue) {
    let ids = ["a", "b", "c", "d"].map(|name| add(catalogue, name).id());
    let Some(start) = position(catalogue) else {
        return;
    };
    let names = || ids.map(|id| get(catalogue, id).map(|robot| robot.name().to_owned()));
    let before = names();
    let rename = |(place, name): &(usize, &str)| {
        ok(catalogue.replace(ids[*place], Draft::new(*name, "virtual", 2001)));
    };
    let renames = [
        (0, "x"),
        (1, "a"),
        (2, "b"),
        (0, "c"),
        (3, "d2"),
        (1, "a2"),
        (2, "a"),
        (3, "b"),
    ];
    renames.iter().for_each(rename);
    let after = names();
    let reverted = ok(catalogue.revert(&Revert::new(start, ok(catalogue.position()))));
    assert_eq!((names(), reverted.ids), (before, ids.to_vec()));
    let positions = reverted
        .positions
        .unwrap_or_else(|| panic!("nothing is stored"));
    ok(catalogue.revert(&Revert::new(positions.0, positions.1)));
    assert_eq!(names(), after);
}

fn versions_are_pruned_from_the_oldest(catalogue: &dyn Catalogue) {
    let Some(start) = position(catalogue) else {
        return;
    };
    let [a, b] = ["a", "b"].map(|name| add(catalogue, name).id());
    for round in 0..3 {
        ok(catalogue.update(a, year(round)));
    }
    let middle = ok(catalogue.position());
    ok(catalogue.delete(b));
    let now = ok(catalogue.position());
    assert_eq!(ok(catalogue.prune(Retention::default())), 0);
    let kept = |versions| Retention {
        versions,
        ..Retention::default()
    };
    assert_eq!(ok(catalogue.prune(kept(2))), 2);
    assert_eq!(ok(catalogue.prune(kept(2))), 0);
    let gone = catalogue.changes(&start, Extent::Latest, 10);
    assert!(matches!(gone, Err(Error::PositionGone)), "{gone:?}");
    assert_eq!(
        ok(catalogue.changes(&middle, Extent::Latest, 10))
            .events
            .len(),
        1
    );
    assert_eq!(ok(catalogue.history(a, None, 10)).len(), 2);
    assert_eq!(ok(catalogue.prune(Retention::NONE)), 2);
    assert!(matches!(
        catalogue.changes(&middle, Extent::Latest, 10),
        Err(Error::PositionGone)
    ));
    assert_eq!(ok(catalogue.changes(&now, Extent::Latest, 10)).events, []);
    assert_eq!(ok(catalogue.history(b, None, 10)), []);
    assert_eq!(ok(catalogue.history(a, None, 10)).len(), 1);
    // Later changes are kept again.
    ok(catalogue.update(a, year(5)));
    assert_eq!(
        ok(catalogue.changes(&now, Extent::Latest, 10)).events.len(),
        1
    );
}
