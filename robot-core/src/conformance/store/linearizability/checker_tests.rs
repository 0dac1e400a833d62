//! Tests of the checker with small histories.

use super::{
    checker::check,
    event::Event,
    model::Model,
    operation::{Answer, Operation},
};
use crate::{
    conformance::store::valid,
    model::{Draft, Revision, Robot, RobotId},
};

/// The times of call and return, the operation and its answer.
type Entry = (u64, u64, Operation, Answer);

fn id(number: i64) -> RobotId {
    RobotId::new(number).unwrap()
}

fn draft(name: &str, year: i64) -> Draft {
    Draft::new(name, "droid", year)
}

fn robot(number: i64, name: &str, year: i64) -> Robot {
    valid(draft(name, year)).with_id(id(number))
}

/// The robot after this number of changes.
fn changed(changes: i64, robot: Robot) -> Robot {
    robot.with_revision(Revision::new(1 + changes).unwrap())
}

fn add(name: &str) -> Operation {
    Operation::Add(draft(name, 0))
}

fn added(number: i64, name: &str) -> Answer {
    robot(number, name, 0).into()
}

fn replace(number: i64, name: &str, year: i64) -> Operation {
    Operation::Replace(id(number), draft(name, year))
}

fn rename(number: i64, name: &str) -> Operation {
    let name = Some(name.to_owned());
    let none = Draft::default();
    Operation::Amend(id(number), Draft { name, ..none })
}

fn redate(number: i64, year: i64) -> Operation {
    let year = Some(year);
    let none = Draft::default();
    Operation::Amend(id(number), Draft { year, ..none })
}

fn get(number: i64) -> Operation {
    Operation::Get(id(number))
}

fn delete(number: i64) -> Operation {
    Operation::Delete(id(number))
}

fn page() -> Operation {
    Operation::everything()
}

fn read(robots: impl IntoIterator<Item = Robot>) -> Answer {
    robots.into_iter().collect()
}

fn is_linearizable(start: &[Robot], entries: impl IntoIterator<Item = Entry>) -> bool {
    let events = entries.into_iter().map(|entry| {
        let (called, returned, operation, answer) = entry;
        Event {
            thread: 0,
            operation,
            answer,
            called,
            returned,
        }
    });
    check(&Model::new(start), &events.collect::<Vec<_>>()).is_ok()
}

#[test]
fn only_concurrent_reads_may_return_either_value() {
    let start = [robot(1, "a", 0)];
    let write = (0, 5, replace(1, "a", 7), Answer::Done);
    for (called, returned, year, changes, is_good) in [
        (1, 2, 0, 0, true),
        (1, 2, 7, 1, true),
        (1, 2, 8, 1, false),
        (1, 2, 7, 0, false),
        (4, 6, 0, 0, true),
        (6, 7, 7, 1, true),
        (6, 7, 0, 0, false),
        (6, 7, 0, 1, false),
    ] {
        let found = changed(changes, robot(1, "a", year));
        let look = (called, returned, get(1), read([found]));
        assert_eq!(
            is_linearizable(&start, [write.clone(), look]),
            is_good,
            "{called} {year} {changes}"
        );
    }
}

#[test]
fn old_value_after_new_value_is_rejected() {
    let start = [robot(1, "a", 0)];
    let write = (0, 9, redate(1, 7), Answer::Done);
    let look = |called, robot| (called, called + 1, get(1), read([robot]));
    let [old, new] = [robot(1, "a", 0), changed(1, robot(1, "a", 7))];
    let looks = |first: &Robot, second: &Robot| {
        let looks = [look(1, first.clone()), look(3, second.clone())];
        [[write.clone()].as_slice(), &looks].concat()
    };
    assert!(is_linearizable(&start, looks(&old, &new)));
    assert!(!is_linearizable(&start, looks(&new, &old)));
}

