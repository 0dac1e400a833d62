//! System calls of a process that fail or take their time: `strace` makes a disk bad for one
//! process.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::process::{Server, wait_for};

/// What happens to some system calls of a process, until this is dropped.
pub(crate) struct Injection(Child);

impl Injection {
    /// Has these calls of a server's (`fsync,fdatasync`) fail or wait, in strace's words
    /// (`error=EIO`), from now on: those that are about these files in its working directory, or all.
    pub(crate) fn into(server: &Server, files: &[&str], calls: &str, what: &str) -> Self {
        let mut injection = None;
        wait_for("strace at the server", Duration::from_secs(60), || {
            let mut attached = Self::attach(server, files, calls, what);
            // A thread that was made meanwhile may have been missed.
            injection = attached.reaches_all_of(server).then_some(attached);
            injection.is_some()
        });
        injection.unwrap()
    }

    fn attach(server: &Server, files: &[&str], calls: &str, what: &str) -> Self {
        let folder = fs::read_link(format!("/proc/{}/cwd", server.id())).unwrap();
        let path = |file| format!("--trace-path={}", folder.join(file).display());
        let strace = Command::new("strace")
            .args(["--follow-forks", "--output=/dev/null"])
            .arg(format!("--trace={calls}"))
            .arg(format!("--inject={calls}:{what}"))
            .args(files.iter().map(path))
            .arg("--attach")
            .arg(server.id().to_string())
            .stderr(Stdio::null())
            .spawn();
        Self(strace.unwrap_or_else(|error| panic!("strace, of the package of this name: {error}")))
    }

    /// Whether strace is at every thread, for which it has a few seconds.
    fn reaches_all_of(&mut self, server: &Server) -> bool {
        let started = Instant::now();
        let id = self.0.id();
        while started.elapsed() < Duration::from_secs(3) {
            let ended = self.0.try_wait().unwrap();
            assert!(ended.is_none(), "strace may not trace here: {ended:?}");
            if threads(server).all(|thread| tracer(&thread) == Some(id)) {
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

/// What the system tells of each thread.
fn threads(server: &Server) -> impl Iterator<Item = String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("status")).ok())
}

/// Who traces a thread.
fn tracer(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    line.and_then(|id| id.trim().parse().ok())
}
