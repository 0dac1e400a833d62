//! Work of SQLite that takes long, on a thread of its own, so that the caller can stop waiting for it.

use std::{
    io,
    ops::ControlFlow,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

/// Interval at which the caller is asked whether to continue: the longest delay of a cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Runs `work` until it ends, or `next` breaks (`None`). The thread then ends when SQLite does.
pub(crate) fn run_while<T: Send + 'static>(
    name: &str,
    mut next: impl FnMut() -> ControlFlow<()>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<Option<T>> {
    let (sender, result) = mpsc::channel();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            // The receiver is gone after a cancellation.
            let _ = sender.send(work());
        })?;
    loop {
        let done = result.recv_timeout(POLL_INTERVAL);
        if next().is_break() {
            return Ok(None);
        }
        match done {
            Ok(done) => return Ok(Some(done)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread terminated unexpectedly"));
            }
        }
    }
}
