//! Clients that write and read all the time, and hold the server to what it told them: what it
//! said that it stored is there, what it refused is not, and of what it said that the outcome
//! is unknown either is right.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use robot_core::conformance::{Answer, Call, Client, TcpClient};

use crate::{
    answers::{Told, id},
    calls::draft,
    process::{Server, wait_for},
    record::{Fate, Record},
};

/// How many clients of each server write, and how many read.
const WRITERS: usize = 3;
const READERS: usize = 2;

/// How long a client rests between two calls.
const REST: Duration = Duration::from_millis(3);

/// How many calls in a row must succeed until a client is taken to be served.
const WELL: usize = 3;

/// Clients of some servers, at work until this is ended or dropped.
pub(crate) struct Load {
    is_over: Arc<AtomicBool>,
    servers_may_end: Arc<AtomicBool>,
    progress: Vec<Arc<Progress>>,
    workers: Vec<JoinHandle<Record>>,
}

/// How it goes with one client.
struct Progress {
    server: usize,
    /// How many calls have succeeded since one last failed, or somebody last asked.
    in_a_row: AtomicUsize,
    succeeded: AtomicUsize,
    failed: AtomicUsize,
}

/// One client.
struct Worker {
    /// What the names of its robots begin with.
    name: String,
    client: TcpClient,
    progress: Arc<Progress>,
    is_over: Arc<AtomicBool>,
    servers_may_end: Arc<AtomicBool>,
    record: Record,
}

impl Load {
    /// Puts clients to work at servers over one database.
    pub(crate) fn start(servers: &[&Server]) -> Self {
        static LOADS: AtomicUsize = AtomicUsize::new(0);
        let load = LOADS.fetch_add(1, Ordering::Relaxed);
        let mut this = Self {
            is_over: Arc::default(),
            servers_may_end: Arc::default(),
            progress: Vec::new(),
            workers: Vec::new(),
        };
        for (server, process) in servers.iter().enumerate() {
            for number in 0..WRITERS + READERS {
                let name = format!("{load}-{server}-{number}");
                this.employ(server, process.client(), name, number < WRITERS);
            }
        }
        this
    }

    fn employ(&mut self, server: usize, client: TcpClient, name: String, writes: bool) {
        let progress = Arc::new(Progress {
            server,
            in_a_row: AtomicUsize::new(0),
            succeeded: AtomicUsize::new(0),
            failed: AtomicUsize::new(0),
        });
        self.progress.push(Arc::clone(&progress));
        let worker = Worker {
            name,
            client,
            progress,
            is_over: Arc::clone(&self.is_over),
            servers_may_end: Arc::clone(&self.servers_may_end),
            record: Record::default(),
        };
        let work = move || {
            if writes {
                worker.write()
            } else {
                worker.read()
            }
        };
        self.workers.push(thread::spawn(work));
    }

    /// Waits until every client of these servers is served again and again; how long that took.
    pub(crate) fn is_served(&self, servers: &[usize], limit: Duration) -> Duration {
        for client in self.clients_of(servers) {
            client.in_a_row.store(0, Ordering::Relaxed);
        }
        // One call may have been under way, and succeed by what was before.
        wait_for("all clients are served", limit, || {
            self.nobody_has_panicked();
            self.clients_of(servers)
                .all(|client| client.in_a_row.load(Ordering::Relaxed) > WELL)
        })
    }

    /// Waits until every client of these servers has failed once more.
    pub(crate) fn is_refused(&self, servers: &[usize], limit: Duration) {
        let failed = |client: &Arc<Progress>| client.failed.load(Ordering::Relaxed);
        let before: Vec<_> = self.clients_of(servers).map(failed).collect();
        wait_for("all clients have failed", limit, || {
            self.nobody_has_panicked();
            let now = self.clients_of(servers).map(failed);
            now.zip(&before).all(|(now, before)| now > *before)
        });
    }

    /// Lets the clients of these servers go on for a number of calls, none of which may fail.
    pub(crate) fn never_fails(&self, servers: &[usize], calls: usize, limit: Duration) {
        let count = |counter: fn(&Progress) -> &AtomicUsize| -> usize {
            self.clients_of(servers)
                .map(|client| counter(client).load(Ordering::Relaxed))
                .sum()
        };
        let failed = count(|client| &client.failed);
        let enough = count(|client| &client.succeeded) + calls;
        wait_for("calls go on", limit, || {
            self.nobody_has_panicked();
            count(|client| &client.succeeded) >= enough
        });
        let failures = count(|client| &client.failed) - failed;
        assert_eq!(failures, 0, "of {calls} calls while all was well");
    }