#[test]
fn readers_disagreeing_on_write_order_are_rejected() {
    let start = [robot(1, "a", 0)];
    let looks = |first: u64, states: [(i64, i64); 2]| {
        let [one, two] =
            states.map(|(changes, year)| read([changed(changes, robot(1, "a", year))]));
        [
            (first, 12 + first, get(1), one),
            (20 + first, 30 + first, get(1), two),
        ]
    };
    let writes = [
        (0, 50, redate(1, 7), Answer::Done),
        (1, 51, redate(1, 8), Answer::Done),
    ];
    let history = |others| [writes.clone(), looks(2, [(1, 7), (2, 8)]), looks(3, others)].concat();
    assert!(is_linearizable(&start, history([(1, 7), (2, 8)])));
    assert!(is_linearizable(&start, history([(0, 0), (1, 7)])));
    assert!(!is_linearizable(&start, history([(1, 8), (2, 7)])));
}

#[test]
fn lost_update_is_rejected() {
    let start = [robot(1, "a", 0)];
    for (name, year, is_good) in [("b", 7, true), ("b", 0, false), ("a", 7, false)] {
        let history = [
            (0, 3, rename(1, "b"), Answer::Done),
            (1, 2, redate(1, 7), Answer::Done),
            (4, 5, get(1), read([changed(2, robot(1, name, year))])),
        ];
        assert_eq!(is_linearizable(&start, history), is_good, "{name} {year}");
    }
}

#[test]
fn two_robots_with_one_name_are_rejected() {
    let race = |first, second| [(0, 2, add("a"), first), (1, 3, add("a"), second)];
    assert!(is_linearizable(&[], race(added(1, "a"), Answer::NameTaken)));
    assert!(is_linearizable(&[], race(Answer::NameTaken, added(1, "a"))));
    assert!(!is_linearizable(&[], race(added(1, "a"), added(2, "a"))));
    assert!(!is_linearizable(
        &[],
        race(Answer::NameTaken, Answer::NameTaken)
    ));

    let start = [robot(1, "a", 0), robot(2, "b", 0)];
    let first = (0, 2, rename(1, "ab"), Answer::Done);
    let renames = |answer| [first.clone(), (1, 3, rename(2, "ab"), answer)];
    assert!(is_linearizable(&start, renames(Answer::NameTaken)));
    assert!(!is_linearizable(&start, renames(Answer::Done)));
    let both = read([robot(1, "ab", 0), robot(2, "ab", 0)]);
    assert!(!is_linearizable(&start, [(0, 1, page(), both)]));
}

#[test]
fn read_of_deleted_robot_is_rejected() {
    let start = [robot(1, "a", 0)];
    let race = |answer| [(0, 2, delete(1), Answer::Done), (1, 3, delete(1), answer)];
    assert!(is_linearizable(&start, race(Answer::NotFound)));
    assert!(!is_linearizable(&start, race(Answer::Done)));

    let then = |operation, answer| [(0, 1, delete(1), Answer::Done), (2, 3, operation, answer)];
    assert!(is_linearizable(&start, then(get(1), read([]))));
    assert!(!is_linearizable(&start, then(get(1), read(start.clone()))));
    assert!(!is_linearizable(&start, then(page(), read(start.clone()))));
    assert!(!is_linearizable(&start, then(redate(1, 7), Answer::Done)));
    assert!(!is_linearizable(&start, then(add("a"), Answer::NameTaken)));
}

