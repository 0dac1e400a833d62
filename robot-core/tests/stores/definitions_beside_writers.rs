//! Changes of the definition beside writers, on two catalogues of one database, as two servers have it. Each acknowledged
//! value is stored, unless a later definition has dropped it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    thread,
    time::Instant,
};

use robot_core::{
    Catalogue, CatalogueExt, Change, Definition, Draft, Error, Filter, Pages, Redefinition, Robot,
    RobotId, Rule, Sort, Value, Violation,
};

use crate::{
    backend::{Backend, database_tests},
    wait_for, wait_for_progress,
};

database_tests![acknowledged_values_beside_definitions_are_kept];

/// The states of the field `n`, one after the other: its type, if there is the field, and its other keywords.
const STATES: [(&str, &str); 13] = [
    ("integer", ""),
    ("integer", r#","unique":true"#),
    ("string", r#","search":true"#),
    ("string", r#","unique":true,"search":true"#),
    ("number", r#","index":true"#),
    ("integer", r#","unique":true"#),
    ("", ""),
    ("integer", r#","index":true"#),
    ("", ""),
    ("string", r#","index":true,"search":true"#),
    ("number", r#","unique":true"#),
    ("integer", r#","index":true"#),
    ("string", r#","unique":true"#),
];

/// The number of rounds. After each, the writers stop, and all values are accounted for.
const ROUNDS: usize = 3;

/// The changes of the definition in a round, and the acknowledged changes of robots before each.
const DEFINITIONS: usize = 5;
const CHANGES: i64 = 40;

/// The number of writers, each of which changes robots of its own. Half of them use one of the catalogues.
const WRITERS: usize = 4;

/// When something began and ended.
type Interval = (Instant, Instant);

/// The acknowledged values of a robot, and when `n` was set.
#[derive(Clone)]
struct Written {
    m: i64,
    n: Option<Value<'static>>,
    interval: Interval,
}

type Ledger = BTreeMap<RobotId, Written>;

fn definition((kind, keywords): (&str, &str)) -> Definition {
    let n = match kind {
        "" => String::new(),
        kind => format!(r#","n":{{"type":"{kind}"{keywords}}}"#),
    };
    let document = format!(r#"{{"properties":{{"m":{{"type":"integer","index":true}}{n}}}}}"#);
    document.parse().unwrap()
}

fn draft(m: i64, n: Option<&Value<'static>>) -> Draft {
    let mut draft = Draft::new(format!("robot {m}"), "droid", 1977);
    draft.set("m", m);
    if let Some(n) = n {
        draft.set("n", n.clone());
    }
    draft
}

/// The writers of all rounds: the next value, and how many changes were acknowledged.
#[derive(Default)]
struct Writers {
    next: AtomicI64,
    done: AtomicI64,
    is_over: AtomicBool,
}

impl Writers {
    fn wait_for_changes(&self) {
        let enough = self.done.load(Relaxed) + CHANGES;
        let done = || self.done.load(Relaxed);
        wait_for_progress("changes of robots", done, |done| *done >= enough);
    }

    /// Changes robots of a ledger until the round is over. Only a definition rejects a change: the kind of `n`.
    fn write(&self, catalogue: &dyn Catalogue, ledger: &mut Ledger) {
        while !self.is_over.load(Relaxed) {
            let m = self.next.fetch_add(1, Relaxed);
            let place = usize::try_from(m).unwrap();
            let definition = catalogue.definition();
            let fractional = Value::number(0.5 + f64::from(u32::try_from(m).unwrap()));
            // An integer is a number, too.
            let mut values = [m.into(), format!("t{m}").into(), fractional.unwrap()];
            values.rotate_left(place % 2 * 2);
            let mut values = values.into_iter();
            let n = values.find(|n| definition.validate(draft(m, Some(n))).is_ok());
            let n = n.filter(|_| m % 7 > 0);
            let removed: Vec<_> = definition.field("n").cloned().into_iter().collect();
            let new = draft(m, n.as_ref());
            let whole = definition.validate(new.clone()).unwrap();
            let patch = definition.validate_patch(new, &removed).unwrap();
            let id = *ledger.keys().nth(place % ledger.len()).unwrap();
            let began = Instant::now();
            let ids = match m % 6 {
                0 => catalogue.insert(whole).map(|robot| vec![robot.id()]),
                1 => catalogue.update(id, whole.into()).map(|()| vec![id]),
                2 => {
                    let other = definition.validate(draft(-m, None)).unwrap();
                    let changes = vec![Change::Update(id, None, patch), Change::Insert(other)];
                    let receipts = catalogue.apply_all(changes);
                    receipts.map(|receipts| receipts.iter().map(|receipt| receipt.id).collect())
                }
                _ => catalogue.update(id, patch).map(|()| vec![id]),
            };
            let interval = (began, Instant::now());
            match ids {
                Ok(ids) => {
                    for (id, (m, n)) in ids.into_iter().zip([(m, n), (-m, None)]) {
                        let written = Written { m, n, interval };
                        match ledger.get_mut(&id) {
                            // A patch keeps the value of a field that its definition does not have.
                            Some(before) if removed.is_empty() && m % 6 > 1 => before.m = m,
                            _ => _ = ledger.insert(id, written),
                        }
                    }
                    self.done.fetch_add(1, Relaxed);
                }
                Err(Error::Rejected(violations)) => {
                    let is_of_kind =
                        |one: &Violation| one.field() == "n" && one.rule() == Rule::WrongKind;
                    assert!(violations.iter().all(is_of_kind), "{violations}");
                }
                Err(error) => panic!("{}", error.with_cause()),
            }
        }
    }
}

fn acknowledged_values_beside_definitions_are_kept<B: Backend>() {
    let database = B::new();
    let (writers, mut drops) = (Writers::default(), Vec::new());
    let mut states = STATES.iter().copied().cycle();
    let mut present = states.next().unwrap();
    let redefinition = |state| Redefinition {
        drops_values: true,
        ..Redefinition::new(definition(state))
    };
    let first = database.open();
    first.define(redefinition(present)).unwrap();
    let servers = [first, database.open()];
    let mut ledgers = [(); WRITERS].map(|()| {
        let robots = (0..10).map(|_| {
            let m = writers.next.fetch_add(1, Relaxed);
            let id = servers[0].add(draft(m, None)).unwrap().id();
            let interval = (Instant::now(), Instant::now());
            (
                id,
                Written {
                    m,
                    n: None,
                    interval,
                },
            )
        });
        robots.collect::<Ledger>()
    });
    for _ in 0..ROUNDS {
        writers.is_over.store(false, Relaxed);
        thread::scope(|scope| {
            let _over = Over(&writers.is_over);
            for (server, ledger) in servers.iter().cycle().zip(&mut ledgers) {
                scope.spawn(|| writers.write(server, ledger));
            }
            for server in servers.iter().cycle().take(DEFINITIONS) {
                writers.wait_for_changes();
                let (before, began) = (present, Instant::now());
                present = states.next().unwrap();
                server.define(redefinition(present)).unwrap();
                if before.0 != present.0 {
                    let is_removed = present.0.is_empty();
                    drops.push(((began, Instant::now()), is_removed));
                }
            }
            writers.wait_for_changes();
        });
        let newest = servers
            .iter()
            .map(|server| server.definition().revision())
            .max();
        for server in &servers {
            let knows = || Some(server.definition().revision()) == newest;
            wait_for("the definition is known", knows);
            assert_accounted(server, &ledgers, &drops);
            assert_answers(server, present);
        }
    }
}

/// Ends the writers, also if the test panics.
pub(crate) struct Over<'a>(pub(crate) &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn list(catalogue: &dyn Catalogue, filter: &Filter, sort: Sort) -> Vec<Robot> {
    let pages = Pages::new(catalogue, filter.clone())
        .sorted(sort)
        .page_size(50);
    pages.flat_map(Result::unwrap).collect()
}

/// Asserts that each robot has its acknowledged values, perhaps as another kind, except those that a definition has
/// dropped: all if it has removed the field, or those that it could not convert.
fn assert_accounted(catalogue: &dyn Catalogue, ledgers: &[Ledger], drops: &[(Interval, bool)]) {
    let robots = list(catalogue, &Filter::all(), Sort::default());
    assert_eq!(robots.len(), ledgers.iter().map(Ledger::len).sum::<usize>());
    let definition = catalogue.definition();
    let field = definition.field("n");
    for robot in robots {
        let mut written = ledgers.iter().filter_map(|ledger| ledger.get(&robot.id()));
        let Written { m, n, interval } = written.next().unwrap();
        let stored = field.and_then(|field| robot.value_of(field));
        let may_be_dropped = drops.iter().any(|(drop, _)| drop.1 >= interval.0);
        let mut drops = drops.iter();
        let must_be_dropped = drops.any(|(drop, is_removed)| *is_removed && drop.0 > interval.1);
        let text = |value: &Option<Value<'_>>| value.as_ref().map(ToString::to_string);
        let is_right = match &stored {
            Some(_) => text(&stored) == text(n) && !must_be_dropped,
            None => n.is_none() || may_be_dropped,
        };
        assert!(is_right, "{n:?} became {stored:?} of {robot:?}");
        assert_eq!(robot.value("m"), Some(Value::from(*m)), "{robot:?}");
    }
}

/// Asserts that orders, conditions, searches and definitions agree with the values of `n` that robots show.
fn assert_answers(catalogue: &dyn Catalogue, (_, keywords): (&str, &str)) {
    let definition = catalogue.definition();
    let Some(field) = definition.field("n") else {
        return;
    };
    let mut robots = list(catalogue, &Filter::all(), Sort::default());
    for is_descending in [false, true] {
        let sort = Sort {
            field: field.clone(),
            is_descending,
        };
        robots.sort_by(|one, other| sort.compare(one, other));
        assert_eq!(
            list(catalogue, &Filter::all(), sort.clone()),
            robots,
            "{sort}"
        );
    }
    let mut conditions = definition.conditions();
    let is_n = conditions
        .find(|condition| condition.name() == "n")
        .unwrap();
    let values = robots.iter().filter_map(|robot| robot.value_of(field));
    let values: Vec<_> = values.map(Value::into_owned).collect();
    let some = values.iter().step_by(values.len() / 20 + 1);
    let of_some = some.flat_map(|value| {
        let words = Filter::all().with_words(&value.to_string(), &definition);
        [Filter::all().with(field.clone(), value.clone()), words]
    });
    let sort = Sort {
        field: field.clone(),
        is_descending: true,
    };
    for filter in of_some.chain([Filter::all().and(is_n, None)]) {
        let expected = robots.iter().filter(|robot| filter.matches(robot));
        let expected: Vec<_> = expected.cloned().collect();
        assert_eq!(
            list(catalogue, &filter, sort.clone()),
            expected,
            "{filter:?}"
        );
    }
    let Some(value) = values.last() else {
        return;
    };
    if keywords.contains("unique") {
        let added = catalogue.add(draft(-1, Some(value)));
        assert!(matches!(added, Err(Error::Rejected(_))), "{added:?}");
    }
    // Values that no robot shows would be lost, too.
    let without = Redefinition::new(self::definition(("", "")));
    let lost = match catalogue.define(without) {
        Err(Error::DefinitionConflict { robots, .. }) => usize::try_from(robots),
        other => panic!("{other:?}"),
    };
    assert_eq!(lost, Ok(values.len()));
}
