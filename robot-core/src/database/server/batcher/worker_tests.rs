//! Tests of the workers, with work whose outcomes the tests decide, on connections to PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    time::Duration,
};

use ::metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use diesel::{
    PgConnection,
    result::{DatabaseErrorKind, Error as DieselError},
};

use super::{Attempt, BatchFailure, Batcher, CAPACITY, Terms, Work};
use crate::{
    catalogue::{Error, OpenOptions, Result},
    conformance::scratch_database,
    database::server::{
        address::Address,
        connector::{Connection, Connector},
    },
    metrics::STORE_RETRIES,
};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Work that reports each batch, and waits for its outcome.
struct Script {
    is_write: bool,
    batches: mpsc::Sender<(Vec<usize>, Attempt)>,
    outcomes: Mutex<mpsc::Receiver<Outcome>>,
}

type Outcome = Box<dyn FnOnce() -> Result<(), BatchFailure> + Send>;

impl Work<PgConnection> for Script {
    type Item = usize;
    type Output = ();

    const QUEUE: &'static str = "script";

    fn terms(&self, _: &usize) -> Terms {
        Terms {
            first_attempt: Attempt::InBatch,
            limit: TIMEOUT,
            is_write: self.is_write,
        }
    }

    fn execute(
        &self,
        _: &mut Connection<PgConnection>,
        items: &[usize],
        attempt: Attempt,
    ) -> Result<Vec<Result<()>>, BatchFailure> {
        self.batches.send((items.to_owned(), attempt)).unwrap();
        let outcome = self.outcomes.lock().unwrap().recv_timeout(TIMEOUT);
        outcome.unwrap()()?;
        Ok(items.iter().map(|_| Ok(())).collect())
    }
}

/// A batcher with one connection, and the other ends of its script.
struct Fixture {
    batcher: Batcher<PgConnection, Script>,
    batches: mpsc::Receiver<(Vec<usize>, Attempt)>,
    outcomes: mpsc::Sender<Outcome>,
}

impl Fixture {
    fn new(is_write: bool) -> Self {
        let options = OpenOptions::new().timeout(TIMEOUT);
        let url = scratch_database("TEST_POSTGRES_URL");
        let address = Address::from_url(&url, &options).unwrap();
        let connector = Arc::new(Connector::open(address, &options).unwrap());
        let (reported, batches) = mpsc::channel();
        let (outcomes, received) = mpsc::channel();
        let script = Script {
            is_write,
            batches: reported,
            outcomes: Mutex::new(received),
        };
        Self {
            batcher: Batcher::new(script, 1, &connector, &Arc::default()),
            batches,
            outcomes,
        }
    }

    /// Waits until a batch with these items is executed.
    #[track_caller]
    fn expect(&self, items: &[usize], attempt: Attempt) {
        let batch = self.batches.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(batch, (items.to_owned(), attempt));
    }

    /// Ends the execution of a batch.
    fn end(&self, outcome: impl FnOnce() -> Result<(), BatchFailure> + Send + 'static) {
        self.outcomes.send(Box::new(outcome)).unwrap();
    }
}

/// A recorder that only counts retries.
#[derive(Default)]
struct Retries(Arc<AtomicU64>);

