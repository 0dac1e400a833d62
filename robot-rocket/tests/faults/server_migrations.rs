//! Kills during a migration on a database server: of the process that migrates, and of the server.

use std::{process::Stdio, thread, time::Duration};

use crate::{
    database_server::{DatabaseServer, Kind},
    faults::migrations::{assert_usable, is_killed},
    options::Run,
    process::command,
};

pub(crate) fn kill_at_any_message_keeps_the_database_usable(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let url = kind.shared_database();
        let folder = tempfile::tempdir().unwrap();
        let mut kills = 0;
        // Before a message is sent, or an answer is received.
        for call in ["sendto", "recvfrom"] {
            let mut number = 1;
            while is_killed(folder.path(), &[("DATABASE_URL", &url)], call, number) {
                assert_usable(&url);
                undo(kind, &url);
                kills += 1;
                number += random.usize(1..=3);
            }
        }
        assert!(kills > 10, "{kills}");
        println!("{}: {kills} kills", run.name);
    });
}

pub(crate) fn killed_database_completes_the_migration_later(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let database = DatabaseServer::new(kind);
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..4 {
            let mut migrating = command(folder.path(), &[("DATABASE_URL", &database.url)]);
            migrating.stdout(Stdio::null()).stderr(Stdio::null());
            let mut migrating = migrating.spawn().unwrap();
            // The migration starts and ends within this time.
            thread::sleep(Duration::from_millis(random.u64(..400)));
            database.kill();
            migrating.kill().unwrap();
            migrating.wait().unwrap();
            database.start();
            assert_usable(&database.url);
            undo(kind, &database.url);
        }
    });
}

/// Restores the state before the migrations.
fn undo(kind: Kind, url: &str) {
    let function = match kind {
        Kind::Postgres => "DROP FUNCTION robots_change, robots_statement, robots_row;",
        Kind::Mariadb => "",
    };
    let tables = "DROP TABLE robots; DROP TABLE robots_definition; DROP TABLE robots_rewrite;
         DROP TABLE robots_catalogue; DROP TABLE robots_versions; DROP TABLE __diesel_schema_migrations;";
    execute(kind, url, &format!("{tables} {function}"));
}

/// Runs statements in a session without the server's unusual defaults.
fn execute(kind: Kind, url: &str, statements: &str) {
    let mut execute = kind.connect(url);
    execute(match kind {
        // The robots must survive the kill of the database that follows.
        Kind::Postgres => {
            "SET default_transaction_read_only = off; SET lock_timeout = 0; SET synchronous_commit = on"
        }
        Kind::Mariadb => {
            "SET SESSION TRANSACTION READ WRITE;
             SET SESSION autocommit = 1, SESSION completion_type = 0, SESSION lock_wait_timeout = 10,
                 SESSION sql_big_selects = 1, SESSION sql_select_limit = 18446744073709551615"
        }
    });
    execute(statements);
}
