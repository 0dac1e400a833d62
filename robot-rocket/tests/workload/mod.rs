//! Clients that stress servers on any store while a test causes faults, and a ledger that their
//! answers are checked against.

#[cfg(all(feature = "postgres", feature = "mysql"))]
mod agreement;
mod check;
mod client;
mod ledger;
mod outcome;
mod progress;
mod robot;

use std::{
    mem, slice,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use fastrand::Rng;

use crate::process::{Server, wait_for_progress};

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) use agreement::assert_agreement;
pub(crate) use check::{assert_no_violations, try_list};
use client::Client;
pub(crate) use client::send;
pub(crate) use ledger::{Interval, Ledger, Write};
pub(crate) use outcome::Outcome;
#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) use outcome::assert_unavailable;
use progress::Progress;
pub(crate) use robot::{Robot, Row, added_id};

/// The number of clients per server.
const CLIENTS: usize = 6;

/// Running clients. They stop when this is dropped.
pub(crate) struct Workload {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
    servers: usize,
}

/// State that the clients share.
#[derive(Default)]
pub(crate) struct Shared {
    ledger: Mutex<Ledger>,
    progress: Mutex<Vec<Progress>>,
    pub(crate) is_over: AtomicBool,
    pub(crate) server_may_end: AtomicBool,
}

impl Shared {
    /// Ignores poisoning: the panic of the client fails the test.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> MutexGuard<'_, Vec<Progress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_write(&self, client: usize, outcome: Outcome) {
        self.progress()[client].count_write(outcome);
    }

    fn count_read(&self, client: usize, outcome: Outcome) {
        self.progress()[client].count_read(outcome);
        self.ledger().count_read(outcome);
    }
}

impl Workload {
    /// Starts clients of one server, which continue with the robots of a ledger.
    pub(crate) fn start(server: &Server, ledger: Ledger, random: &mut Rng) -> Self {
        Self::start_on(&[server], ledger, random)
    }

    /// Starts clients of several servers on the same data.
    /// Client `n` of all uses server `n` modulo the number of servers.
    pub(crate) fn start_on(servers: &[&Server], ledger: Ledger, random: &mut Rng) -> Self {
        let count = CLIENTS * servers.len();
        let mut shares = vec![Vec::new(); count];
        for (number, (id, writes)) in ledger.history.iter().enumerate() {
            let robot = writes.last().and_then(|write| write.robot.clone());
            shares[number % count].extend(robot.map(|robot| (*id, robot)));
        }
        let shared = Arc::new(Shared {
            ledger: Mutex::new(ledger),
            progress: Mutex::new(vec![Progress::default(); count]),
            ..Shared::default()
        });
        let start = |(number, robots): (usize, Vec<Row>)| {
            let client = Client {
                number,
                server: servers[number % servers.len()].client(),
                random: random.fork(),
                shared: Arc::clone(&shared),
                robots,
            };
            thread::spawn(move || client.run())
        };
        let clients = shares.into_iter().enumerate().map(start).collect();
        Self {
            shared,
            clients,
            servers: servers.len(),
        }
    }

    /// Waits for more acknowledged writes.
    pub(crate) fn wait_for_writes(&self, count: usize) {
        let enough = self.writes(Outcome::Done) + count;
        self.wait_for("acknowledged writes", |_| {
            self.writes(Outcome::Done) >= enough
        });
    }

    /// Waits until every client has writes and reads done in a row.
    pub(crate) fn wait_until_served(&self) -> Duration {
        self.wait_until_served_by(&self.all_servers())
    }

    /// As [`wait_until_served`](Self::wait_until_served), for the clients of these servers. Returns the
    /// elapsed time.
    pub(crate) fn wait_until_served_by(&self, servers: &[usize]) -> Duration {
        for client in &mut *self.shared.progress() {
            client.restart_row();
        }
        self.wait_for("every client is served", |progress| {
            self.of(servers, progress).all(Progress::is_served)
        })
    }

