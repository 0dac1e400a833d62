//! A disk that takes its time: whoever waits for it keeps nobody else from being served. `strace`
//! makes the disk slow for one process.

use std::{
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::{Server, call, draft, process::wait_for};

/// A process whose reads from files take seconds, until this is dropped.
struct SlowReads(Child);

impl SlowReads {
    fn of(server: &Server) -> Self {
        let strace = Command::new("strace")
            .args(["--follow-forks", "--trace=pread64", "--output=/dev/null"])
            .arg("--inject=pread64:delay_enter=2000000")
            .arg("--attach")
            .arg(server.id().to_string())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("strace, of the package of this name: {error}"));
        let slow = Self(strace);
        wait_for("strace at the server", Duration::from_secs(10), || {
            threads(server).all(|thread| tracer(&thread) == Some(slow.0.id()))
        });
        slow
    }
}

impl Drop for SlowReads {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the system tells of each thread.
fn threads(server: &Server) -> impl Iterator<Item = String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("status")).ok())
}

/// Who traces a thread.
fn tracer(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    line.and_then(|id| id.trim().parse().ok())
}

#[test]
fn reads_that_wait_for_the_disk_keep_nobody_else_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let ids: Vec<String> = {
        let server = Server::start(folder.path(), &[]);
        let add = |number| {
            let answer = call(
                &server.client(),
                "POST",
                "/api/robots",
                &draft(&format!("{number}")),
            );
            answer.text().split('"').nth_back(1).unwrap().to_owned()
        };
        (0..8).map(add).collect()
    };
    // Nothing of the file is in the memory of this one.
    let server = Server::start(folder.path(), &[("ROCKET_WORKERS", "2")]);
    let slow = SlowReads::of(&server);
    let found = &AtomicUsize::new(0);
    thread::scope(|scope| {
        for id in &ids {
            let client = server.client();
            scope.spawn(move || {
                let answer = call(&client, "GET", &format!("/api/robots/{id}"), "");
                found.fetch_add(1, Ordering::SeqCst);
                assert!(answer.text().contains("FOUND"), "{}", answer.text());
            });
        }
        thread::sleep(Duration::from_millis(500));
        for _ in 0..50 {
            let answer = call(&server.client(), "OPTIONS", "/api/robots", "");
            assert_eq!(answer.status, 204);
        }
        assert_eq!(
            found.load(Ordering::SeqCst),
            0,
            "the others waited for the disk, or it was not slow"
        );
        drop(slow);
    });
    assert_eq!(found.load(Ordering::SeqCst), ids.len());
}
