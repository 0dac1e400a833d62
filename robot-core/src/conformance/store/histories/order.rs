//! The search for an order of operations, one after the other, in which a catalogue gives the
//! answers that they got (Wing and Gong, 1993, with the memory of Lowe, 2017).
//!
//! An operation that had returned before another was called comes before it; those that
//! overlap may come in any order. Where there is such an order, each operation can be thought
//! to have taken place at one moment between its call and its return, and each read has seen
//! what was written last: the catalogue is linearizable.

use std::collections::{HashMap, HashSet};

use super::{
    history::Event,
    model::Model,
    operation::{Answer, Operation},
};
use crate::{
    conformance::store::valid,
    model::{Robot, RobotId},
};

/// A set of operations: the bits at their places in the history.
type Set = u128;

/// An order of a part of the operations that fits: their places in the history, and the
/// catalogue after them.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) places: Vec<usize>,
    pub(super) model: Model,
}

/// Finds an order.
///
/// # Errors
/// There is none. The longest that there is for a part of the operations may tell why.
pub(super) fn find(start: &Model, events: &[Event]) -> Result<(), Order> {
    assert!(events.len() < 128, "there is no place for so many in a set");
    let strangers = strangers(start, events);
    let mut search = Search {
        events,
        outcomes: events
            .iter()
            .map(|event| outcomes(event, &strangers))
            .collect(),
        impossible: HashMap::new(),
        order: Vec::new(),
        longest: Order {
            places: Vec::new(),
            model: start.clone(),
        },
    };
    if search.goes_on(0, start) {
        return Ok(());
    }
    Err(search.longest)
}

/// The places of the operations that may come next, when these have taken place: those that
/// were called before any of the others had returned.
pub(super) fn next(done: &[usize], events: &[Event]) -> Vec<usize> {
    let done = done.iter().fold(0, |set, place| set | 1 << place);
    candidates(done, events).collect()
}

fn candidates(done: Set, events: &[Event]) -> impl Iterator<Item = usize> {
    let rest = move || (0..events.len()).filter(move |place| done & 1 << place == 0);
    // What has an open outcome may take place after it returned, or never, so it does not
    // hold the others up.
    let settled = rest().filter(|place| !events[*place].answer.is_open());
    let first_return = settled.map(|place| events[place].returned).min();
    rest().filter(move |place| first_return.is_some_and(|first| events[*place].called < first))
}

/// The ids of robots that nobody was told to have added.
pub(super) fn strangers(start: &Model, events: &[Event]) -> HashSet<RobotId> {
    let is_add = |event: &&Event| matches!(event.operation, Operation::Add(_));
    let ids = |events: Vec<&Event>| -> HashSet<RobotId> {
        let robots = events.iter().flat_map(|event| event.answer.robots());
        robots.map(Robot::id).collect()
    };
    let (added, seen) = events.iter().partition(is_add);
    let mut strangers = &ids(seen) - &ids(added);
    strangers.retain(|id| start.robots().iter().all(|robot| robot.id() != *id));
    strangers
}

/// The answers that an operation would have got if it took place.
pub(super) fn outcomes(event: &Event, strangers: &HashSet<RobotId>) -> Vec<Answer> {
    match (&event.answer, &event.operation) {
        (Answer::Unavailable, _) => Vec::new(),
        // It is a robot that was seen: one that nobody knew could not be deleted, and would be
        // seen at the end.
        (Answer::Unknown, Operation::Add(draft)) => {
            let draft = valid(draft.clone());
            let robots = strangers.iter().map(|id| draft.clone().with_id(*id));
            robots.map(Answer::from).collect()
        }
        (Answer::Unknown, _) => vec![Answer::Done],
        (answer, _) => vec![answer.clone()],
    }
}

struct Search<'a> {
    events: &'a [Event],
    /// The outcomes of each event.
    outcomes: Vec<Vec<Answer>>,
    /// The catalogues from which the search has failed, by what had taken place.
    impossible: HashMap<Set, Vec<Model>>,
    /// The places of what has taken place.
    order: Vec<usize>,
    longest: Order,
}

