//! How much is measured, and the data that it is measured on.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::data;

/// How long a store is written to before its writes are measured. As long as its write-ahead
/// log grows, each sync must also wait for the file system to note the new length, which takes
/// a multiple of the time. SQLite writes over a log that has grown, some hundred commits later.
pub(crate) const UNTIL_THE_LOG_HAS_GROWN: Duration = Duration::from_secs(2);

/// What all measurements share.
#[derive(Debug)]
pub(crate) struct Plan {
    /// How many times each comparison is made.
    pub(crate) rounds: u32,
    /// How long each run under load lasts.
    pub(crate) run: Duration,
    /// How many robots a catalogue of everyday size has.
    pub(crate) some: u64,
    /// How many robots a large catalogue has.
    pub(crate) many: u64,
    folder: PathBuf,
    started: Instant,
    stores: RefCell<BTreeMap<u64, PathBuf>>,
    files: Cell<u32>,
}

impl Plan {
    pub(crate) fn new(folder: PathBuf, rounds: u32, run: Duration) -> Self {
        Self {
            rounds,
            run,
            some: 100_000,
            many: 1_000_000,
            folder,
            started: Instant::now(),
            stores: RefCell::default(),
            files: Cell::default(),
        }
    }

    /// One that tells only whether everything runs.
    pub(crate) fn quick(folder: PathBuf) -> Self {
        Self {
            some: 10_000,
            many: 100_000,
            ..Self::new(folder, 1, Duration::from_secs(1))
        }
    }

    /// Where the data is.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Tells how far it is.
    pub(crate) fn say(&self, message: &str) {
        eprintln!("{:7.1} s  {message}", self.started.elapsed().as_secs_f64());
    }

    /// A file in the folder that has not been there before.
    pub(crate) fn new_file(&self, ending: &str) -> PathBuf {
        let number = self.files.get() + 1;
        self.files.set(number);
        self.folder.join(format!("{number}.{ending}"))
    }

    /// An SQLite store with so many robots, to be read and not to be written: all share it.
    pub(crate) fn store(&self, robots: u64) -> Result<PathBuf, String> {
        if let Some(path) = self.stores.borrow().get(&robots) {
            return Ok(path.clone());
        }
        self.say(&format!("making {robots} robots"));
        let path = self.new_file("db");
        data::make_sqlite(&path, robots)?;
        self.stores.borrow_mut().insert(robots, path.clone());
        Ok(path)
    }

    /// A store with so many robots that nobody else has.
    pub(crate) fn own_store(&self, robots: u64) -> Result<PathBuf, String> {
        let (from, to) = (self.store(robots)?, self.new_file("db"));
        let copy = || {
            fs::copy(&from, &to)?;
            // Else the first commits of whoever uses it would wait for the copy, too.
            File::open(&to)?.sync_all()
        };
        copy().map_err(|error: io::Error| {
            format!(
                "cannot copy {}: {error}; name a folder on a disk with more room by --folder",
                from.display()
            )
        })?;
        Ok(to)
    }
}

/// The URL of the store in a file.
pub(crate) fn url(path: &Path) -> String {
    format!("sqlite://{}", path.display())
}
