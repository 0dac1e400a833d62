//! Fault injection into the system calls of a server, by `strace`.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::process::{Server, wait_for};

/// A fault in some system calls of a server, until this is dropped.
pub(crate) struct Injection(Child);

impl Injection {
    /// Makes system calls of a server (`fsync,fdatasync`) fail or wait, in strace's syntax
    /// (`error=EIO`): those on these files in its working directory, or all.
    pub(crate) fn into(server: &Server, files: &[&str], calls: &str, fault: &str) -> Self {
        let mut injection = None;
        wait_for("strace attaches to the server", || {
            let mut attached = Self::attach(server, files, calls, fault);
            // strace may miss a thread that starts meanwhile.
            injection = attached.is_complete(server).then_some(attached);
            injection.is_some()
        });
        injection.unwrap()
    }

    fn attach(server: &Server, files: &[&str], calls: &str, fault: &str) -> Self {
        let folder = fs::read_link(format!("/proc/{}/cwd", server.id())).unwrap();
        let path = |file| format!("--trace-path={}", folder.join(file).display());
        let strace = Command::new("strace")
            .args(["--follow-forks", "--output=/dev/null"])
            .arg(format!("--trace={calls}"))
            .arg(format!("--inject={calls}:{fault}"))
            .args(files.iter().map(path))
            .arg("--attach")
            .arg(server.id().to_string())
            .stderr(Stdio::null())
            .spawn();
        Self(
            strace.unwrap_or_else(|error| {
                panic!("cannot run strace (Debian package strace): {error}")
            }),
        )
    }

    /// Whether strace has attached to every thread within a few seconds.
    fn is_complete(&mut self, server: &Server) -> bool {
        let started = Instant::now();
        let id = self.0.id();
        while started.elapsed() < Duration::from_secs(3) {
            let ended = self.0.try_wait().unwrap();
            assert!(ended.is_none(), "strace may not trace here: {ended:?}");
            if thread_statuses(server).all(|thread| tracer(&thread) == Some(id)) {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `/proc/PID/task/TID/status` of each thread.
fn thread_statuses(server: &Server) -> impl Iterator<Item = String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
}

/// The process that traces a thread.
fn tracer(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    line.and_then(|id| id.trim().parse().ok())
}
