//! Kills during a migration on a database server: of the process that migrates, and of the server.

use std::{fs, process::Stdio, thread, time::Duration};

use crate::{
    database_server::{DatabaseServer, Kind},
    faults::migrations::{assert_usable, is_killed, previous},
    options::Run,
    process::command,
};

pub(crate) fn kill_at_any_message_keeps_the_database_usable(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let url = kind.shared_database();
        create_previous(kind, &url);
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
        create_previous(kind, &database.url);
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

/// The database of the previous version, and more robots.
fn create_previous(kind: Kind, url: &str) {
    match kind {
        Kind::Postgres => {
            let dump = fs::read_to_string(previous("postgres.sql")).unwrap();
            // The dump has neither the schema nor the extension. A start creates the extension, with
            // the index.
            let (_, schema) = url.rsplit_once("search_path%3D").unwrap_or(("", "public"));
            let lines = dump
                .lines()
                .filter(|line| !line.starts_with("CREATE INDEX"));
            let dump = lines.collect::<Vec<_>>().join("\n");
            execute(kind, url, &dump.replace("public.", &format!("{schema}.")));
            execute(
                kind,
                url,
                // The test server's commits are not on disk when it is killed.
                "SET synchronous_commit = on;
                 INSERT INTO robots (name, type, year)
                 SELECT 'more ' || number, 'droid', number FROM generate_series(1, 3000) AS number",
            );
        }
        Kind::Mariadb => {
            execute(
                kind,
                url,
                &fs::read_to_string(previous("mariadb.sql")).unwrap(),
            );
            execute(
                kind,
                url,
                "INSERT INTO robots (name, type, year)
                 SELECT CONCAT('more ', seq), 'droid', seq FROM seq_1_to_3000",
            );
        }
    }
    undo(kind, url);
}

/// Restores the state before the migrations.
fn undo(kind: Kind, url: &str) {
    if kind == Kind::Postgres {
        execute(
            kind,
            url,
            "DROP INDEX IF EXISTS robots_folded_search, robots_search, robots_year, robots_type_year;
             DROP FUNCTION IF EXISTS robots_search_text;
             DROP FUNCTION IF EXISTS robots_search_text_unicode;
             ALTER TABLE robots DROP CONSTRAINT robots_name,
                 ADD CONSTRAINT robots_name UNIQUE (name)",
        );
    } else {
        execute(
            kind,
            url,
            "DROP INDEX IF EXISTS robots_year ON robots;
             DROP INDEX IF EXISTS robots_type_year ON robots",
        );
    }
    execute(
        kind,
        url,
        "ALTER TABLE robots DROP COLUMN IF EXISTS revision;
         DELETE FROM __diesel_schema_migrations WHERE version >= '20261122'",
    );
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