    /// Lets servers end, which clients take for an unknown outcome.
    pub(crate) fn servers_may_end(&self) {
        self.servers_may_end.store(true, Ordering::Relaxed);
    }

    /// Ends the work; what the clients were told.
    pub(crate) fn end(mut self) -> Record {
        self.is_over.store(true, Ordering::Relaxed);
        let workers = self.workers.drain(..);
        workers.fold(Record::default(), |record, worker| {
            record.and(
                worker
                    .join()
                    .unwrap_or_else(|_| panic!("a client has panicked")),
            )
        })
    }

    fn clients_of(&self, servers: &[usize]) -> impl Iterator<Item = &Arc<Progress>> {
        let clients = self.progress.iter();
        clients.filter(|client| servers.contains(&client.server))
    }

    /// Fails as soon as a client has; it has said why.
    fn nobody_has_panicked(&self) {
        if self.servers_may_end.load(Ordering::Relaxed) {
            return;
        }
        let has_ended = self.workers.iter().any(JoinHandle::is_finished);
        assert!(!has_ended, "a client has panicked, see above");
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        // Where the test has failed, the servers end before the clients do.
        self.servers_may_end();
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl Worker {
    /// Adds robots, gives some another name, and deletes some.
    fn write(mut self) -> Record {
        for number in 0.. {
            if self.is_over() {
                break;
            }
            let name = format!("{} {number}", self.name);
            let mut fate = Fate::default();
            if let Some(id) = self.add(&name, &mut fate) {
                let target = format!("/api/robots/{id}");
                let other = format!("{name} renamed");
                match number % 4 {
                    0 => self.change("PUT", &target, &draft(&other), Some(&other), &mut fate),
                    1 => self.change("DELETE", &target, "", None, &mut fate),
                    _ => {}
                }
            }
            self.record.fates.push(fate);
        }
        self.record
    }

    fn add(&mut self, name: &str, fate: &mut Fate) -> Option<String> {
        let (told, answer) = self.call("POST", "/api/robots", &draft(name));
        fate.is_told(told, Some(name));
        let id = id(&answer.filter(|_| told == Told::Done)?);
        fate.id = Some(id.clone());
        self.record
            .added
            .push((Instant::now(), self.progress.server));
        Some(id)
    }

    fn change(
        &mut self,
        method: &str,
        target: &str,
        body: &str,
        name: Option<&str>,
        fate: &mut Fate,
    ) {
        let (told, _) = self.call(method, target, body);
        fate.is_told(told, name);
    }

    /// Reads in every way. Pages are short, because a list that fails in the middle of several
    /// pages has no other way to tell than to break off.
    fn read(mut self) -> Record {
        let ways = [
            "/api/robots?limit=5",
            "/api/robots/1",
            "/api/robots/search/renamed?limit=5",
        ];
        for way in ways.iter().cycle() {
            if self.is_over() {
                break;
            }
            let (told, _) = self.call("GET", way, "");
            let may_end = self.servers_may_end.load(Ordering::Relaxed);
            assert!(told != Told::Unknown || may_end, "{way} has an outcome");
        }
        self.record
    }

    /// Whether nobody wants more calls.
    fn is_over(&self) -> bool {
        thread::sleep(REST);
        self.is_over.load(Ordering::Relaxed)
    }

    fn call(&mut self, method: &str, target: &str, body: &str) -> (Told, Option<Answer>) {
        let call = Call {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        let (told, answer) = match self.client.send(&call) {
            Ok(answer) => (Told::by(&answer, method, target), Some(answer)),
            Err(_) if self.servers_may_end.load(Ordering::Relaxed) => {
                self.is_over.store(true, Ordering::Relaxed);
                (Told::Unknown, None)
            }
            Err(error) => panic!("{method} {target} {body}: {error}"),
        };
        self.record.count(told);
        self.progress.count(told);
        (told, answer)
    }
}

impl Progress {
    fn count(&self, told: Told) {
        if told == Told::Done {
            self.succeeded.fetch_add(1, Ordering::Relaxed);
            self.in_a_row.fetch_add(1, Ordering::Relaxed);
        } else {
            self.failed.fetch_add(1, Ordering::Relaxed);
            self.in_a_row.store(0, Ordering::Relaxed);
        }
    }
}
