//! Clients at work at a server, on any store, while faults are made.

use std::{
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use fastrand::Rng;

use crate::{
    client::Client,
    ledger::{Ledger, Progress},
    process::{Server, wait_for},
    told::Told,
};

/// How many clients there are.
const CLIENTS: usize = 6;

/// How long anything may take that is waited for. It is no promise, but a limit to waiting for
/// what does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Clients of one server, at work until this is ended or dropped.
pub(crate) struct Workload {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
}

/// What all clients have in common.
#[derive(Default)]
pub(crate) struct Shared {
    ledger: Mutex<Ledger>,
    pub(crate) is_over: AtomicBool,
    pub(crate) server_may_end: AtomicBool,
}

impl Shared {
    /// Where a client has panicked, that is what fails the test, and not its consequences.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workload {
    /// Puts clients to work, who go on with the robots of a ledger.
    pub(crate) fn start(server: &Server, mut ledger: Ledger, random: &mut Rng) -> Self {
        let mut shares = vec![Vec::new(); CLIENTS];
        for (number, (id, writes)) in ledger.robots.iter().enumerate() {
            let look = writes.last().and_then(|write| write.look.clone());
            shares[number % CLIENTS].extend(look.map(|look| (*id, look)));
        }
        ledger.progress = vec![Progress::default(); CLIENTS];
        let shared = Arc::new(Shared {
            ledger: Mutex::new(ledger),
            ..Shared::default()
        });
        let work = |(number, robots)| {
            let client = Client {
                number,
                http: server.client(),
                random: random.fork(),
                shared: Arc::clone(&shared),
                robots,
            };
            thread::spawn(move || client.work())
        };
        let workers = shares.into_iter().enumerate().map(work).collect();
        Self { shared, workers }
    }

    /// Waits until so many more writes were acknowledged.
    pub(crate) fn writes(&self, count: usize) {
        let enough = self.told(Told::Done) + count;
        self.wait_for("writes are done", || self.told(Told::Done) >= enough);
    }

    /// Waits until every client has had a few more writes acknowledged and reads answered.
    pub(crate) fn is_served(&self) {
        self.until_each("all are served", |before, now| {
            now.writes_done > before.writes_done + 1 && now.reads_done > before.reads_done + 1
        });
    }

    /// Waits until every client has failed to write once more.
    pub(crate) fn is_refused(&self) {
        self.until_each("all writes fail", |before, now| {
            now.writes_undone > before.writes_undone
        });
    }

    /// Waits until so many more writes have failed, whoever's they are: a client who reads may be
    /// left waiting for long.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn failures(&self, count: usize) {
        let failures = || -> usize {
            let ledger = self.shared.ledger();
            let undone = ledger.progress.iter().map(|client| client.writes_undone);
            undone.sum()
        };
        let enough = failures() + count;
        self.wait_for("writes fail", || failures() >= enough);
    }

    /// Waits until every client has made some more calls, however they went.
    pub(crate) fn tries(&self, times: usize) {
        let count = |progress: &Progress| {
            let writes = progress.writes_done + progress.writes_undone;
            writes + progress.reads_done + progress.reads_undone
        };
        self.until_each("calls are made", |before, now| {
            count(now) >= count(before) + times
        });
    }

    /// Takes down that a database has ended which shows what is not on its disk yet.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn unsynced_is_lost(&self) {
        self.shared.ledger().unsynced_lost = Some(std::time::Instant::now());
    }

    /// How many writes were told this so far.
    pub(crate) fn told(&self, told: Told) -> usize {
        self.shared.ledger().writes(told)
    }

    /// How many reads have failed so far.
    pub(crate) fn failed_reads(&self) -> usize {
        let ledger = self.shared.ledger();
        let undone = ledger.progress.iter().map(|client| client.reads_undone);
        undone.sum()
    }

    /// Lets the server end, which clients take for the end of their work.
    pub(crate) fn server_may_end(&self) {
        self.shared.server_may_end.store(true, Ordering::Relaxed);
    }

    /// Ends the work; what the clients did and were told.
    pub(crate) fn end(mut self) -> Ledger {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.join()
    }

    /// Waits until the clients have noticed that the server has ended.
    pub(crate) fn ends_with_the_server(mut self) -> Ledger {
        self.join()
    }

    fn join(&mut self) -> Ledger {
        for worker in self.workers.drain(..) {
            let ended = worker.join();
            assert!(ended.is_ok(), "a client has panicked, see above");
        }
        mem::take(&mut self.shared.ledger())
    }

    fn until_each(&self, what: &str, is_so: impl Fn(&Progress, &Progress) -> bool) {
        let before = self.shared.ledger().progress.clone();
        self.wait_for(what, || {
            let ledger = self.shared.ledger();
            let pairs = before.iter().zip(&ledger.progress);
            pairs.into_iter().all(|(before, now)| is_so(before, now))
        });
    }

    fn wait_for(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        wait_for(what, PATIENCE, || {
            let may_end = self.shared.server_may_end.load(Ordering::Relaxed);
            let has_ended = self.workers.iter().any(JoinHandle::is_finished);
            assert!(may_end || !has_ended, "a client has panicked, see above");
            is_so()
        });
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // Where the test has failed, the server ends before the clients do.
        self.server_may_end();
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}
