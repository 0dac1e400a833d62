//! Sessions on database servers: locks, batches, limits, and unreachable servers.

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    connection::SimpleConnection,
    result::{DatabaseErrorKind::NotNullViolation, Error::DatabaseError},
};
use robot_core::{
    Catalogue, CatalogueExt, Change, Error, Extent, OpenError, OpenOptions, Pending, Receipt,
    Robot, RobotId, ValidDraft, Violation, open,
};

use crate::{
    backend::{Backend, server_tests},
    draft, names, wait_for,
};

/// Queries for the sessions of a database.
pub(crate) trait Server: Backend {
    /// The other sessions.
    const OTHERS: &'static str;

    /// The sessions that wait for a lock.
    const WAITING: &'static str;

    /// Statements after which the server soon has no room for more robots.
    const FULL_DISK: &'static str;

    /// Statements after which changes of a robot wait for a lock, also in a batch, until the session
    /// ends.
    fn block(id: RobotId) -> String;

    /// A statement that terminates a session.
    fn terminate(session: &str) -> String;

    /// Terminates all sessions that a query returns, and blocks until they have ended: the server ends
    /// them after it has accepted the statement.
    fn terminate_all(connection: &mut Self::Connection, query: &str) {
        let sessions = Self::texts(connection, query);
        assert!(!sessions.is_empty());
        for session in &sessions {
            // It may have ended by itself.
            _ = connection.batch_execute(&Self::terminate(session));
        }
        wait_for("all have ended", || {
            let remaining = Self::texts(connection, query);
            sessions.iter().all(|session| !remaining.contains(session))
        });
    }

    /// Blocks until another session waits for a lock.
    fn await_lock_wait(connection: &mut Self::Connection) {
        wait_for("one waits", || {
            Self::texts(connection, Self::WAITING).len() == 1
        });
    }
}

#[cfg(feature = "postgres")]
impl Server for crate::backend::Postgres {
    const OTHERS: &'static str = "SELECT pid::text FROM pg_stat_activity \
        WHERE pid <> pg_backend_pid() AND application_name = current_schema()";

    const WAITING: &'static str = "SELECT pid::text FROM pg_stat_activity \
        WHERE application_name = current_schema() AND wait_event_type = 'Lock'";

    const FULL_DISK: &'static str = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
        $$ BEGIN RAISE EXCEPTION 'could not extend file \"base/5/7\": No space left on device' \
        USING ERRCODE = 'disk_full'; END $$; \
        CREATE TRIGGER full_disk BEFORE INSERT ON robots EXECUTE FUNCTION full_disk()";

    fn block(id: RobotId) -> String {
        Self::lock(id)
    }

    fn terminate(session: &str) -> String {
        format!("SELECT pg_terminate_backend({session})")
    }
}

#[cfg(feature = "mysql")]
impl Server for crate::backend::Mysql {
    const OTHERS: &'static str = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
        WHERE db = DATABASE() AND id <> CONNECTION_ID()";

    // A statement that runs for longer than any other waits for a lock.
    const WAITING: &'static str = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
        WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Execute' AND time_ms > 200";

    const FULL_DISK: &'static str = "SET SESSION max_heap_table_size = 16384; \
         ALTER TABLE robots MODIFY own CHAR(1), MODIFY own_text CHAR(1), ENGINE = MEMORY";

    /// A batch does not wait for the lock of a row.
    fn block(id: RobotId) -> String {
        const LOCK: &str = "CONCAT(DATABASE(), '.test')";
        format!(
            "CREATE TRIGGER wait BEFORE UPDATE ON robots FOR EACH ROW \
             SET @wait = IF(NEW.id = {id}, GET_LOCK({LOCK}, 60) + RELEASE_LOCK({LOCK}), 0); \
             DO GET_LOCK({LOCK}, 0)"
        )
    }

    fn terminate(session: &str) -> String {
        format!("KILL {session}")
    }
}

server_tests![
    tables_of_other_programs_are_ignored,
    open_change_of_another_program_delays_changes,
    lock_delays_no_change_of_the_same_batch,
    changes_of_a_batch_have_results_of_their_own,
    deadlock_is_retried_or_reported_as_taken_name,
    callers_wait_for_the_only_connection,
    unreachable_server_is_reported,
    full_disk_is_reported_as_such,
];

fn tables_of_other_programs_are_ignored<S: Server>() {
    let database = S::new();
    database.execute("CREATE TABLE humans (arms INTEGER)");
    database.open().add(draft("R2-D2")).unwrap();
}

