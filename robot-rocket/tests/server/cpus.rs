//! CPU affinity of the threads of the server.

use std::{collections::BTreeSet, fs, thread};

use crate::{
    Server, call,
    process::{TIMEOUT, wait_for},
};

/// The CPUs that a thread may run on: a hexadecimal bit mask.
fn allowed(status: &str) -> &str {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed:"));
    line.unwrap().trim()
}

fn count(allowed: &str) -> usize {
    let digits = allowed.chars().filter_map(|digit| digit.to_digit(16));
    digits.map(|digit| digit.count_ones() as usize).sum()
}

/// The same for each thread of the server.
fn of_all_threads(server: &Server) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    tasks
        .filter_map(|task| {
            // The thread may have ended.
            let status = fs::read_to_string(task.ok()?.path().join("status")).ok()?;
            Some(allowed(&status).to_owned())
        })
        .collect()
}

/// Reads many lists at the same time, each on a blocking thread.
fn read_lists(server: &Server) {
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| call(&server.client(), "GET", "/api/robots", ""));
        }
    });
}

#[test]
fn each_worker_is_bound_to_its_own_cpu() {
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let all = allowed(&own);
    let workers = thread::available_parallelism().unwrap().get().max(2);
    // With a CPU quota there are fewer workers than CPUs.
    let expected = if workers == count(all) { workers } else { 0 };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let bound = || {
        let mut threads = of_all_threads(&server);
        threads.retain(|allowed| allowed != all);
        threads
    };
    wait_for("each worker is bound to a CPU", TIMEOUT, || {
        bound().len() == expected
    });
    read_lists(&server);
    assert!(of_all_threads(&server).len() > workers);
    // A new thread has the CPU of the worker that started it for a moment.
    wait_for("no other thread is bound", TIMEOUT, || {
        bound().len() == expected
    });
    let bound = bound();
    assert!(bound.iter().all(|cpu| count(cpu) == 1), "{bound:?}");
    assert_eq!(BTreeSet::from_iter(&bound).len(), expected, "{bound:?}");
}

#[test]
fn workers_not_matching_the_cpus_are_not_bound() {
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let all = allowed(&own);
    for workers in [1, count(all) + 1] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("ROCKET_WORKERS", &workers.to_string())]);
        read_lists(&server);
        let threads = of_all_threads(&server);
        assert!(threads.len() > workers);
        assert!(threads.iter().all(|allowed| allowed == all), "{threads:?}");
    }
}
