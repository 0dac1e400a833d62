use super::*;
use crate::{
    catalogue::Catalogue,
    database::{DatabaseCatalogue, Engine, queries},
    open::OpenOptions,
    robot::Draft,
    rules::ValidDraft,
};

/// A robot that a cache knows, and two connections that write.
struct Setting {
    _folder: tempfile::TempDir,
    catalogue: DatabaseCatalogue,
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
            catalogue,
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
        knows(&self.cache, self.id)
    }
}

fn knows(cache: &Cache, id: RobotId) -> bool {
    cache.known(&cache.index.state().unwrap(), id).is_some()
}

fn find(connection: &mut AnyConnection, id: RobotId) -> QueryResult<Option<Robot>> {
    let row = queries::get(connection, id)?;
    Ok(row.map(|row| Robot::try_from(row).unwrap()))
}

const UPDATE: &str = "UPDATE robots SET year = 1 + year";

/// Begins a transaction that writes, but changes no robot.
const WRITE: &str = "BEGIN IMMEDIATE; PRAGMA user_version = 7";

/// Begins a transaction that writes nothing.
const NOTHING: &str = "BEGIN IMMEDIATE";

/// Commits such a transaction as the writer does, while something else happens before it is told.
fn commit(cache: &Cache, ours: &mut AnyConnection, begin: &str, meanwhile: impl FnOnce()) {
    ours.batch_execute(begin).unwrap();
    let committing = cache.commit_begins(ours);
    ours.batch_execute("COMMIT").unwrap();
    meanwhile();
    committing.has_changed(ours, false, [].into_iter());
}

#[test]
fn what_a_commit_leaves_alone_stays_known() {
    let mut setting = Setting::new();
    let (cache, id) = (&setting.cache, setting.id);
    let is_known = || knows(cache, id);
    commit(cache, &mut setting.ours, WRITE, || {
        assert!(!is_known(), "nobody has told what was changed");
    });
    assert!(is_known());
    commit(cache, &mut setting.ours, NOTHING, || {});
    assert!(is_known());
}

#[test]
fn a_commit_of_another_process_just_after_ours_is_noticed() {
    // Also where it could be taken for one of ours that had nothing to write.
    for begin in [WRITE, NOTHING] {
        let mut setting = Setting::new();
        let theirs = &mut setting.theirs;
        commit(&setting.cache, &mut setting.ours, begin, || {
            theirs.batch_execute(UPDATE).unwrap();
        });
        assert_eq!(setting.year(), 2, "{begin}");
    }
}

#[test]
fn who_has_read_before_a_commit_of_ours_undoes_nothing() {
    let mut setting = Setting::new();
    let other = RobotId::new(99).unwrap();
    let draft = ValidDraft::new(Draft::new("C-3PO", "droid", 2)).unwrap();
    let found = setting.cache.get(other, || {
        commit(&setting.cache, &mut setting.ours, WRITE, || {});
        QueryResult::Ok(Some(draft.with_id(other)))
    });
    assert!(found.is_ok());
    assert!(setting.is_known());
}

#[test]
fn nothing_is_known_where_a_commit_cannot_be_seen() {
    let mut setting = Setting::new();
    let committing = setting.cache.commit_begins(&mut setting.ours);
    committing.has_changed(&mut setting.ours, true, [].into_iter());
    assert_eq!(setting.cache.index.state(), None);
    setting.theirs.batch_execute(UPDATE).unwrap();
    assert_eq!(setting.year(), 2);
}

#[test]
fn a_catalogue_knows_what_was_read_and_not_changed() {
    let setting = Setting::new();
    let catalogue = &setting.catalogue;
    let cache = match &catalogue.engine {
        Engine::Embedded(embedded) => embedded.cache.as_ref().unwrap(),
        #[cfg(any(feature = "postgres", feature = "mysql"))]
        Engine::Server(_) => unreachable!(),
    };
    let is_known = |id| knows(cache, id);
    assert!(!is_known(setting.id));
    catalogue.get(setting.id).unwrap();
    assert!(is_known(setting.id));
    let other = catalogue.add(Draft::new("C-3PO", "droid", 2)).unwrap().id();
    catalogue.get(other).unwrap();
    catalogue
        .replace(other, Draft::new("C-3PO", "droid", 3))
        .unwrap();
    assert!(is_known(setting.id) && !is_known(other));
    assert!(catalogue.delete(RobotId::new(99).unwrap()).is_err());
    assert!(is_known(setting.id));
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
