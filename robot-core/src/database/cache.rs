//! Robots of an SQLite database that were read before and have not been changed since.
//!
//! Any process may write to the file, so no robot is taken from here without a look at the state
//! that the database is in ([`WalIndex`]). What this process commits takes out the robots that it
//! changed; after a commit of another process all are forgotten.
//!
//! Threads that must not block read from here. So nobody waits for a lock of this module for longer
//! than a robot is copied: who finds it taken goes to the database instead.

use std::sync::{Mutex, PoisonError, RwLock, RwLockWriteGuard, TryLockError};

use diesel::{QueryResult, SqliteConnection, connection::SimpleConnection};

use super::{
    connection::{AnyConnection, Location, Purpose},
    sqlite,
    wal_index::{State, WalIndex},
};
use crate::robot::{Robot, RobotId};

/// How many robots are kept at most: those with the same remainder of their ids take the
/// place of one another.
const PLACES: usize = 1 << 17;

/// The longest name that is kept, in bytes. With it and the number of places the memory is bounded, to
/// some 30 MiB.
const LONGEST_NAME: usize = 128;

/// The robots that were read before.
pub(super) struct Cache {
    index: WalIndex,
    known: RwLock<Known>,
    /// SQLite takes the index away when nobody has the database open, and makes another one for who
    /// opens it next.
    _keeps_the_index: Mutex<AnyConnection>,
}

/// What is known of one state of the database.
#[derive(Default)]
struct Known {
    /// The state that the robots of this era are of.
    state: Option<State>,
    /// Grows whenever all robots are to be forgotten.
    era: u64,
    /// The state that the last commit of this process has made.
    committed: Option<State>,
    /// Whether this process is committing, and will tell what it has changed.
    is_committing: bool,
    /// By the remainders of their ids.
    robots: Vec<Option<Box<Remembered>>>,
}

struct Remembered {
    era: u64,
    robot: Robot,
}

impl Cache {
    /// The cache of a database that is open, where this system lets it be known what others commit.
    pub(super) fn of(location: &Location) -> Option<Self> {
        let mut connection = location.connect(Purpose::Reading).ok()?;
        // With its first statement a connection opens the index.
        connection
            .batch_execute("SELECT name FROM sqlite_master LIMIT 1")
            .ok()?;
        Some(Self {
            index: WalIndex::of(location.path())?,
            known: RwLock::default(),
            _keeps_the_index: Mutex::new(connection),
        })
    }

    /// A robot as it is now: from here, or else as it is found in the database, and then it is kept.
    pub(super) fn get<E>(
        &self,
        id: RobotId,
        find: impl FnOnce() -> Result<Option<Robot>, E>,
    ) -> Result<Option<Robot>, E> {
        let Some(state) = self.index.state() else {
            return find();
        };
        if let Some(robot) = self.known(&state, id) {
            return Ok(Some(robot));
        }
        let found = find()?;
        if let Some(robot) = &found {
            self.keep(&state, robot);
        }
        Ok(found)
    }

    /// What is known of a robot in this state of the database.
    fn known(&self, state: &State, id: RobotId) -> Option<Robot> {
        let known = unless_taken(self.known.try_read())?;
        let remembered = known.robots.get(place(id))?.as_ref()?;
        let is_so = known.state.as_ref() == Some(state)
            && remembered.era == known.era
            && remembered.robot.id() == id;
        is_so.then(|| remembered.robot.clone())
    }

    /// Keeps a robot that was read when the database was in this state or a later one.
    ///
    /// If it is a later one, and the robot was changed since, then either whoever changed it takes
    /// it out when that is told, or the state is not the known one any more.
    fn keep(&self, state: &State, robot: &Robot) {
        if robot.name().len() > LONGEST_NAME {
            return;
        }
        let mut remembered = Box::new(Remembered {
            era: 0,
            robot: robot.clone(),
        });
        let Some(mut known) = unless_taken(self.known.try_write()) else {
            return;
        };
        if known.state.as_ref() != Some(state) {
            // Who has read before a commit must not undo what is known since, most of which that
            // commit has left as it was.
            if known.is_committing || self.index.state().as_ref() != Some(state) {
                return;
            }
            known.state = Some(*state);
            known.era += 1;
        }
        if known.robots.is_empty() {
            known.robots.resize_with(PLACES, || None);
        }
        remembered.era = known.era;
        known.robots[place(robot.id())] = Some(remembered);
    }

    /// To be called by the one writer of this process, when it has the lock of writers and nothing
    /// more to do than to commit.
    pub(super) fn commit_begins(&self, connection: &mut AnyConnection) -> Committing<'_> {
        let mut known = self.write();
        known.is_committing = true;
        let committed = known.committed;
        drop(known);
        let mut committing = Committing {
            cache: self,
            before: None,
        };
        if let (Some(sqlite), Some(state)) = (sqlite_of(connection), self.index.state())
            // As long as nobody else has committed, the tables are what they were at the last look.
            && (committed == Some(state) || sqlite::is_as_we_made_it(sqlite) == Ok(true))
        {
            let version = sqlite::data_version(sqlite);
            committing.before = version.ok().map(|version| (state, version));
        }
        committing
    }

    /// For the writer, whom nobody keeps waiting for long.
    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit of this process that is under way. Where it is dropped, it may have changed anything.
pub(super) struct Committing<'a> {
    cache: &'a Cache,
    /// The state before it, and what the connection says of the commits of others.
    before: Option<(State, i32)>,
}

impl Committing<'_> {
    /// The commit has changed these robots, and no other that was there before. Whether it has
    /// added some tells that it has certainly written.
    pub(super) fn has_changed(
        self,
        connection: &mut AnyConnection,
        has_added: bool,
        robots: impl Iterator<Item = RobotId>,
    ) {
        let after = self.cache.index.state();
        let (Some((before, version)), Some(after)) = (self.before, after) else {
            return;
        };
        if has_added && after == before {
            // Here a file does not have what was written into memory that is mapped to it.
            self.cache.index.give_up();
            return;
        }
        // Somebody else may have committed behind it, or instead, where it had nothing to write.
        let version_now: Option<QueryResult<i32>> = sqlite_of(connection).map(sqlite::data_version);
        if version_now != Some(Ok(version)) {
            return;
        }
        let mut known = self.cache.write();
        known.committed = Some(after);
        if known.state == Some(before) {
            known.state = Some(after);
            for id in robots {
                if let Some(robot) = known.robots.get_mut(place(id)) {
                    *robot = None;
                }
            }
        }
        drop(known);
    }
}

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.cache.write().is_committing = false;
    }
}

fn unless_taken<T>(lock: Result<T, TryLockError<T>>) -> Option<T> {
    match lock {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

#[cfg_attr(
    not(any(feature = "postgres", feature = "mysql")),
    expect(clippy::unnecessary_wraps, reason = "there is no other backend")
)]
fn sqlite_of(connection: &mut AnyConnection) -> Option<&mut SqliteConnection> {
    match connection {
        AnyConnection::Sqlite(connection) => Some(connection),
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        _ => None,
    }
}

fn place(id: RobotId) -> usize {
    usize::try_from(id.get()).unwrap_or_default() % PLACES
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