    /// Waits until each of these servers has acknowledged more writes, even if some of its clients
    /// still wait for an answer.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn wait_for_writes_on(&self, servers: &[usize], count: usize) {
        let done = |progress: &[Progress]| -> Vec<usize> {
            let sum = |server: &usize| {
                let clients = self.of(slice::from_ref(server), progress);
                clients.map(|client| client.writes_done).sum()
            };
            servers.iter().map(sum).collect()
        };
        let before = done(&self.shared.progress());
        self.wait_for("acknowledged writes on every server", |progress| {
            let now = done(progress);
            now.iter()
                .zip(&before)
                .all(|(now, before)| *now >= before + count)
        });
    }

    /// Waits until one more write of every client has failed.
    pub(crate) fn wait_until_failing(&self) {
        self.wait_until_failing_on(&self.all_servers());
    }

    /// The same for the clients of these servers.
    pub(crate) fn wait_until_failing_on(&self, servers: &[usize]) {
        let before = self.shared.progress().clone();
        self.wait_for("a write of every client fails", |progress| {
            self.of(servers, progress)
                .zip(self.of(servers, &before))
                .all(|(now, before)| now.writes_failed > before.writes_failed)
        });
    }

    /// Waits for more failed writes, of any client: a read may block its client for long.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn wait_for_failed_writes(&self, count: usize) {
        let failed = |progress: &[Progress]| -> usize {
            progress.iter().map(|client| client.writes_failed).sum()
        };
        let enough = failed(&self.shared.progress()) + count;
        self.wait_for("failed writes", |progress| failed(progress) >= enough);
    }

    /// Waits until every client has made more calls, with any outcome.
    pub(crate) fn wait_for_calls(&self, count: usize) {
        let before = self.shared.progress().clone();
        self.wait_for("calls of every client", |progress| {
            let mut pairs = progress.iter().zip(&before);
            pairs.all(|(now, before)| now.calls() >= before.calls() + count)
        });
    }

    /// Waits for more calls of these servers' clients in total, of which so many may fail.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn assert_calls_succeed(&self, servers: &[usize], count: usize, failures: usize) {
        let sum = |progress: &[Progress], number: fn(&Progress) -> usize| -> usize {
            self.of(servers, progress).map(number).sum()
        };
        let before = self.shared.progress().clone();
        let enough = sum(&before, Progress::done) + count;
        self.wait_for("successful calls", |progress| {
            sum(progress, Progress::done) >= enough
        });
        let failed =
            sum(&self.shared.progress(), Progress::failed) - sum(&before, Progress::failed);
        assert!(failed <= failures, "{failed} of {count} calls failed");
    }

    /// Records that a database was killed that shows commits before they are on disk.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn lose_unsynced(&self) {
        self.shared.ledger().unsynced_lost = Some(Instant::now());
    }

    /// The number of writes with this outcome so far.
    pub(crate) fn writes(&self, outcome: Outcome) -> usize {
        self.shared.ledger().writes(outcome)
    }

    /// The number of reads that have failed so far.
    pub(crate) fn failed_reads(&self) -> usize {
        let progress = self.shared.progress();
        progress.iter().map(|client| client.reads_failed).sum()
    }

    /// The number of calls that have failed so far.
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) fn failed_calls(&self) -> usize {
        let progress = self.shared.progress();
        progress.iter().map(Progress::failed).sum()
    }

    /// Allows servers to end, which ends their clients.
    pub(crate) fn allow_server_end(&self) {
        self.shared.server_may_end.store(true, Ordering::Relaxed);
    }

    /// Stops the clients and returns their ledger.
    pub(crate) fn stop(self) -> Ledger {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.join()
    }

    /// Waits for clients whose server has ended, and returns their ledger.
    pub(crate) fn join(mut self) -> Ledger {
        for client in self.clients.drain(..) {
            assert!(client.join().is_ok(), "a client has panicked, see above");
        }
        mem::take(&mut self.shared.ledger())
    }

    fn all_servers(&self) -> Vec<usize> {
        (0..self.servers).collect()
    }

    /// The progress of the clients of these servers.
    fn of<'a>(
        &self,
        servers: &[usize],
        progress: &'a [Progress],
    ) -> impl Iterator<Item = &'a Progress> {
        let clients = progress.iter().enumerate();
        clients
            .filter(move |(number, _)| servers.contains(&(number % self.servers)))
            .map(|(_, client)| client)
    }

    fn wait_for(&self, what: &str, is_met: impl Fn(&[Progress]) -> bool) -> Duration {
        let started = Instant::now();
        let look = || {
            let may_end = self.shared.server_may_end.load(Ordering::Relaxed);
            let has_ended = self.clients.iter().any(JoinHandle::is_finished);
            assert!(may_end || !has_ended, "a client has panicked, see above");
            self.shared.progress().clone()
        };
        wait_for_progress(what, look, |progress| is_met(progress));
        started.elapsed()
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        // If the test has failed, the server ends before the clients do.
        self.allow_server_end();
        self.shared.is_over.store(true, Ordering::Relaxed);
    }
}
