//! Ctrl-C, which ends a long command between two robots instead of in the middle of one.
//!
//! The first Ctrl-C is noted, and the command that is under way looks for it, finishes what it has
//! begun and says how far it got. The second one ends the program at once.

use std::{
    io::{self, Read},
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

/// What a shell takes for the end by a signal, before the number of the signal is added.
const ENDED_BY_A_SIGNAL: i32 = 128;

/// How long it takes at most until a Ctrl-C is noticed by who waits for input.
const PATIENCE: Duration = Duration::from_millis(50);

/// How much is read at a time, and how many such pieces wait for who takes them.
const PIECE: usize = 64 * 1024;
const PIECES: usize = 8;

/// Whether the user has asked the program to end, by Ctrl-C or by the signal that `kill` sends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt {
    is_asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// From here on the first Ctrl-C is noted, and the second ends the program at once.
    ///
    /// # Errors
    /// The system refuses to tell of signals.
    pub(crate) fn listen() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in [SIGINT, SIGTERM] {
            let status = ENDED_BY_A_SIGNAL + signal;
            // The order counts: the second signal finds what the first has left.
            flag::register_conditional_shutdown(signal, status, Arc::clone(&interrupt.is_asked))?;
            flag::register(signal, Arc::clone(&interrupt.is_asked))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
        }
        Ok(interrupt)
    }

    /// Whether the user has asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    /// The exit status that tells a shell of it: 130 after Ctrl-C.
    pub(crate) fn status(&self) -> u8 {
        let signal = self.signal.load(Ordering::Relaxed);
        u8::try_from(signal).map_or(u8::MAX, |signal| 128 | signal)
    }

    /// The same bytes, of which a Ctrl-C breaks off the reading, also where none arrive: another
    /// thread waits for them, and reads a little ahead.
    pub(crate) fn reader(&self, source: impl Read + Send + 'static) -> io::Result<Interruptible> {
        let (sender, pieces) = mpsc::sync_channel(PIECES);
        thread::Builder::new()
            .name("robot-input".to_owned())
            .spawn(move || read_ahead(source, &sender))?;
        Ok(Interruptible {
            interrupt: self.clone(),
            pieces,
            piece: Vec::new(),
            taken: 0,
        })
    }
}

/// Reads until there is no more, or nobody takes it any more.
fn read_ahead(mut source: impl Read, pieces: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = match source.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => {
                piece.truncate(length);
                Ok(piece)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_over = read.is_err();
        if pieces.send(read).is_err() || is_over {
            return;
        }
    }
}

/// What another thread reads, until the user asks for the end.
pub(crate) struct Interruptible {
    interrupt: Interrupt,
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    taken: usize,
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.piece.len() {
            if self.interrupt.is_asked() {
                // Not the kind `Interrupted`, upon which readers try again.
                return Err(io::Error::other("the reading was broken off"));
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => {
                    self.piece = piece?;
                    self.taken = 0;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let mut rest = &self.piece[self.taken..];
        let length = rest.read(buffer)?;
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_in_their_order_while_nobody_asks_for_the_end() -> io::Result<()> {
        let bytes: Vec<u8> = (0..3 * PIECE)
            .map(|number| number.to_le_bytes()[1])
            .collect();
        let mut read = Vec::new();
        let source = io::Cursor::new(bytes.clone());
        Interrupt::default()
            .reader(source)?
            .read_to_end(&mut read)?;
        assert!(read == bytes);
        Ok(())
    }

    #[test]
    fn who_waits_for_input_that_never_comes_notices_the_interrupt() -> io::Result<()> {
        let interrupt = Interrupt::default();
        let (input, held_open) = io::pipe()?;
        let mut reader = interrupt.reader(input)?;
        interrupt.is_asked.store(true, Ordering::Relaxed);
        assert!(reader.read(&mut [0; 8]).is_err());
        drop(held_open);
        Ok(())
    }

    #[test]
    fn the_status_is_that_of_a_program_which_the_signal_has_ended() {
        let interrupt = Interrupt::default();
        interrupt.signal.store(2, Ordering::Relaxed);
        assert_eq!(interrupt.status(), 130);
    }
}
