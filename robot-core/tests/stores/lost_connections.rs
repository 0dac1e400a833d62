//! Connections to database servers that are lost.

use std::{thread, time::Duration};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Change, Error, OpenOptions, Receipt, RobotId};

use crate::{
    backend::server_tests,
    draft, names,
    servers::{Server, submit_all, valid},
};

server_tests![
    lost_connections_are_replaced,
    connection_lost_during_a_write_is_unknown,
    connection_lost_before_a_commit_repeats_the_changes,
];

fn lost_connections_are_replaced<S: Server>() {
    let database = S::new();
    let catalogue = database.open();
    let mut other = database.connect();
    for _ in 0..3 {
        // Opens several connections.
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| catalogue.list().unwrap());
            }
        });
        S::terminate_all(&mut other, S::OTHERS);
        catalogue.list().unwrap();
        // A write after the interval at which idle connections are validated: until then, its connection
        // may be lost while another one still works.
        thread::sleep(Duration::from_millis(1100));
        catalogue
            .add(draft(&names(&catalogue, "").len().to_string()))
            .unwrap();
    }
    assert_eq!(names(&catalogue, ""), ["0", "1", "2"]);
}

fn connection_lost_during_a_write_is_unknown<S: Server>() {
    let database = S::new();
    let options = OpenOptions {
        timeout: Duration::from_secs(30),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let robot = catalogue.add(draft("R2-D2")).unwrap();
    let mut locking = database.connect();
    locking.batch_execute(&S::lock(robot.id())).unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| catalogue.add(draft("C-3PO")));
        let mut other = database.connect();
        S::await_lock_wait(&mut other);
        S::terminate_all(&mut other, S::WAITING);
        let error = write.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    });
    assert_eq!(names(&catalogue, ""), ["R2-D2"]);
}

fn connection_lost_before_a_commit_repeats_the_changes<S: Server>() {
    let database = S::new();
    let robot = database.open().add(draft("R2-D2")).unwrap();
    let results = lose_batch(&database, &S::block(robot.id()), robot.id());
    for result in results {
        result.unwrap();
    }
    assert_eq!(names(&*database.open(), ""), ["a", "b", "c", "renamed"]);
    // Each is made once.
    let revision = database.query("SELECT CAST(max(revision) AS CHAR) FROM robots");
    assert_eq!(revision, ["5"]);
}

/// A trigger that waits for a lock is executed by the commit.
#[cfg(feature = "postgres")]
#[test]
fn connection_lost_during_a_commit_is_unknown() {
    use crate::backend::{Backend, Postgres};

    let database: Postgres = Backend::new();
    let robot = database.open().add(draft("R2-D2")).unwrap();
    database.execute(
        "CREATE TABLE locks (); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN LOCK TABLE locks; RETURN NULL; END $$;
         CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON robots DEFERRABLE INITIALLY DEFERRED
             FOR EACH ROW EXECUTE FUNCTION wait()",
    );
    for result in lose_batch(&database, "BEGIN; LOCK TABLE locks", robot.id()) {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    }
    assert_eq!(names(&*database.open(), ""), ["R2-D2"]);
}

/// The results of a batch with an update that waits for a lock of another session until its own one
/// is terminated.
fn lose_batch<S: Server>(
    database: &S,
    lock: &str,
    id: RobotId,
) -> Vec<robot_core::Result<Receipt>> {
    let options = OpenOptions {
        timeout: Duration::from_secs(60),
        ..OpenOptions::default()
    };
    let catalogue = options.open(database.url()).unwrap();
    let mut blocking = database.connect();
    blocking.batch_execute(lock).unwrap();
    let mut other = database.connect();
    thread::scope(|scope| {
        // The first change waits for a new connection, so that all of them are one batch.
        let changes = vec![
            Change::Insert(valid("a")),
            Change::Insert(valid("b")),
            Change::Update(id, None, valid("renamed").into()),
            Change::Insert(valid("c")),
        ];
        let results = scope.spawn(|| submit_all(&catalogue, changes));
        S::await_lock_wait(&mut other);
        S::terminate_all(&mut other, S::WAITING);
        drop(blocking);
        results.join().unwrap()
    })
}