#[test]
fn page_shows_one_state_of_a_name_swap() {
    let start = [robot(1, "a", 0), robot(2, "b", 0)];
    let steps = [
        (1, 2, rename(1, "ab"), Answer::Done),
        (3, 4, rename(2, "a"), Answer::Done),
        (5, 6, rename(1, "b"), Answer::Done),
    ];
    let changes = |number, name: &str| match (number, name) {
        (1, "ab") | (2, "a") => 1,
        (1, "b") => 2,
        _ => 0,
    };
    let is_seen = |robots: &[(i64, &str)]| {
        let robots = robots
            .iter()
            .map(|(number, name)| changed(changes(*number, name), robot(*number, name, 0)));
        let look = (0, 7, page(), read(robots));
        is_linearizable(&start, [steps.as_slice(), &[look]].concat())
    };
    let (begun, half_done) = ([(1, "ab"), (2, "b")], [(2, "a"), (1, "ab")]);
    for good in [[(1, "a"), (2, "b")], begun, half_done, [(2, "a"), (1, "b")]] {
        assert!(is_seen(&good), "{good:?}");
    }
    let (twice, without) = ([(1, "a"), (1, "ab")], [(1, "a")]);
    let bad: [&[_]; 4] = [
        &[(1, "a"), (2, "a")],
        &[(1, "b"), (2, "b")],
        &twice,
        &without,
    ];
    for bad in bad {
        assert!(!is_seen(bad), "{bad:?}");
    }
}

#[test]
fn only_unknown_changes_may_have_been_applied() {
    let start = [robot(1, "a", 0)];
    let year = |called, year| {
        let found = changed(i64::from(year == 7), robot(1, "a", year));
        (called, called + 1, get(1), read([found]))
    };
    let write = |answer| (0, 1, redate(1, 7), answer);
    assert!(is_linearizable(
        &start,
        [write(Answer::Unknown), year(2, 0)]
    ));
    assert!(is_linearizable(
        &start,
        [write(Answer::Unknown), year(2, 7)]
    ));
    assert!(is_linearizable(
        &start,
        [write(Answer::Unavailable), year(2, 0)]
    ));
    assert!(!is_linearizable(
        &start,
        [write(Answer::Unavailable), year(2, 7)]
    ));
    let taken_back = [write(Answer::Unknown), year(2, 7), year(4, 0)];
    assert!(!is_linearizable(&start, taken_back));

    let is_found = |name, found| {
        let find = (2, 3, Operation::Find("b"), found);
        is_linearizable(&[], [(0, 1, add(name), Answer::Unknown), find])
    };
    assert!(is_found("b", added(5, "b")) && is_found("b", read([])));
    assert!(!is_found("a", added(5, "b")));
}

#[test]
fn unexpected_error_is_rejected() {
    let failed = Answer::Failed("the disk is gone".to_owned());
    assert!(!is_linearizable(&[], [(0, 1, add("a"), failed.clone())]));
    assert!(!is_linearizable(&[], [(0, 1, page(), failed)]));
}

#[test]
fn change_to_the_same_value_may_be_ordered_later() {
    let history = [
        (0, 2, redate(1, 0), Answer::Done),
        (1, 3, redate(1, 7), Answer::Done),
        (4, 5, get(1), read([changed(2, robot(1, "a", 0))])),
    ];
    assert!(is_linearizable(&[robot(1, "a", 0)], history));
}

#[test]
fn stale_change_is_rejected_if_the_robot_was_current() {
    let start = [robot(1, "a", 0)];
    let expect = |called, number, answer| {
        let draft = Draft {
            year: Some(7),
            ..Draft::default()
        };
        let operation = Operation::AmendIf(id(1), Revision::new(number).unwrap(), draft);
        (called, called + 2, operation, answer)
    };
    for (history, is_good) in [
        (
            [expect(0, 1, Answer::Done), expect(1, 1, Answer::Stale)],
            true,
        ),
        (
            [expect(0, 1, Answer::Stale), expect(1, 1, Answer::Done)],
            true,
        ),
        (
            [expect(0, 1, Answer::Done), expect(1, 1, Answer::Done)],
            false,
        ),
        (
            [expect(0, 1, Answer::Stale), expect(5, 1, Answer::Done)],
            false,
        ),
        (
            [expect(0, 1, Answer::Done), expect(5, 2, Answer::Stale)],
            false,
        ),
    ] {
        assert_eq!(
            is_linearizable(&start, history.clone()),
            is_good,
            "{history:?}"
        );
    }
}
