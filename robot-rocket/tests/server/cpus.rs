//! On which CPUs the threads of the server run.

use std::{collections::BTreeSet, fs, thread};

use crate::{
    Server, call,
    process::{PATIENCE, wait_for},
};

/// The CPUs that a thread may run on, as the system writes them: four by each digit.
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

/// The same of each thread of the runtime.
fn of_the_runtime(server: &Server) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    tasks
        .filter_map(|task| {
            // A thread that has ended since is not asked any more.
            let path = task.ok()?.path();
            let name = fs::read_to_string(path.join("comm")).ok()?;
            let status = fs::read_to_string(path.join("status")).ok()?;
            // The system keeps the beginning of a name.
            name.starts_with("rocket-worker")
                .then(|| allowed(&status).to_owned())
        })
        .collect()
}

/// Has lists read, each on a thread that may block, many at a time.
fn read_lists(server: &Server) {
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| call(&server.client(), "GET", "/api/robots", ""));
        }
    });
}

#[test]
fn each_worker_has_a_cpu_of_its_own_and_no_other_thread_is_bound() {
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let all = allowed(&own);
    let workers = thread::available_parallelism().unwrap().get().max(2);
    // Where a process may use but a part of each CPU, the workers are fewer than the CPUs.
    let expected = if workers == count(all) { workers } else { 0 };
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[]);
    let bound = || {
        let mut threads = of_the_runtime(&server);
        threads.retain(|allowed| allowed != all);
        threads
    };
    wait_for("each worker to have a CPU", PATIENCE, || {
        bound().len() == expected
    });
    read_lists(&server);
    assert!(of_the_runtime(&server).len() > workers);
    // A thread that begins has for a moment the CPU of the worker that began it.
    wait_for("no other thread to be bound", PATIENCE, || {
        bound().len() == expected
    });
    let bound = bound();
    assert!(bound.iter().all(|cpu| count(cpu) == 1), "{bound:?}");
    assert_eq!(BTreeSet::from_iter(&bound).len(), expected, "{bound:?}");
}

#[test]
fn workers_that_are_more_or_fewer_than_the_cpus_run_on_all_of_them() {
    let own = fs::read_to_string("/proc/thread-self/status").unwrap();
    let all = allowed(&own);
    for workers in [1, count(all) + 1] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(folder.path(), &[("ROCKET_WORKERS", &workers.to_string())]);
        read_lists(&server);
        let threads = of_the_runtime(&server);
        assert!(threads.len() > workers);
        assert!(threads.iter().all(|allowed| allowed == all), "{threads:?}");
    }
}
