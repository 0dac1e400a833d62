//! Robots of an SQLite database that were read before and have not been changed since.
//!
//! Any process may write to the file, so no robot is taken from here without a look at the state
//! that the database is in ([`WalIndex`]). What this process commits takes out the robots that it
//! changed; after a commit of another process all are forgotten.

use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use diesel::{QueryResult, RunQueryDsl, connection::SimpleConnection, dsl::sql, sql_types::BigInt};

use super::{
    connection::{AnyConnection, Location, Purpose},
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
        let known = self.read();
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
        let mut known = self.write();
        if known.state.as_ref() != Some(state) {
            // Whoever commits knows better what is to be forgotten.
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
        let before = self.index.state();
        let mut known = self.write();
        known.is_committing = true;
        let is_own = before.is_some() && known.committed == before;
        drop(known);
        Committing {
            cache: self,
            // Only others have triggers made.
            before: before.filter(|_| is_own || has_no_other_triggers(connection)),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A commit of this process that is under way. Where it is dropped, it may have changed anything.
pub(super) struct Committing<'a> {
    cache: &'a Cache,
    before: Option<State>,
}

impl Committing<'_> {
    /// The commit has changed these robots, and no other that was there before.
    pub(super) fn has_changed(self, robots: impl Iterator<Item = RobotId>) {
        let mut known = self.cache.write();
        let (Some(before), Some(after)) = (self.before, self.cache.index.state()) else {
            return;
        };
        if after != before && !after.is_next_after(&before) {
            // Somebody else has committed, too.
            return;
        }
        known.committed = Some(after);
        if known.state == Some(before) {
            known.state = Some(after);
            for id in robots {
                if let Some(robot) = known.robots.get_mut(place(id)) {
                    *robot = None;
                }
            }
        }
    }
}

impl Drop for Committing<'_> {
    fn drop(&mut self) {
        self.cache.write().is_committing = false;
    }
}

/// Whether a change of a robot changes that robot alone: no trigger of somebody else is there.
fn has_no_other_triggers(connection: &mut AnyConnection) -> bool {
    const OTHERS: &str = "(SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name NOT \
                          IN ('robots_search_insert', 'robots_search_delete', \
                          'robots_search_update'))";
    let others: QueryResult<i64> = diesel::select(sql::<BigInt>(OTHERS)).get_result(connection);
    others == Ok(0)
}

fn place(id: RobotId) -> usize {
    usize::try_from(id.get()).unwrap_or_default() % PLACES
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::{
        catalogue::Catalogue,
        database::{DatabaseCatalogue, queries},
        open::OpenOptions,
        robot::Draft,
    };

    /// A robot that a cache knows, and two connections that write.
    struct Setting {
        _folder: tempfile::TempDir,
        _catalogue: DatabaseCatalogue,
        cache: Cache,
        ours: AnyConnection,
        theirs: AnyConnection,
        id: RobotId,
    }

    impl Setting {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let url = format!("sqlite://{}/robots.db", folder.path().display());
            let catalogue = DatabaseCatalogue::open(&url).unwrap();
            let id = catalogue.add(Draft::new("R2-D2", "droid", 1)).unwrap().id();
            let location = Location::parse(&url, &OpenOptions::new()).unwrap();
            let [ours, theirs] = [(); 2].map(|()| location.connect(Purpose::Writing).unwrap());
            let mut setting = Self {
                _folder: folder,
                _catalogue: catalogue,
                cache: Cache::of(&location).unwrap(),
                ours,
                theirs,
                id,
            };
            assert_eq!(setting.year(), 1);
            setting
        }

        /// The year of the robot, which is read where the cache does not know it.
        fn year(&mut self) -> i64 {
            let (id, ours) = (self.id, &mut self.ours);
            let robot = self.cache.get(id, || find(ours, id));
            robot.unwrap().unwrap().year()
        }

        fn is_known(&self) -> bool {
            let state = self.cache.index.state().unwrap();
            self.cache.known(&state, self.id).is_some()
        }
    }

    fn find(connection: &mut AnyConnection, id: RobotId) -> QueryResult<Option<Robot>> {
        let row = queries::get(connection, id)?;
        Ok(row.map(|row| Robot::try_from(row).unwrap()))
    }

    const UPDATE: &str = "UPDATE robots SET year = 1 + year";

    #[test]
    fn what_a_commit_leaves_alone_stays_known() {
        let mut setting = Setting::new();
        setting
            .ours
            .batch_execute("BEGIN IMMEDIATE; PRAGMA user_version = 7")
            .unwrap();
        let committing = setting.cache.commit_begins(&mut setting.ours);
        setting.ours.batch_execute("COMMIT").unwrap();
        assert!(!setting.is_known(), "nobody has told what was changed");
        committing.has_changed([].into_iter());
        assert!(setting.is_known());
        // One that changes nothing does not even write.
        setting.ours.batch_execute("BEGIN IMMEDIATE").unwrap();
        let committing = setting.cache.commit_begins(&mut setting.ours);
        setting.ours.batch_execute("COMMIT").unwrap();
        committing.has_changed([].into_iter());
        assert!(setting.is_known());
    }

    #[test]
    fn a_commit_of_another_process_just_after_ours_is_noticed() {
        let mut setting = Setting::new();
        setting
            .ours
            .batch_execute("BEGIN IMMEDIATE; PRAGMA user_version = 7")
            .unwrap();
        let committing = setting.cache.commit_begins(&mut setting.ours);
        setting.ours.batch_execute("COMMIT").unwrap();
        setting.theirs.batch_execute(UPDATE).unwrap();
        committing.has_changed([].into_iter());
        assert_eq!(setting.year(), 2);
    }

    #[test]
    fn a_commit_that_fails_makes_nothing_known() {
        let mut setting = Setting::new();
        setting.ours.batch_execute("BEGIN IMMEDIATE").unwrap();
        setting.ours.batch_execute(UPDATE).unwrap();
        drop(setting.cache.commit_begins(&mut setting.ours));
        // As if the failure had come after it.
        setting.ours.batch_execute("COMMIT").unwrap();
        assert_eq!(setting.year(), 2);
        assert!(setting.is_known());
    }

    #[test]
    fn what_changes_while_it_is_read_is_not_kept() {
        let mut setting = Setting::new();
        setting.theirs.batch_execute(UPDATE).unwrap();
        let (id, theirs) = (setting.id, &mut setting.theirs);
        let robot = setting.cache.get(id, || {
            let found = find(&mut setting.ours, id);
            theirs.batch_execute(UPDATE)?;
            found
        });
        assert_eq!(robot.unwrap().unwrap().year(), 2);
        assert_eq!(setting.year(), 3);
    }
}
