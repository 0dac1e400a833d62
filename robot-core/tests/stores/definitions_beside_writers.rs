//! Changes of the definition beside writers, on two catalogues of one database, as two servers have it. Each acknowledged
//! value is stored, unless a later definition has dropped it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use robot_core::{
    Catalogue, CatalogueExt, Change, Definition, Draft, Error, Filter, Pages, Redefinition, Robot,
    RobotId, Rule, Sort, Value, Violation,
};

use crate::backend::{Backend, database_tests};

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

/// How long something may take on a busy machine.
const STALL_LIMIT: Duration = Duration::from_secs(60);

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

fn wait_until(what: &str, is_met: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_met() {
        assert!(began.elapsed() < STALL_LIMIT, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The writers of all rounds: the next value, and how many changes were acknowledged.
#[derive(Default)]
struct Writers {
    next: AtomicI64,
    done: AtomicI64,
    rejected: AtomicI64,
    is_over: AtomicBool,
}

impl Writers {
    /// Changes robots of a ledger until the round is over. Nothing but a definition rejects a change, because of `n`.
    fn write(&self, catalogue: &dyn Catalogue, ledger: &mut Ledger) {
        while !self.is_over.load(Relaxed) {
            let m = self.next.fetch_add(1, Relaxed);
            let definition = catalogue.definition();
            let fractional = Value::number(0.5 + f64::from(u32::try_from(m).unwrap()));
            let mut values = vec![Value::from(m), format!("t{m}").into(), fractional.unwrap()];
            // An integer is a number, too.
            values.rotate_left(usize::try_from(m % 2 * 2).unwrap());
            values.retain(|value| definition.validate(draft(m, Some(value))).is_ok());
            let n = values.into_iter().next().filter(|_| m % 7 > 0);
            let removed: Vec<_> = definition.field("n").into_iter().collect();
            let patch = definition
                .validate_patch(draft(m, n.as_ref()), &removed)
                .unwrap();
            let whole = definition.validate(draft(m, n.as_ref())).unwrap();
            let id = *ledger
                .keys()
                .nth(usize::try_from(m).unwrap() % ledger.len())
                .unwrap();
            let began = Instant::now();
            let ids = match m % 6 {
                0 => catalogue.insert(whole).map(|robot| vec![robot.id()]),
                1 => {
                    let other = definition.validate(draft(-m, None)).unwrap();
                    let changes = vec![Change::Update(id, None, patch), Change::Insert(other)];
                    catalogue.apply_all(changes)
                }
                2 => catalogue.update(id, whole.into()).map(|()| vec![id]),
                _ => catalogue.update(id, patch).map(|()| vec![id]),
            };
            let interval = (began, Instant::now());
            match ids {
                Ok(ids) => {
                    let values = [(m, n), (-m, None)];
                    for (id, (m, n)) in ids.into_iter().zip(values) {
                        let mut written = Written { m, n, interval };
                        // A patch keeps the value of a field that its definition does not have.
                        if removed.is_empty()
                            && !matches!(m % 6, 0 | 2)
                            && let Some(before) = ledger.get(&id)
                        {
                            written = Written {
                                m,
                                ..before.clone()
                            };
                        }
                        ledger.insert(id, written);
                    }
                    self.done.fetch_add(1, Relaxed);
                }
                Err(Error::Rejected(violations)) => {
                    let is_of_n = |one: &Violation| one.field() == "n" && one.rule() != Rule::Taken;
                    assert!(violations.iter().all(is_of_n), "{violations}");
                    self.rejected.fetch_add(1, Relaxed);
                }
                Err(error) => panic!("{}", error.with_cause()),
            }
        }
    }
}

fn acknowledged_values_beside_definitions_are_kept<B: Backend>() {
    let database = B::new();
    let first = database.open();
    let (writers, mut drops) = (Writers::default(), Vec::new());
    let mut states = STATES.iter().copied().cycle();
    let mut present = states.next().unwrap();
    let redefinition = |state| Redefinition {
        drops_values: true,
        ..Redefinition::new(definition(state))
    };
    first.define(redefinition(present)).unwrap();
    let servers = [first, database.open()];
    let mut ledgers = vec![Ledger::new(); WRITERS];
    for ledger in &mut ledgers {
        for _ in 0..10 {
            let m = writers.next.fetch_add(1, Relaxed);
            let began = Instant::now();
            let id = servers[0].add(draft(m, None)).unwrap().id();
            let interval = (began, Instant::now());
            ledger.insert(
                id,
                Written {
                    m,
                    n: None,
                    interval,
                },
            );
        }
    }
    for _ in 0..ROUNDS {
        writers.is_over.store(false, Relaxed);
        thread::scope(|scope| {
            let _over = Over(&writers.is_over);
            for (server, ledger) in servers.iter().cycle().zip(&mut ledgers) {
                scope.spawn(|| writers.write(server, ledger));
            }
            for (change, server) in (0..=DEFINITIONS).zip(servers.iter().cycle()) {
                let enough = writers.done.load(Relaxed) + CHANGES;
                wait_until("changes of robots", || writers.done.load(Relaxed) >= enough);
                if change < DEFINITIONS {
                    let (before, began) = (present, Instant::now());
                    present = states.next().unwrap();
                    server.define(redefinition(present)).unwrap();
                    if before.0 != present.0 {
                        drops.push((began, Instant::now()));
                    }
                }
            }
        });
        let ledger: Ledger = ledgers
            .iter()
            .flatten()
            .map(|(id, written)| (*id, written.clone()))
            .collect();
        let newest = servers
            .iter()
            .map(|server| server.definition().revision())
            .max();
        for server in &servers {
            wait_until("the definition is known", || {
                Some(server.definition().revision()) == newest
            });
            assert_accounted(server, &ledger, &drops);
            assert_answers(server, present);
        }
        assert_nothing_hidden(&servers[0]);
    }
    let Writers { done, rejected, .. } = writers;
    println!(
        "{} changes, {} rejected",
        done.into_inner(),
        rejected.into_inner()
    );
}

/// Ends the writers, also if the definer panics.
struct Over<'a>(&'a AtomicBool);

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

/// Asserts that each robot has its acknowledged values, except those that a definition has dropped.
fn assert_accounted(catalogue: &dyn Catalogue, ledger: &Ledger, drops: &[Interval]) {
    let robots = list(catalogue, &Filter::all(), Sort::default());
    assert_eq!(robots.len(), ledger.len());
    let field = catalogue.definition().field("n");
    for robot in robots {
        let Written { m, n, interval } = &ledger[&robot.id()];
        let stored = field.and_then(|field| robot.value_of(field));
        let may_be_dropped = drops.iter().any(|drop| drop.1 >= interval.0);
        let must_be_dropped = drops.iter().any(|drop| drop.0 > interval.1);
        let is_right = match &stored {
            Some(_) => stored == *n && !must_be_dropped,
            None => n.is_none() || may_be_dropped,
        };
        assert!(is_right, "{n:?} became {stored:?} of {robot:?}");
        assert_eq!(robot.value("m"), Some(Value::from(*m)), "{robot:?}");
    }
}

/// Asserts that orders, conditions and searches for `n` agree with the values that robots show.
fn assert_answers(catalogue: &dyn Catalogue, (kind, keywords): (&str, &str)) {
    let definition = catalogue.definition();
    let Some(field) = definition.field("n") else {
        assert_eq!(kind, "");
        return;
    };
    let mut robots = list(catalogue, &Filter::all(), Sort::default());
    for is_descending in [false, true] {
        let sort = Sort {
            field,
            is_descending,
        };
        robots.sort_by(|one, other| sort.compare(one, other));
        assert_eq!(list(catalogue, &Filter::all(), sort), robots, "{sort}");
    }
    let mut conditions = definition.conditions();
    let is_n = conditions
        .find(|condition| condition.name() == "n")
        .unwrap();
    let values = robots.iter().filter_map(|robot| robot.value_of(field));
    let values: Vec<_> = values.map(Value::into_owned).collect();
    let of_values = values
        .iter()
        .step_by(values.len() / 20 + 1)
        .flat_map(|value| {
            let words = Filter::all().with_words(&value.to_string(), &definition);
            [Filter::all().with(field, value.clone()), words]
        });
    for filter in of_values.chain([Filter::all().and(is_n, None)]) {
        let mut expected = robots.clone();
        expected.retain(|robot| filter.matches(robot));
        let sort = Sort {
            field,
            is_descending: true,
        };
        assert_eq!(list(catalogue, &filter, sort), expected, "{filter:?}");
        assert_eq!(
            usize::try_from(catalogue.count(&filter).unwrap()),
            Ok(expected.len())
        );
    }
    if let (Some(value), true) = (values.last(), keywords.contains("unique")) {
        let added = catalogue.add(draft(-1, Some(value)));
        assert!(matches!(added, Err(Error::Rejected(_))), "{added:?}");
    }
}

/// Asserts that a definition without `n` would drop only the values that robots show.
fn assert_nothing_hidden(catalogue: &dyn Catalogue) {
    let Some(field) = catalogue.definition().field("n") else {
        return;
    };
    let robots = list(catalogue, &Filter::all(), Sort::default());
    let shown = robots
        .iter()
        .filter(|robot| robot.value_of(field).is_some());
    let without = Redefinition::new(definition(("", "")));
    match catalogue.define(without) {
        Err(Error::DefinitionConflict { robots, .. }) => {
            assert_eq!(usize::try_from(robots), Ok(shown.count()));
        }
        other => panic!("{other:?}"),
    }
}
