//! Writes that share a commit, which are stored or fail each for itself, and commits that are lost.

use std::{path::Path, sync::Arc, thread, time::Duration};

use diesel::connection::SimpleConnection;
use robot_core::{Catalogue, CatalogueExt, Draft, Error, Pending, Robot, open};

use crate::{beside, draft, url};

/// Queues writes while another program holds the lock, so that they share a commit, and then
/// returns how each went, in their order.
fn in_one_commit(
    folder: &Path,
    drafts: impl IntoIterator<Item = Draft>,
) -> Vec<robot_core::Result<Robot>> {
    let catalogue = open(&url(folder)).unwrap();
    let mut other = beside(folder);
    other.batch_execute("BEGIN IMMEDIATE").unwrap();
    let begin = |draft| Arc::clone(&catalogue).begin_add(draft);
    // The first one waits for the lock, once the writer has taken it up, and the others for it.
    let first = begin(draft("first"));
    thread::sleep(Duration::from_millis(500));
    let others: Vec<_> = drafts.into_iter().map(begin).collect();
    other.batch_execute("ROLLBACK").unwrap();
    first.wait().unwrap();
    others.into_iter().map(Pending::wait).collect()
}

/// Has SQLite take back the whole transaction, as it does when the disk is full, where an `x` is added.
fn lose_every_x(folder: &Path) {
    beside(folder)
        .batch_execute(
            "CREATE TRIGGER lose BEFORE INSERT ON robots WHEN NEW.name = 'x' \
             BEGIN SELECT RAISE(ROLLBACK, 'lost'); END",
        )
        .unwrap();
}

#[test]
fn of_writes_that_share_a_commit_each_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut drafts = ["a", "b", "a", "c", "first"].map(draft);
    drafts[2].year = Some(2000);
    let results = in_one_commit(folder.path(), drafts);
    let went: Vec<_> = results.iter().map(Result::is_ok).collect();
    assert_eq!(went, [true, true, false, true, false]);
    for result in results.into_iter().filter(Result::is_err) {
        assert!(matches!(result, Err(Error::Rejected(_))), "{result:?}");
    }
    let stored = open(&url(folder.path())).unwrap().list().unwrap();
    assert_eq!(
        stored.into_iter().map(Draft::from).collect::<Vec<_>>(),
        ["a", "b", "c", "first"].map(draft)
    );
}

#[test]
fn robots_that_share_a_commit_are_stored_to_the_letter() {
    let folder = tempfile::tempdir().unwrap();
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
    let answers = in_one_commit(folder.path(), drafts.clone());
    let catalogue = open(&url(folder.path())).unwrap();
    for (answer, draft) in answers.into_iter().zip(drafts) {
        let stored = catalogue.get(answer.unwrap().id()).unwrap().unwrap();
        assert_eq!(Draft::from(stored), draft);
    }
    assert_eq!(catalogue.list().unwrap().len(), names.len() + 1);
}

#[test]
fn where_a_shared_commit_is_lost_nobody_is_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    open(&url(folder.path())).unwrap();
    lose_every_x(folder.path());
    let results = in_one_commit(folder.path(), ["a", "x", "b"].map(draft));
    for (name, result) in ["a", "x", "b"].into_iter().zip(results) {
        match result {
            Err(Error::Store(cause)) => assert_eq!(cause.to_string(), "lost"),
            other => panic!("{name}: {other:?}"),
        }
    }
    let catalogue = open(&url(folder.path())).unwrap();
    assert_eq!(
        catalogue.search("").unwrap().len(),
        1,
        "the first was alone"
    );
    catalogue.add(draft("a")).unwrap();
}

/// Its connection is given up after that. Where it was the only one, its log goes with it, and that
/// of the next is a new one.
#[test]
fn a_writer_that_is_alone_goes_on_after_a_transaction_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let catalogue = open(&url(folder.path())).unwrap();
    lose_every_x(folder.path());
    for name in ["a", "b"] {
        catalogue.add(draft(name)).unwrap();
        let lost = catalogue.add(draft("x"));
        assert!(matches!(lost, Err(Error::Store(_))), "{lost:?}");
    }
    catalogue.add(draft("c")).unwrap();
    let names = catalogue.list().unwrap();
    assert_eq!(
        names.iter().map(Robot::name).collect::<Vec<_>>(),
        ["a", "b", "c"]
    );
}
