//! Group commit: writes that share a commit succeed or fail one by one, unless the commit is lost.

use std::{thread, time::Duration};

use diesel::connection::SimpleConnection;
use robot_core::{CatalogueExt, Draft, Error, Pending, Robot};

use crate::{
    backend::{Backend, Sqlite},
    draft, names,
};

/// Queues writes while another program holds the lock, and returns their results in order. They
/// share a commit, unless the machine stops the writer thread for long.
fn write_together(
    database: &Sqlite,
    drafts: impl IntoIterator<Item = Draft>,
) -> Vec<robot_core::Result<Robot>> {
    let catalogue = database.open();
    let mut other = database.connect();
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    // The writer thread takes the first write, and waits for the lock. The others are queued.
    let first = catalogue.start_add(draft("first"));
    thread::sleep(Duration::from_millis(50));
    let others: Vec<_> = drafts
        .into_iter()
        .map(|draft| catalogue.start_add(draft))
        .collect();
    other.batch_execute("ROLLBACK").unwrap();
    first.wait().unwrap();
    others.into_iter().map(Pending::wait).collect()
}

/// Makes SQLite roll back the whole transaction, as for a full disk, when an `x` is added.
fn lose_every_x(database: &Sqlite) {
    database.execute(
        "CREATE TRIGGER lose BEFORE INSERT ON robots WHEN NEW.name = 'x'
         BEGIN SELECT RAISE(ROLLBACK, 'lost'); END",
    );
}

#[test]
fn writes_that_share_a_commit_fail_one_by_one() {
    let database = Sqlite::new();
    let mut drafts = ["a", "b", "a", "c", "first"].map(draft);
    drafts[2].year = Some(2000);
    let results = write_together(&database, drafts);
    let successes: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(successes, [true, true, false, true, false]);
    for result in results.into_iter().filter(Result::is_err) {
        assert!(matches!(result, Err(Error::Rejected(_))), "{result:?}");
    }
    let stored = database.open().list().unwrap();
    assert_eq!(
        stored.into_iter().map(Draft::from).collect::<Vec<_>>(),
        ["a", "b", "c", "first"].map(draft)
    );
}

#[test]
fn robots_that_share_a_commit_are_stored_exactly() {
    let database = Sqlite::new();
    let names = [
        "\"quoted\" \\ and / slashed",
        "[\"JSON\", null, 1]",
        "\u{1}\t\r\n\u{1f}\u{7f}\u{2028}\u{feff}",
        "e\u{301} \u{1f916} \u{10ffff}",
        "$[0] %27 '; --",
        "\\u0000",
        "1e400",
    ];
    let types = ["droid", "mechanical", "virtual"].iter().cycle();
    let years = [0, i64::MAX, 1977, (1 << 53) + 1].iter().cycle();
    let drafts: Vec<_> = names
        .iter()
        .zip(types.zip(years))
        .map(|(name, (robot_type, year))| Draft::new(*name, *robot_type, *year))
        .collect();
    let results = write_together(&database, drafts.clone());
    let catalogue = database.open();
    for (result, draft) in results.into_iter().zip(drafts) {
        let stored = catalogue.get(result.unwrap().id()).unwrap().unwrap();
        assert_eq!(Draft::from(stored), draft);
    }
    assert_eq!(catalogue.list().unwrap().len(), names.len() + 1);
}

#[test]
fn lost_commit_fails_every_write_in_it() {
    // Repeated until the three writes share a commit, which is nearly always the first time.
    for _ in 0..20 {
        let database = Sqlite::new();
        let catalogue = database.open();
        lose_every_x(&database);
        let results = write_together(&database, ["a", "x", "b"].map(draft));
        let mut stored = vec!["first"];
        for (name, result) in ["a", "x", "b"].into_iter().zip(&results) {
            match result {
                Ok(_) => stored.push(name),
                Err(Error::Store(cause)) => assert_eq!(cause.to_string(), "lost"),
                Err(error) => panic!("{name}: {error:?}"),
            }
        }
        stored.sort_unstable();
        assert_eq!(names(&catalogue, ""), stored);
        catalogue.add(draft("later")).unwrap();
        if results.iter().all(Result::is_err) {
            return;
        }
    }
    panic!("the writes never shared a commit");
}

/// After a lost transaction, the writer thread opens a new connection. If the old one was the only
/// one, SQLite deletes the log with it.
#[test]
fn writer_continues_after_a_lost_transaction() {
    let database = Sqlite::new();
    let catalogue = database.open();
    lose_every_x(&database);
    for name in ["a", "b"] {
        catalogue.add(draft(name)).unwrap();
        let lost = catalogue.add(draft("x"));
        assert!(matches!(lost, Err(Error::Store(_))), "{lost:?}");
    }
    catalogue.add(draft("c")).unwrap();
    assert_eq!(names(&catalogue, ""), ["a", "b", "c"]);
}
