//! Handler for Ctrl-C and SIGTERM that stops a long command between two robots.
//!
//! The first signal sets a flag. The command polls it, completes its current write and reports its
//! progress. The second signal terminates the process.

use std::{
    io::{self, Cursor, Read, Write},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    },
    thread,
    time::Duration,
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::failure::Failure;

/// Exit status of a process that a signal terminated, minus the number of the signal.
const SIGNAL_STATUS: u8 = 128;

/// Interval at which a blocked read checks the flag. Longer ones delay the reaction to Ctrl-C
/// noticeably, shorter ones only wake the thread more often.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Size of the chunks that are read ahead, and the capacity of their queue: at most half a
/// megabyte in memory. 64 KiB is the capacity of a pipe on Linux.
const CHUNK_SIZE: usize = 64 * 1024;
const QUEUED_CHUNKS: usize = 8;

/// The flag that a signal sets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    is_set: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Registers the signal handlers.
    pub(crate) fn register() -> Result<Self, Failure> {
        let interrupt = Self::default();
        interrupt.add_handlers().map_err(not_handled)?;
        Ok(interrupt)
    }

    fn add_handlers(&self) -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            let status = i32::from(SIGNAL_STATUS) + signal;
            // Before the handler that sets the flag, so that only the second signal terminates.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&self.is_set))?;
            flag::register(signal, Arc::clone(&self.is_set))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&self.signal), number)?;
        }
        Ok(())
    }

    /// Whether a signal has arrived.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Whether a long operation continues.
    pub(crate) fn control_flow(&self) -> ControlFlow<()> {
        if self.is_set() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// The exit status for the signal: 130 for Ctrl-C.
    pub(crate) fn status(&self) -> u8 {
        let signal = self.signal.load(Ordering::Relaxed);
        u8::try_from(signal).map_or(u8::MAX, |signal| SIGNAL_STATUS + signal)
    }

    /// Prints what became of a command that a signal stopped.
    pub(crate) fn stopped(&self, message: &str) -> Failure {
        let _ = writeln!(io::stderr(), "Stopped{message}");
        Failure::printed(None, self.status())
    }

    /// A reader of the same bytes that returns an error after a signal, even if the source blocks:
    /// a thread reads ahead.
    pub(crate) fn reader(
        &self,
        source: impl Read + Send + 'static,
    ) -> Result<InterruptibleReader, Failure> {
        let (sender, chunks) = mpsc::sync_channel(QUEUED_CHUNKS);
        thread::Builder::new()
            .name("robot-input".to_owned())
            .spawn(move || read_ahead(source, &sender))
            .map_err(not_handled)?;
        Ok(InterruptibleReader {
            interrupt: self.clone(),
            chunks,
            chunk: Cursor::default(),
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn not_handled(cause: io::Error) -> Failure {
    Failure::new(format_args!(
        "cannot handle Ctrl-C: {cause}; run the command again"
    ))
}

/// Sends chunks until the end of the source, an error, or the end of the receiver.
fn read_ahead(mut source: impl Read, chunks: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK_SIZE];
        let read = match source.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                chunk.truncate(length);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = read.is_err();
        if chunks.send(read).is_err() || is_last {
            return;
        }
    }
}

/// The reader that [`Interrupt::reader`] returns.
pub(crate) struct InterruptibleReader {
    interrupt: Interrupt,
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Cursor<Vec<u8>>,
}

impl Read for InterruptibleReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.chunk.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if self.interrupt.is_set() {
                // Not `ErrorKind::Interrupted`, which callers retry.
                return Err(io::Error::other("interrupted"));
            }
            match self.chunks.recv_timeout(POLL_INTERVAL) {
                Ok(chunk) => self.chunk = Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_returns_all_bytes_in_order() -> io::Result<()> {
        let bytes: Vec<u8> = (0..3 * CHUNK_SIZE)
            .map(|number| number.to_le_bytes()[1])
            .collect();
        let mut read = Vec::new();
        let source = io::Cursor::new(bytes.clone());
        Interrupt::default()
            .reader(source)
            .unwrap()
            .read_to_end(&mut read)?;
        assert!(read == bytes);
        Ok(())
    }

    #[test]
    fn blocked_read_returns_error_after_interrupt() -> io::Result<()> {
        let interrupt = Interrupt::default();
        let (input, held_open) = io::pipe()?;
        let mut reader = interrupt.reader(input).unwrap();
        interrupt.is_set.store(true, Ordering::Relaxed);
        assert!(reader.read(&mut [0; 8]).is_err());
        drop(held_open);
        Ok(())
    }

    #[test]
    fn status_after_ctrl_c_is_130() {
        let interrupt = Interrupt::default();
        interrupt.signal.store(2, Ordering::Relaxed);
        assert_eq!(interrupt.status(), 130);
    }
}
