//! The state that an SQLite database is in, as its connections tell it one another.
//!
//! Beside the database is the index of its write-ahead log, `-shm`, which all connections of all
//! processes map into their memory. It begins with a header, twice, that every commit writes anew
//! when it is on disk, and that every read begins by looking at
//! (<https://sqlite.org/walformat.html>, 2.2). To look at it takes a fraction of a microsecond, where a
//! read that SQLite begins and ends takes locks, too.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

#[cfg(target_os = "linux")]
use super::file::identity;
use super::file::{itself, with_ending};

/// How long the header is.
const HEADER: usize = 48;

/// Where the header tells whether it is one.
const IS_THERE: usize = 12;

/// The files that are open. To close one would take away all locks that this process has on it,
/// SQLite's among them, so that is done only some time after the file is deleted.
static OPEN: Mutex<Vec<Arc<File>>> = Mutex::new(Vec::new());

/// A state of a database. Between two moments with the same nothing was committed.
///
/// The header has the number of commits, and the checksum of all that is in the log, which begins
/// with a random number. (That of a log which was emptied by a process that died as it wrote the
/// header is always the same.)
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State([u8; HEADER]);

/// The index of the write-ahead log of a database.
pub(super) struct WalIndex {
    file: Arc<File>,
    is_given_up: AtomicBool,
}

impl WalIndex {
    /// That of a database which is open, where this system lets files be read that are mapped.
    pub(super) fn of(database: &Path) -> Option<Self> {
        let path = with_ending(&itself(database), "-shm");
        Some(Self {
            file: open(&path).ok()?,
            is_given_up: AtomicBool::new(false),
        })
    }

    /// From now on there is no state that is known.
    pub(super) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// The state of the database now; `None` while somebody is at it.
    pub(super) fn state(&self) -> Option<State> {
        if self.is_given_up.load(Ordering::Relaxed) {
            return None;
        }
        let mut headers = [0; 2 * HEADER];
        read_beginning(&self.file, &mut headers).ok()?;
        let (first, second) = headers.split_at(HEADER);
        let state = State(first.try_into().ok()?);
        (first == second && state.0[IS_THERE] == 1).then_some(state)
    }
}

#[cfg(target_os = "linux")]
fn open(path: &Path) -> io::Result<Arc<File>> {
    use std::os::unix::fs::MetadataExt;
    let wanted = identity(&std::fs::metadata(path)?);
    let mut files = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_deleted = |file: &File| matches!(file.metadata(), Ok(found) if found.nlink() == 0);
    files.retain(|file| Arc::strong_count(file) > 1 || !is_deleted(file));
    let is_wanted =
        |file: &File| matches!(file.metadata(), Ok(found) if identity(&found) == wanted);
    if let Some(file) = files.iter().find(|file| is_wanted(file)) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    files.push(Arc::clone(&file));
    Ok(file)
}

#[cfg(target_os = "linux")]
fn read_beginning(file: &File, bytes: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, 0)
}

/// Not every system reads from a file what was written into memory that is mapped to it.
#[cfg(not(target_os = "linux"))]
fn open(_: &Path) -> io::Result<Arc<File>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn read_beginning(_: &File, _: &mut [u8]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
