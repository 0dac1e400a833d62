//! Kills during a migration. Each leaves it done or not done, and the next start completes it.
//!
//! The server starts under strace, which kills it before its n-th write, for every n.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use diesel::{
    Connection, RunQueryDsl, SqliteConnection, connection::SimpleConnection, dsl::sql,
    sql_types::Text,
};
use robot_core::{CatalogueExt, Draft};

use crate::{
    options::Run,
    process::{Server, command},
};

/// The version that made the databases in [`previous`].
const PREVIOUS: &str = "20261122000000";

/// The number of robots in a database before the migration.
const ROBOTS: usize = 297 + 3000;

/// The migration of the search index, which is undone so that more than one runs.
const UNDO_INDEX: &str = "
    DROP TRIGGER robots_search_insert; DROP TRIGGER robots_search_delete;
    DROP TRIGGER robots_search_update; DROP TABLE robots_unindexed; DROP TABLE robots_search;
    DELETE FROM __diesel_schema_migrations WHERE version = '20261122000000'";

/// A file that the previous version made.
pub(crate) fn previous(name: &str) -> PathBuf {
    let folder = "../robot-core/tests/stores/databases";
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(folder)
        .join(PREVIOUS)
        .join(name)
}

pub(crate) fn kill_at_any_write_keeps_the_file_usable(run: &Run) {
    run.repeat(1, |random| {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("original.db");
        fs::copy(previous("robots.db"), &original).unwrap();
        let mut other = connect(&original);
        other
            .batch_execute(
                "WITH RECURSIVE numbers (number) AS
                     (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 3000)
                 INSERT INTO robots (name, type, year)
                 SELECT 'more ' || number, 'droid', number FROM numbers",
            )
            .unwrap();
        drop(other);
        // Few writes: a kill before each of them.
        let kills = kill_at_each_call(&original, || 1);
        assert!(kills > 10, "{kills}");
        connect(&original).batch_execute(UNDO_INDEX).unwrap();
        let more = kill_at_each_call(&original, || random.usize(1..=8));
        println!("{}: {kills} + {more} kills", run.name);
    });
}

/// Starts the server on a copy of a file, and kills it before a system call that changes files: the
/// first one and, after each step, a later one. Returns the number of kills.
fn kill_at_each_call(original: &Path, mut step: impl FnMut() -> usize) -> usize {
    let mut kills = 0;
    for call in ["pwrite64", "fdatasync", "ftruncate", "unlink"] {
        let mut number = 1;
        loop {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("robots.db");
            fs::copy(original, &file).unwrap();
            if !is_killed(folder.path(), &[], call, number) {
                break;
            }
            assert_done_or_not_done(&file);
            let url = format!("sqlite://{}", file.display());
            assert_usable(&url);
            kills += 1;
            number += step();
        }
    }
    kills
}

/// Starts the server, and kills it before the n-th of these system calls. Returns whether it came to
/// that before it listened.
pub(crate) fn is_killed(
    folder: &Path,
    settings: &[(&str, &str)],
    call: &str,
    number: usize,
) -> bool {
    let server = command(folder, settings);
    let variables = server.get_envs();
    let mut traced = Command::new("strace")
        .args(["--follow-forks", "--output=/dev/null"])
        .arg(format!("--trace={call}"))
        .arg(format!("--inject={call}:signal=KILL:when={number}"))
        .arg(server.get_program())
        .current_dir(folder)
        .env_clear()
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot run strace (Debian package strace): {error}"));
    let mut greeting = String::new();
    let mut output = BufReader::new(traced.stdout.take().unwrap());
    output.read_line(&mut greeting).unwrap();
    if !greeting.is_empty() {
        // strace and the server.
        let group = format!("-{}", traced.id());
        let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
        assert!(killed.unwrap().success());
    }
    traced.wait().unwrap();
    greeting.is_empty()
}

fn connect(file: &Path) -> SqliteConnection {
    SqliteConnection::establish(file.to_str().unwrap()).unwrap()
}

/// A migration and its record are one transaction.
fn assert_done_or_not_done(file: &Path) {
    let mut connection = connect(file);
    let mut texts = |query: &str| sql::<Text>(query).load::<String>(&mut connection).unwrap();
    assert_eq!(texts("PRAGMA integrity_check"), ["ok"]);
    let versions = texts("SELECT version FROM __diesel_schema_migrations ORDER BY version");
    let columns = texts("SELECT name FROM pragma_table_info('robots')");
    let objects = texts("SELECT name FROM sqlite_master WHERE name LIKE 'robots_search%'");
    let indexes = texts("SELECT name FROM sqlite_master WHERE name LIKE 'robots_%year'");
    assert!((1..=6).contains(&versions.len()), "{versions:?}");
    assert_eq!(objects.is_empty(), versions.len() < 2, "{versions:?}");
    let has_revision = columns.contains(&"revision".to_owned());
    assert_eq!(has_revision, versions.len() >= 3, "{versions:?}");
    let expected = if versions.len() == 4 { 2 } else { 0 };
    assert_eq!(indexes.len(), expected, "{versions:?}");
    let has_filter_index = columns.contains(&"is_new".to_owned());
    assert_eq!(has_filter_index, versions.len() >= 5, "{versions:?}");
    let trigrams = texts("SELECT name FROM sqlite_master WHERE name = 'robots_trigrams'");
    assert_eq!(!trigrams.is_empty(), versions.len() == 6, "{versions:?}");
}

/// Opens a database, which completes the migration, and reads, searches and writes.
pub(crate) fn assert_usable(url: &str) {
    let catalogue = robot_core::open(url).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(catalogue.list().unwrap().len(), ROBOTS);
    assert_eq!(catalogue.search("ore 77").unwrap().len(), 11);
    let last = catalogue.last_id().unwrap();
    let added = catalogue.add(Draft::new("new", "droid", 1)).unwrap();
    assert!(Some(added.id()) > last);
    catalogue.delete(added.id()).unwrap();
}

/// Servers that start while another process migrates for longer than their timeout.
pub(crate) fn servers_wait_for_a_long_migration(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robots.db");
        fs::copy(previous("robots.db"), &file).unwrap();
        let mut migrating = connect(&file);
        migrating.batch_execute("BEGIN IMMEDIATE").unwrap();
        thread::scope(|scope| {
            let servers = [(); 2].map(|()| scope.spawn(|| Server::start(folder.path(), &[])));
            thread::sleep(Duration::from_secs(5));
            assert!(servers.iter().all(|server| !server.is_finished()));
            migrating.batch_execute("ROLLBACK").unwrap();
            for server in servers {
                let server = server.join().unwrap();
                assert_eq!(server.names().len(), 297);
                let (status, log) = server.stop("TERM");
                assert!(status.success(), "{status}");
                assert!(
                    log.contains("waiting for another program that migrates it"),
                    "{log}"
                );
            }
        });
    });
}
