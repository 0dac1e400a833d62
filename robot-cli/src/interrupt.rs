//! Handler for Ctrl-C and SIGTERM that stops a long command between two robots.
//!
//! The first signal sets a flag. The command polls it, completes its current write and reports its
//! progress. The second signal terminates the process.

use std::{
    io::{self, Read},
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::{error::CliError, terminal::note};

/// Exit status of a process that a signal terminated, minus the number of the signal.
const SIGNAL_STATUS: u8 = 128;

/// The flag that a signal sets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    is_set: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Registers the signal handlers.
    pub(crate) fn register() -> Result<Self, CliError> {
        let interrupt = Self::default();
        interrupt.add_handlers().map_err(|cause| {
            CliError::new(format_args!(
                "cannot handle Ctrl-C: {cause}; run the command again"
            ))
        })?;
        Ok(interrupt)
    }

    fn add_handlers(&self) -> io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            let status = i32::from(SIGNAL_STATUS) + signal;
            // Before the handler that sets the flag, so that only the second signal terminates.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&self.is_set))?;
            // The number comes before the flag, which other threads wait for.
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&self.signal), number)?;
            flag::register(signal, Arc::clone(&self.is_set))?;
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
    pub(crate) fn stopped(&self, message: &str) -> CliError {
        note(&format!("Stopped{message}"));
        CliError::printed(None, self.status())
    }

    /// A reader of the same bytes that returns an error after a signal: a part of a file must not be taken for
    /// all of it. A read that waits for input does not end.
    pub(crate) fn reader<R: Read>(&self, source: R) -> InterruptibleReader<R> {
        InterruptibleReader(self.clone(), source)
    }
}

/// The reader that [`Interrupt::reader`] returns.
pub(crate) struct InterruptibleReader<R>(Interrupt, R);

impl<R: Read> Read for InterruptibleReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self(interrupt, source) = self;
        let read = source.read(buffer);
        // Ctrl-C may have terminated the program that writes the input, too: this is not its end.
        if interrupt.is_set() {
            // Not `ErrorKind::Interrupted`, which callers retry.
            return Err(io::Error::other("interrupted"));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_after_ctrl_c_is_130() {
        let interrupt = Interrupt::default();
        interrupt.signal.store(2, Ordering::Relaxed);
        assert_eq!(interrupt.status(), 130);
    }
}
