//! The processes that this program starts, none of which outlives it.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::{Child, Command},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    runtime, select,
    signal::unix::{SignalKind, signal},
};

/// All that run, and some that have ended.
static RUNNING: Mutex<Vec<Weak<Mutex<Child>>>> = Mutex::new(Vec::new());

/// A process, which is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process(Arc<Mutex<Child>>);

/// Starts a process; returns it, and what is piped to and from it.
pub(crate) fn start(command: &mut Command) -> Result<(Process, Pipes), String> {
    // Held meanwhile, so that no process starts while all are being ended.
    let mut running = lock(&RUNNING);
    let mut child = command.spawn().map_err(|error| {
        let program = command.get_program().display().to_string();
        format!("cannot start {program}: {error}; check that it is installed")
    })?;
    let pipes = Pipes {
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
    };
    let child = Arc::new(Mutex::new(child));
    running.retain(|child| child.strong_count() > 0);
    running.push(Arc::downgrade(&child));
    Ok((Process(child), pipes))
}

/// The ends of the pipes to a process, as far as there are any.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<std::process::ChildStdin>,
    pub(crate) stdout: Option<std::process::ChildStdout>,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        lock(&self.0).id()
    }

    /// Asks the process to end, and waits until it has. Call it where it is known to end, for
    /// while it waits nobody else can end it.
    pub(crate) fn terminate(self) -> Result<(), String> {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or("the system gave a process no id")?;
        kill_process(id, Signal::TERM).map_err(|error| format!("cannot stop a server: {error}"))?;
        self.succeed("a server")
    }

    /// Waits for the end of a process that has closed its output, and fails where that does.
    pub(crate) fn succeed(self, what: &str) -> Result<(), String> {
        match lock(&self.0).wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{what} failed: {status}")),
            Err(error) => Err(format!("cannot wait for {what}: {error}")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut lock(&self.0));
    }
}

fn end(child: &mut Child) {
    // One that has ended by itself cannot be killed, and need not be.
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends all processes and deletes the data when this program is told to end. Where it is
/// killed without a chance to, its servers notice that their standard input is closed.
pub(crate) fn end_with_this_program(folder: PathBuf) -> Result<(), String> {
    let cannot = |error| format!("cannot listen to signals: {error}");
    let runtime = runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .map_err(cannot)?;
    let (mut interrupt, mut terminate, mut hang_up) = {
        let _inside = runtime.enter();
        (
            signal(SignalKind::interrupt()).map_err(cannot)?,
            signal(SignalKind::terminate()).map_err(cannot)?,
            signal(SignalKind::hangup()).map_err(cannot)?,
        )
    };
    thread::spawn(move || {
        runtime.block_on(async {
            select! { _ = interrupt.recv() => (), _ = terminate.recv() => (), _ = hang_up.recv() => () }
        });
        // Held to the end, so that no other process starts.
        let running = lock(&RUNNING);
        for child in running.iter().filter_map(Weak::upgrade) {
            end(&mut lock(&child));
        }
        delete(&folder);
        std::process::exit(130);
    });
    Ok(())
}

/// Deletes a folder in which another thread may still be making files, which is in the way of
/// the deletion for as long as it does.
fn delete(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                thread::sleep(Duration::from_millis(20));
            }
            _ => return,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
