//! Commits of PostgreSQL that take long: a robot is acknowledged after its commit, not after its row.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::{
    calls::draft,
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::{Server, wait_for, wait_for_progress},
    restarts::wait_until_available,
    workload::{Outcome, send},
};

/// The number of robots that are acknowledged before a shutdown.
const ACKNOWLEDGED: usize = 20;

/// A server whose database has all tables, and this setting. Its connections are new: on these, an insert is a
/// transaction of its own.
fn start(database: &DatabaseServer, setting: &str, value: &str) -> Server {
    let settings = [
        ("DATABASE_URL", database.url.as_str()),
        ("ROCKET_DATABASE_TIMEOUT", "20"),
    ];
    drop(Server::sqlite(&settings));
    set(database, setting, value);
    Server::sqlite(&settings)
}

fn set(database: &DatabaseServer, setting: &str, value: &str) {
    database.sql(&format!("ALTER SYSTEM SET {setting} = {value}"));
    database.sql("SELECT pg_reload_conf()");
    let expected = value.trim_matches('\'');
    wait_for("the setting has its value", || {
        database.sql(&format!("SHOW {setting}")) == [expected]
    });
}

pub(crate) fn post_waits_for_a_missing_standby(run: &Run) {
    const WAITING: &str = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    run.repeat(1, |_| {
        let database = DatabaseServer::new(Kind::Postgres);
        let server = start(&database, "synchronous_standby_names", "'missing'");
        let answer = thread::scope(|scope| {
            let post = scope.spawn(|| server.add("waiting"));
            wait_for("the commit waits", || {
                database.sql(&format!("SELECT count(*) {WAITING}")) == ["1"]
            });
            // Time for a response that does not wait.
            thread::sleep(Duration::from_millis(300));
            assert!(!post.is_finished(), "acknowledged before the commit");
            database.sql(&format!("SELECT pg_terminate_backend(pid) {WAITING}"));
            post.join().unwrap()
        });
        assert_eq!(answer.status, 500, "{}", answer.text());
        let text = answer.text();
        assert!(text.contains("the change was stored is unknown"), "{text}");
        set(&database, "synchronous_standby_names", "''");
        wait_for("a write succeeds", || server.add("after").status == 201);
    });
}

pub(crate) fn shutdown_during_commits_keeps_acknowledged_robots(run: &Run) {
    run.repeat(3, |_| {
        let database = DatabaseServer::new(Kind::Postgres);
        set(&database, "commit_siblings", "0");
        let server = start(&database, "commit_delay", "100000");
        let acknowledged = Mutex::new(Vec::new());
        let is_over = AtomicBool::new(false);
        let post = |client: usize| {
            let names = (0..).map(|number| format!("{client} {number}"));
            for name in names.take_while(|_| !is_over.load(Ordering::Relaxed)) {
                let called = send(&server.client(), "POST", "/api/robots", &draft(&name));
                if called.outcome == Outcome::Done {
                    acknowledged.lock().unwrap().push(name);
                }
            }
        };
        thread::scope(|scope| {
            for client in 0..2 {
                scope.spawn({
                    let post = &post;
                    move || post(client)
                });
            }
            let count = || acknowledged.lock().unwrap().len();
            wait_for_progress("acknowledged robots", count, |count| *count >= ACKNOWLEDGED);
            database.shut_down_immediately();
            database.start();
            is_over.store(true, Ordering::Relaxed);
        });
        wait_until_available(&server);
        let (stored, acknowledged) = (server.names(), acknowledged.into_inner().unwrap());
        let is_lost = |name: &&String| !stored.contains(*name);
        let lost: Vec<_> = acknowledged.iter().filter(is_lost).collect();
        let count = acknowledged.len();
        assert!(lost.is_empty(), "{lost:?} of {count} robots are lost");
        println!("{count} robots were acknowledged");
    });
}