impl Recorder for Retries {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == STORE_RETRIES.name {
            Counter::from_arc(Arc::clone(&self.0))
        } else {
            Counter::noop()
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

fn failure(kind: DatabaseErrorKind, is_uncommitted: bool) -> BatchFailure {
    BatchFailure {
        error: DieselError::DatabaseError(kind, Box::new(String::new())),
        is_uncommitted,
    }
}

fn conflict() -> Result<(), BatchFailure> {
    Err(failure(DatabaseErrorKind::SerializationFailure, false))
}

#[test]
fn conflicting_batch_is_repeated_once_and_then_one_by_one() {
    let retries = Retries::default();
    let fixture = with_local_recorder(&retries, || Fixture::new(true));
    let mut results = vec![fixture.batcher.submit(0)];
    fixture.expect(&[0], Attempt::InBatch);
    results.extend((1..3).map(|item| fixture.batcher.submit(item)));
    fixture.end(|| Ok(()));
    fixture.expect(&[1, 2], Attempt::InBatch);
    fixture.end(conflict);
    fixture.expect(&[1, 2], Attempt::InBatch);
    fixture.end(conflict);
    for item in 1..3 {
        fixture.expect(&[item], Attempt::Alone);
        fixture.end(|| Ok(()));
    }
    for result in results {
        result.wait().unwrap();
    }
    // Both items twice.
    assert_eq!(retries.0.load(Ordering::Relaxed), 4);
}

#[test]
fn item_that_always_conflicts_is_unavailable() {
    let fixture = Fixture::new(true);
    let result = fixture.batcher.submit(0);
    fixture.expect(&[0], Attempt::InBatch);
    fixture.end(conflict);
    for _ in 0..super::worker::ATTEMPTS {
        fixture.expect(&[0], Attempt::Alone);
        fixture.end(conflict);
    }
    assert!(matches!(result.wait(), Err(Error::Unavailable(_))));
}

#[test]
fn lost_connection_repeats_reads_and_uncommitted_writes() {
    for (is_write, is_uncommitted) in [(false, false), (true, true)] {
        let fixture = Fixture::new(is_write);
        let result = fixture.batcher.submit(0);
        for attempt in [Attempt::InBatch, Attempt::InBatch, Attempt::Alone] {
            fixture.expect(&[0], attempt);
            let lost = move || Err(failure(DatabaseErrorKind::ClosedConnection, is_uncommitted));
            fixture.end(lost);
        }
        fixture.expect(&[0], Attempt::Alone);
        fixture.end(|| Ok(()));
        result.wait().unwrap();
    }
    let fixture = Fixture::new(true);
    let result = fixture.batcher.submit(0);
    fixture.expect(&[0], Attempt::InBatch);
    fixture.end(|| Err(failure(DatabaseErrorKind::ClosedConnection, false)));
    assert!(matches!(result.wait(), Err(Error::Unknown(_))));
}

#[test]
fn panic_fails_only_its_batch() {
    for is_write in [false, true] {
        let fixture = Fixture::new(is_write);
        let failed = fixture.batcher.submit(0);
        fixture.expect(&[0], Attempt::InBatch);
        let other = fixture.batcher.submit(1);
        fixture.end(|| panic!("expected"));
        let error = failed.wait().unwrap_err();
        assert_eq!(matches!(error, Error::Unknown(_)), is_write, "{error:?}");
        // The watchdog would start a worker.
        let last = fixture.batcher.submit(2);
        fixture.expect(&[1, 2], Attempt::InBatch);
        fixture.end(|| Ok(()));
        other.wait().unwrap();
        last.wait().unwrap();
    }
}

#[test]
fn items_beyond_the_capacity_are_rejected() {
    let fixture = Fixture::new(false);
    let _executed = fixture.batcher.submit(0);
    fixture.expect(&[0], Attempt::InBatch);
    let _queued: Vec<_> = (0..CAPACITY)
        .map(|item| fixture.batcher.submit(item))
        .collect();
    let rejected = fixture.batcher.submit(0).wait();
    assert!(matches!(rejected, Err(Error::Unavailable(_))));
    // The others are executed before the batcher is dropped.
    for _ in 0..=CAPACITY.div_ceil(<Script as Work<PgConnection>>::BATCH_LIMIT) {
        fixture.end(|| Ok(()));
    }
}

#[test]
fn dropped_batcher_executes_what_is_queued() {
    let fixture = Fixture::new(true);
    let first = fixture.batcher.submit(0);
    fixture.expect(&[0], Attempt::InBatch);
    let second = fixture.batcher.submit(1);
    fixture.end(|| Ok(()));
    fixture.end(|| Ok(()));
    drop(fixture.batcher);
    first.wait().unwrap();
    second.wait().unwrap();
}
