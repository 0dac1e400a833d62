//! The file: a JSON object with the definition, the last id, the last revision and the robots.

use std::{
    error::Error as StdError,
    fs::{self, TryLockError},
    io::{BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use robot_core::{
    Definition, Draft, Error, Existing, OpenError, OutputError, OutputFile, Result, Revision,
    Robot, RobotId, StoreFiles,
};
use serde::{Deserialize, Serialize};

use crate::state::State;

/// The path of the file, and the lock that keeps other processes from opening it.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    _lock: fs::File,
}

/// The content that is written.
#[derive(Serialize)]
struct Written<'a> {
    /// As text, which keeps the order of the fields.
    definition: String,
    definition_revision: Revision,
    last_id: i64,
    revision: i64,
    robots: Vec<&'a Robot>,
}

/// The content that is read.
#[derive(Deserialize)]
struct Read {
    definition: String,
    definition_revision: i64,
    last_id: i64,
    revision: i64,
    robots: Vec<StoredRobot>,
}

#[derive(Deserialize)]
struct StoredRobot {
    id: String,
    revision: i64,
    #[serde(flatten)]
    values: Draft,
}

impl File {
    /// Locks and reads the file. A missing one is an empty catalogue.
    pub(crate) fn open(path: &Path) -> Result<(Self, State), OpenError> {
        let mut lock_path = path.as_os_str().to_owned();
        lock_path.push(".lock");
        let lock = fs::File::create(lock_path).map_err(|error| unusable(path, error))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::Busy(path.display().to_string()));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(path, error)),
        }
        let state = match fs::read_to_string(path) {
            Ok(json) => read(&json).map_err(|error| unusable(path, error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => State::default(),
            Err(error) => return Err(unusable(path, error)),
        };
        let path = path.to_owned();
        Ok((Self { path, _lock: lock }, state))
    }

    /// Replaces the file: the new one is on disk before it gets the path.
    pub(crate) fn write(&mut self, state: &State) -> Result<()> {
        let write = || {
            let mut file = BufWriter::new(OutputFile::create(&self.path, &StoreFiles::default())?);
            let content = Written::of(state);
            serde_json::to_writer(&mut file, &content).map_err(std::io::Error::from)?;
            file.flush()?;
            let file = file
                .into_inner()
                .map_err(std::io::IntoInnerError::into_error)?;
            file.finish(Existing::Replace)
        };
        match write() {
            Ok(_) => Ok(()),
            Err(error @ OutputError::NotSynced(_)) => Err(Error::unknown(error)),
            Err(OutputError::Io(error)) if error.kind() == ErrorKind::StorageFull => {
                Err(Error::disk_full(error))
            }
            Err(error) => Err(Error::store(error)),
        }
    }

    /// The file, which other code must not replace.
    pub(crate) fn files(&self) -> StoreFiles {
        StoreFiles::new([self.path.clone()])
    }
}

impl<'a> Written<'a> {
    fn of(state: &'a State) -> Self {
        let definition = state.definition();
        Self {
            definition: definition.to_string(),
            definition_revision: definition.revision(),
            last_id: state.last_id().map_or(0, RobotId::get),
            revision: state.revision(),
            robots: state.robots().collect(),
        }
    }
}

fn read(json: &str) -> Result<State, Box<dyn StdError + Send + Sync>> {
    let content: Read = serde_json::from_str(json)?;
    let revision = |number| Revision::new(number).ok_or("a revision is not positive");
    let definition: Definition = content.definition.parse()?;
    let definition = definition.with_revision(revision(content.definition_revision)?);
    let mut robots = Vec::with_capacity(content.robots.len());
    for stored in content.robots {
        let id = stored.id.parse()?;
        let revision = revision(stored.revision)?;
        robots.push(Robot::from_stored(id, revision, stored.values));
    }
    Ok(State::new(
        definition,
        robots,
        RobotId::new(content.last_id),
        content.revision,
    ))
}

fn unusable(path: &Path, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> OpenError {
    OpenError::Unusable {
        database: path.display().to_string(),
        remedy: "check the file and its permissions",
        cause: Arc::from(cause.into()),
    }
}