/// Changes are numbered in the order of their commits.
fn open_change_of_another_program_delays_changes<S: Server>() {
    let database = S::new();
    let catalogue = robot_core::open(database.url()).unwrap();
    let locked = catalogue.add(draft("locked")).unwrap();
    let free = catalogue.add(draft("free")).unwrap();
    let mut other = database.connect();
    other.batch_execute(&S::lock(locked.id())).unwrap();
    let error = catalogue.replace(free.id(), draft("renamed")).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert_eq!(names(&catalogue, ""), ["free", "locked"]);
    drop(other);
    catalogue.replace(free.id(), draft("renamed")).unwrap();
}

/// Submitted together, so that they share a transaction at first. Only the last change of the free robot
/// is among them: changes that do not wait for each other may take effect in any order.
fn lock_delays_no_change_of_the_same_batch<S: Server>() {
    let database = S::new();
    let options = OpenOptions {
        connections: 4,
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let locked = catalogue.add(draft("locked")).unwrap();
    let free = catalogue.add(draft("free")).unwrap();
    let mut other = database.connect();
    let lock = format!(
        "BEGIN; SELECT id FROM robots WHERE id = {} FOR UPDATE",
        locked.id()
    );
    other.batch_execute(&lock).unwrap();
    let update = |robot: &Robot, name| Change::Update(robot.id(), None, valid(name).into());
    catalogue
        .start(update(&free, "first"), None)
        .wait()
        .unwrap();
    let mut changes = vec![update(&locked, "renamed")];
    changes.extend((0..20).map(|number| Change::Insert(valid(&number.to_string()))));
    changes.push(update(&free, "second"));
    let mut results = submit_all(&catalogue, changes);
    let error = results.remove(0).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    for result in results {
        result.unwrap();
    }
    assert_eq!(names(&catalogue, "").len(), 22);
    assert_eq!(names(&catalogue, "second"), ["second"]);
    drop(other);
}

fn changes_of_a_batch_have_results_of_their_own<S: Server>() {
    let database = S::new();
    let catalogue = database.open();
    let robots: Vec<_> = ["a", "b", "c"]
        .map(|name| catalogue.add(draft(name)).unwrap().id())
        .into();
    let gone = catalogue.add(draft("gone")).unwrap().id();
    catalogue.delete(gone).unwrap();
    // Inserts alone, and then with other changes, which are statements of their own.
    let inserts = ["d", "e", "d", "a", "f"].map(|name| Change::Insert(valid(name)));
    let [added, other, repeated, taken, last] = successes(&catalogue, inserts);
    assert!(added != repeated && other && !taken && last);
    let [
        added,
        first,
        second,
        missing,
        deleted,
        repeated,
        not_found,
        taken,
    ] = successes(
        &catalogue,
        [
            Change::Insert(valid("g")),
            Change::Update(robots[0], None, valid("a2").into()),
            Change::Update(robots[0], None, valid("a3").into()),
            Change::Update(gone, None, valid("b").into()),
            Change::Delete(robots[1], None),
            Change::Delete(robots[1], None),
            Change::Delete(gone, None),
            Change::Insert(valid("c")),
        ],
    );
    assert!(added && first && second && !missing && !not_found && !taken);
    assert_ne!(deleted, repeated);
    let renamed = catalogue.get(robots[0]).unwrap().unwrap();
    assert!(["a2", "a3"].contains(&renamed.name()), "{renamed:?}");
    assert_eq!(names(&catalogue, "")[1..], ["c", "d", "e", "f", "g"]);
}

/// Submits changes together. The errors must be those of the rules.
fn successes<const N: usize>(catalogue: &dyn Catalogue, changes: [Change; N]) -> [bool; N] {
    let results = submit_all(catalogue, changes.into());
    let successes = results.into_iter().map(|result| match result {
        Ok(_) => true,
        Err(Error::NotFound(_) | Error::Rejected(_)) => false,
        Err(error) => panic!("{error:?}"),
    });
    successes.collect::<Vec<_>>().try_into().unwrap()
}

pub(crate) fn valid(name: &str) -> ValidDraft {
    ValidDraft::new(draft(name)).unwrap()
}

/// Submits changes, and waits for all results.
pub(crate) fn submit_all(
    catalogue: &dyn Catalogue,
    changes: Vec<Change>,
) -> Vec<robot_core::Result<Receipt>> {
    let submitted = changes
        .into_iter()
        .map(|change| catalogue.start(change, None));
    let submitted: Vec<_> = submitted.collect();
    submitted.into_iter().map(Pending::wait).collect()
}

/// Each transaction locks the row with the name that the other one needs, and the server rolls one
/// of them back.
fn deadlock_is_retried_or_reported_as_taken_name<S: Server>() {
    let database = S::new();
    let catalogue = database.open();
    let robots: Vec<Robot> = ["one", "two"]
        .iter()
        .map(|name| catalogue.add(draft(name)).unwrap())
        .collect();
    for round in 0..20 {
        let wanted = ["one", "two", "three"];
        thread::scope(|scope| {
            for (number, robot) in robots.iter().enumerate() {
                let catalogue = &catalogue;
                scope.spawn(move || {
                    for step in 0..3 {
                        let name = wanted[(number + round + step) % wanted.len()];
                        match catalogue.replace(robot.id(), draft(name)) {
                            Ok(()) => {}
                            Err(Error::Rejected(violations))
                                if violations.iter().eq([&Violation::NAME_TAKEN]) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                });
            }
        });
        let mut names = names(&catalogue, "");
        names.dedup();
        assert_eq!(names.len(), 2);
    }
}

fn callers_wait_for_the_only_connection<S: Server>() {
    let database = S::new();
    let options = OpenOptions {
        connections: 1,
        timeout: Duration::from_secs(30),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    thread::scope(|scope| {
        for number in 0..16 {
            let catalogue = &catalogue;
            scope.spawn(move || catalogue.add(draft(&number.to_string())).unwrap());
        }
    });
    assert_eq!(names(&catalogue, "").len(), 16);
}

fn unreachable_server_is_reported<S: Server>() {
    let database = S::new();
    // No server listens on this port.
    let (start, rest) = database.url().split_once("127.0.0.1:").unwrap();
    let (_, rest) = rest.split_once('/').unwrap();
    let url = format!("{start}127.0.0.1:1/{rest}");
    let error = open(&url).err().unwrap();
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("cannot reach the database "),
        "{message}"
    );
    assert!(!message.contains("robots:robots"), "{message}");

    let options = OpenOptions {
        timeout: Duration::from_millis(300),
        wait_for_server: true,
        ..OpenOptions::default()
    };
    let catalogue = options.open(&url).unwrap();
    let started = Instant::now();
    for error in [
        catalogue.list().unwrap_err(),
        catalogue.add(draft("R2-D2")).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        let message = error.with_cause();
        assert!(message.contains("cannot reach the database "), "{message}");
    }
    assert!(started.elapsed() < Duration::from_secs(10));
}

fn full_disk_is_reported_as_such<S: Server>() {
    let database = S::new();
    let catalogue = database.open();
    database.execute(S::FULL_DISK);
    let mut names = (0..5000).map(|number| format!("RX-{number}"));
    let error = names.find_map(|name| catalogue.add(draft(&name)).err());
    assert!(matches!(error, Some(Error::DiskFull(_))), "{error:?}");
}

/// A table that was created elsewhere, as by a dump, has another identity.
#[cfg(feature = "postgres")]
#[test]
fn positions_are_those_of_one_table_on_postgres() {
    let database = crate::backend::Postgres::new();
    let position = database.open().position().unwrap();
    assert_eq!(database.open().position().unwrap(), position);
    database.execute(
        "CREATE TABLE loaded (LIKE robots_catalogue INCLUDING ALL);
         INSERT INTO loaded SELECT * FROM robots_catalogue;
         DROP TABLE robots_catalogue;
         ALTER TABLE loaded RENAME TO robots_catalogue",
    );
    let gone = database
        .open()
        .changes(&position, Extent::Latest, 1)
        .unwrap_err();
    assert!(matches!(gone, robot_core::Error::PositionGone));
}

/// A Galera node may end a transaction without a word.
#[cfg(feature = "mysql")]
#[test]
fn nothing_is_changed_outside_of_a_lost_transaction_on_mariadb() {
    let database = crate::backend::Mysql::new();
    let catalogue = database.open();
    let robot = catalogue.add(draft("a")).unwrap();
    let other = catalogue.add(draft("b")).unwrap();
    for statement in [
        format!("DELETE FROM robots WHERE id = {}", robot.id()),
        format!("UPDATE robots SET year = 3 WHERE id = {}", robot.id()),
        "INSERT INTO robots (name, type, year) VALUES ('c', 'droid', 1)".to_owned(),
    ] {
        let statements = format!("SET @robots_next = 1; {statement}");
        let error = database.connect().batch_execute(&statements).unwrap_err();
        assert!(
            matches!(error, DatabaseError(NotNullViolation, _)),
            "{error}"
        );
    }
    assert_eq!(catalogue.list().unwrap(), [robot, other]);
}

/// A list waits until the log is on disk, if the user may change what makes the server write it.
#[cfg(feature = "mysql")]
#[test]
fn user_who_may_only_read_lists_robots_on_mariadb() {
    let database = crate::backend::Mysql::new();
    let robot = database.open().add(draft("a")).unwrap();
    let url = database.url().replace("robots:robots@", "reader:reader@");
    let catalogue = open(&url).unwrap();
    let position = catalogue.position().unwrap();
    assert_eq!(catalogue.list().unwrap(), [robot]);
    assert_eq!(
        catalogue
            .changes(&position, Extent::Latest, 1)
            .unwrap()
            .events,
        []
    );
    assert!(catalogue.add(draft("b")).is_err());
}
