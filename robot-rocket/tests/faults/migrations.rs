//! Kills during a migration. Each leaves it done or not done, and the next start completes it.
//!
//! The server starts under strace, which kills it before its n-th write, for every n.

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::process::CommandExt,
    path::Path,
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

pub(crate) fn kill_at_any_write_keeps_the_file_usable(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("original.db");
        fs::write(&original, "").unwrap();
        let kills = kill_at_each_call(&original);
        assert!(kills > 10, "{kills}");
        println!("{}: {kills} kills", run.name);
    });
}

/// Starts the server on a copy of a file, and kills it before each system call that changes files. Returns
/// the number of kills.
fn kill_at_each_call(original: &Path) -> usize {
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
            number += 1;
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
    let tables = texts(
        "SELECT name FROM sqlite_master WHERE name IN ('robots', 'robots_change', '__diesel_schema_migrations')",
    );
    assert!(matches!(tables.len(), 0 | 3), "{tables:?}");
}

/// Opens a database, which completes the migration, writes and searches.
pub(crate) fn assert_usable(url: &str) {
    let catalogue = robot_core::open(url).unwrap_or_else(|error| panic!("{error}"));
    let added = catalogue.add(Draft::new("R2-D2", "droid", 1)).unwrap();
    assert_eq!(catalogue.search("2-D").unwrap(), [added]);
}

/// Servers that start while another process migrates for longer than their timeout.
pub(crate) fn servers_wait_for_a_long_migration(run: &Run) {
    run.repeat(1, |_| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robots.db");
        let mut migrating = connect(&file);
        migrating
            .batch_execute("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE")
            .unwrap();
        thread::scope(|scope| {
            let servers = [(); 2].map(|()| scope.spawn(|| Server::start(folder.path(), &[])));
            thread::sleep(Duration::from_secs(5));
            assert!(servers.iter().all(|server| !server.is_finished()));
            migrating.batch_execute("ROLLBACK").unwrap();
            for server in servers {
                let server = server.join().unwrap();
                assert_eq!(server.names(), [""; 0]);
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