impl Search<'_> {
    /// Whether all that is left can be put in an order from here.
    fn goes_on(&mut self, done: Set, model: &Model) -> bool {
        if self.order.len() >= self.longest.places.len() {
            self.longest.places.clone_from(&self.order);
            self.longest.model = model.clone();
        }
        if self.is_whole(done) {
            return true;
        }
        let dead_ends = self.impossible.get(&done);
        if dead_ends.is_some_and(|models| models.contains(model)) {
            return false;
        }
        for (place, after) in self.steps(done, model) {
            self.order.push(place);
            if self.goes_on(done | 1 << place, &after) {
                return true;
            }
            self.order.pop();
        }
        self.impossible.entry(done).or_default().push(model.clone());
        false
    }

    fn is_whole(&self, done: Set) -> bool {
        let mut events = self.events.iter().enumerate();
        events.all(|(place, event)| done & 1 << place != 0 || event.answer.is_open())
    }

    /// What may come next and fits, with the catalogue after it.
    fn steps(&self, done: Set, model: &Model) -> Vec<(usize, Model)> {
        let mut steps = Vec::new();
        for place in candidates(done, self.events) {
            let event = &self.events[place];
            for answer in &self.outcomes[place] {
                match model.after(&event.operation, answer) {
                    // What can change nothing, wherever it stands, is best put where it first
                    // fits: an order that has it later is as good with it here.
                    Some(after) if event.can_change_nothing() => return vec![(place, after)],
                    Some(after) => steps.push((place, after)),
                    None => {}
                }
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::{super::operation::EVERYTHING, *};
    use crate::model::Draft;

    /// A call, its answer, and the moments of both.
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
        Operation::Page(EVERYTHING)
    }

    fn read(robots: impl IntoIterator<Item = Robot>) -> Answer {
        robots.into_iter().collect()
    }

    fn has_order(start: &[Robot], entries: impl IntoIterator<Item = Entry>) -> bool {
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
        find(&Model::new(start), &events.collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn a_read_beside_a_write_sees_either_and_one_after_it_the_new() {
        let start = [robot(1, "a", 0)];
        let write = (0, 5, replace(1, "a", 7), Answer::Done);
        for (called, returned, year, is_good) in [
            (1, 2, 0, true),
            (1, 2, 7, true),
            (1, 2, 8, false),
            (4, 6, 0, true),
            (6, 7, 7, true),
            (6, 7, 0, false),
        ] {
            let look = (called, returned, get(1), read([robot(1, "a", year)]));
            assert_eq!(
                has_order(&start, [write.clone(), look]),
                is_good,
                "{called} {year}"
            );
        }
    }

    #[test]
    fn nobody_sees_the_old_after_somebody_saw_the_new() {
        let start = [robot(1, "a", 0)];
        let write = (0, 9, redate(1, 7), Answer::Done);
        let look = |called, year| (called, called + 1, get(1), read([robot(1, "a", year)]));
        assert!(has_order(&start, [write.clone(), look(1, 0), look(3, 7)]));
        assert!(!has_order(&start, [write, look(1, 7), look(3, 0)]));
    }

    #[test]
    fn all_see_two_writes_in_one_order() {
        let start = [robot(1, "a", 0)];
        let looks = |first: u64, years: [i64; 2]| {
            let [one, two] = years.map(|year| read([robot(1, "a", year)]));
            [
                (first, 12 + first, get(1), one),
                (20 + first, 30 + first, get(1), two),
            ]
        };
        let writes = [
            (0, 50, redate(1, 7), Answer::Done),
            (1, 51, redate(1, 8), Answer::Done),
        ];
        let history = |others| [writes.clone(), looks(2, [7, 8]), looks(3, others)].concat();
        assert!(has_order(&start, history([7, 8])));
        assert!(has_order(&start, history([0, 7])));
        assert!(!has_order(&start, history([8, 7])));
    }

    #[test]
    fn a_lost_update_has_no_order() {
        let start = [robot(1, "a", 0)];
        for (name, year, is_good) in [("b", 7, true), ("b", 0, false), ("a", 7, false)] {
            let history = [
                (0, 3, rename(1, "b"), Answer::Done),
                (1, 2, redate(1, 7), Answer::Done),
                (4, 5, get(1), read([robot(1, name, year)])),
            ];
            assert_eq!(has_order(&start, history), is_good, "{name} {year}");
        }
    }

    #[test]
    fn of_two_equal_names_one_is_refused() {
        let race = |first, second| [(0, 2, add("a"), first), (1, 3, add("a"), second)];
        assert!(has_order(&[], race(added(1, "a"), Answer::NameTaken)));
        assert!(has_order(&[], race(Answer::NameTaken, added(1, "a"))));
        assert!(!has_order(&[], race(added(1, "a"), added(2, "a"))));
        assert!(!has_order(&[], race(Answer::NameTaken, Answer::NameTaken)));

        let start = [robot(1, "a", 0), robot(2, "b", 0)];
        let first = (0, 2, rename(1, "ab"), Answer::Done);
        let renames = |answer| [first.clone(), (1, 3, rename(2, "ab"), answer)];
        assert!(has_order(&start, renames(Answer::NameTaken)));
        assert!(!has_order(&start, renames(Answer::Done)));
        let both = read([robot(1, "ab", 0), robot(2, "ab", 0)]);
        assert!(!has_order(&start, [(0, 1, page(), both)]));
    }

    #[test]
    fn a_robot_is_deleted_once_and_is_gone() {
        let start = [robot(1, "a", 0)];
        let race = |answer| [(0, 2, delete(1), Answer::Done), (1, 3, delete(1), answer)];
        assert!(has_order(&start, race(Answer::NotFound)));
        assert!(!has_order(&start, race(Answer::Done)));

        let then = |operation, answer| [(0, 1, delete(1), Answer::Done), (2, 3, operation, answer)];
        assert!(has_order(&start, then(get(1), read([]))));
        assert!(!has_order(&start, then(get(1), read(start.clone()))));
        assert!(!has_order(&start, then(page(), read(start.clone()))));
        assert!(!has_order(&start, then(redate(1, 7), Answer::Done)));
        assert!(!has_order(&start, then(add("a"), Answer::NameTaken)));
    }

    #[test]
    fn a_swap_of_names_is_seen_step_by_step() {
        let start = [robot(1, "a", 0), robot(2, "b", 0)];
        let steps = [
            (1, 2, rename(1, "ab"), Answer::Done),
            (3, 4, rename(2, "a"), Answer::Done),
            (5, 6, rename(1, "b"), Answer::Done),
        ];
        let is_seen = |robots: &[(i64, &str)]| {
            let robots = robots.iter().map(|(number, name)| robot(*number, name, 0));
            let look = (0, 7, page(), read(robots));
            has_order(&start, [steps.as_slice(), &[look]].concat())
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
    fn what_is_unknown_may_have_been_done_and_what_was_unavailable_not() {
        let start = [robot(1, "a", 0)];
        let year = |called, year| (called, called + 1, get(1), read([robot(1, "a", year)]));
        let write = |answer| (0, 1, redate(1, 7), answer);
        assert!(has_order(&start, [write(Answer::Unknown), year(2, 0)]));
        assert!(has_order(&start, [write(Answer::Unknown), year(2, 7)]));
        assert!(has_order(&start, [write(Answer::Unavailable), year(2, 0)]));
        assert!(!has_order(&start, [write(Answer::Unavailable), year(2, 7)]));
        let taken_back = [write(Answer::Unknown), year(2, 7), year(4, 0)];
        assert!(!has_order(&start, taken_back));

        let is_found = |name, found| {
            let find = (2, 3, Operation::Find("b"), found);
            has_order(&[], [(0, 1, add(name), Answer::Unknown), find])
        };
        assert!(is_found("b", added(5, "b")) && is_found("b", read([])));
        assert!(!is_found("a", added(5, "b")));
    }

    #[test]
    fn an_error_without_a_reason_has_no_order() {
        let failed = Answer::Failed("the disk is gone".to_owned());
        assert!(!has_order(&[], [(0, 1, add("a"), failed.clone())]));
        assert!(!has_order(&[], [(0, 1, page(), failed)]));
    }

    #[test]
    fn a_change_to_what_already_is_may_be_needed_later() {
        let history = [
            (0, 2, redate(1, 0), Answer::Done),
            (1, 3, redate(1, 7), Answer::Done),
            (4, 5, get(1), read([robot(1, "a", 0)])),
        ];
        assert!(has_order(&[robot(1, "a", 0)], history));
    }
}
