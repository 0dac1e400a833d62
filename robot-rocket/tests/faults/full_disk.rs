//! Disk that is full.

use std::{fmt::Write, fs, mem, ops::ControlFlow};

use fastrand::Rng;
use robot_core::{BackupError, CatalogueExt, Draft, Existing, OpenOptions};

use crate::{
    calls::{call, draft},
    disk::{Disk, with_small_disk},
    options::Run,
    process::Server,
    workload::{Ledger, Outcome, Workload},
};

/// The size of the disk in MiB, less than what the WAL reaches before SQLite reuses its space.
const SIZE: usize = 8;

pub(crate) fn full_disk_rejects_writes_until_there_is_space(run: &Run) {
    repeat(run, |disk, ledger, random| {
        let server = Server::start(disk.path(), &[]);
        let workload = Workload::start(&server, ledger, random);
        for _ in 0..2 {
            workload.wait_for_writes(random.usize(1..50));
            fill(disk, &workload);
            disk.free();
            workload.wait_until_served();
        }
        let mut ledger = workload.stop();
        ledger.assert_consistent_with(&server);
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        assert!(log.contains("full"), "the log does not say why: {log}");
        ledger.assert_consistent_with(&Server::start(disk.path(), &[]));
        ledger
    });
}

pub(crate) fn server_that_ends_on_a_full_disk_loses_nothing(run: &Run) {
    repeat(run, |disk, mut ledger, random| {
        for signal in ["KILL", "TERM"] {
            let server = Server::start(disk.path(), &[]);
            let workload = Workload::start(&server, ledger, random);
            workload.wait_for_writes(random.usize(1..50));
            fill(disk, &workload);
            workload.allow_server_end();
            let (status, log) = server.stop(signal);
            assert!(status.success() || signal == "KILL", "{status}: {log}");
            ledger = workload.join();
            let server = Server::start(disk.path(), &[]);
            ledger.assert_consistent_with(&server);
            let workload = Workload::start(&server, ledger, random);
            workload.wait_until_failing();
            disk.free();
            workload.wait_until_served();
            ledger = workload.stop();
            ledger.assert_consistent_with(&server);
            // This moves the WAL into the file, which leaves space for the next round.
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}: {log}");
        }
        ledger
    });
}

pub(crate) fn full_disk_stops_an_import_with_503(run: &Run) {
    const RECORDS: usize = 20_000;
    const MESSAGE: &str =
        "The disk of the service is full; try again when its operator has freed space";
    with_small_disk(run, SIZE, |disk| {
        let server = Server::start(disk.path(), &[]);
        let mut file = "name,type,year\n".to_owned();
        for number in 0..RECORDS {
            writeln!(file, "{number:0>200},droid,{number}").unwrap();
        }
        let target = "/api/robots/import?format=csv";
        let answer = server.call("POST", target, &file);
        assert_eq!(answer.status, 503, "{}", answer.text());
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body["status"], "ERROR");
        let count = |name: &str| usize::try_from(body["data"][name].as_u64().unwrap()).unwrap();
        let (added, failed, not_tried) = (count("added"), count("failed"), count("not_tried"));
        assert_eq!((added + failed + not_tried, failed), (RECORDS, 1), "{body}");
        assert_eq!(server.names().len(), added);
        let message = body["messages"][0].as_str().unwrap();
        assert!(
            message.starts_with("line ") && message.ends_with(MESSAGE),
            "{message}"
        );

        disk.fill();
        for (method, target) in [
            ("POST", "/api/robots"),
            ("PUT", "/api/robots/1"),
            ("DELETE", "/api/robots/"),
        ] {
            let body = failure_on_full_disk(&server, method, target);
            assert_eq!(body["messages"], serde_json::json!([MESSAGE]), "{method}");
        }
        println!("{}: stopped after {added} of {RECORDS} robots", run.name);
    });
}

/// The log starts again in the space that it has.
pub(crate) fn full_disk_accepts_changes_that_need_no_space(run: &Run) {
    with_small_disk(run, SIZE, |disk| {
        let server = Server::start(disk.path(), &[]);
        let added = server.add("R2-D2");
        assert_eq!(added.status, 201);
        // Its pages are in the file then.
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
        let server = Server::start(disk.path(), &[]);
        let client = server.client();
        let update = || call(&client, "PUT", "/api/robots/1", &draft("R2-D2")).status;
        assert_eq!(update(), 200);
        disk.fill();
        let statuses: Vec<_> = (0..1000).map(|_| update()).collect();
        let full = statuses.iter().position(|status| *status == 503);
        let after = &statuses[full.unwrap()..];
        assert!(after.contains(&200), "{after:?}");
        println!("{}: {} of 1000", run.name, statuses.len() - after.len());
    });
}

pub(crate) fn full_disk_keeps_the_catalogue_before_a_restore(run: &Run) {
    with_small_disk(run, SIZE, |disk| {
        let url = |folder: &std::path::Path| format!("sqlite://{}/robots.db", folder.display());
        let folder = tempfile::tempdir().unwrap();
        for number in 0..100 {
            let name = format!("{number:x>250}");
            let catalogue = robot_core::open(&url(folder.path())).unwrap();
            catalogue.add(Draft::new(name, "droid", number)).unwrap();
        }
        let old = robot_core::open(&url(disk.path())).unwrap();
        old.add(Draft::new("R2-D2", "droid", 1977)).unwrap();
        drop(old);
        let count = || {
            robot_core::open(&url(disk.path()))
                .unwrap()
                .list()
                .unwrap()
                .len()
        };
        let files = || fs::read_dir(disk.path()).unwrap().count();
        let restore = || {
            let backup = folder.path().join("robots.db");
            let next = |_| ControlFlow::Continue(());
            OpenOptions::default().restore_backup(
                backup,
                &url(disk.path()),
                Existing::Replace,
                next,
            )
        };
        disk.fill();
        let before = files();
        let error = restore().unwrap_err();
        assert!(matches!(error, BackupError::Failed { .. }), "{error}");
        assert!(
            error.to_string().contains("that the disk has room"),
            "{error}"
        );
        assert_eq!(files(), before);
        disk.free();
        assert_eq!(count(), 1);
        restore().unwrap();
        assert_eq!(count(), 100);
        println!("{}: {error}", run.name);
    });
}

/// Sends writes until one fails with 503, and returns its body. The log may have room for some.
fn failure_on_full_disk(server: &Server, method: &str, target: &str) -> serde_json::Value {
    let client = server.client();
    let answers = (2..1000).map(|id| {
        let target = match method {
            "DELETE" => format!("{target}{id}"),
            _ => target.to_owned(),
        };
        call(&client, method, &target, &draft(&format!("{id:x>250}")))
    });
    let answer = answers.into_iter().find(|answer| answer.status == 503);
    serde_json::from_slice(&answer.unwrap().body).unwrap()
}

fn repeat(run: &Run, scenario: impl Fn(&Disk, Ledger, &mut Rng) -> Ledger) {
    with_small_disk(run, SIZE, |disk| {
        let mut ledger = Ledger::default();
        run.repeat(1, |random| {
            ledger = scenario(disk, mem::take(&mut ledger), random);
        });
        println!("{}: {ledger}", run.name);
    });
}

/// Fills a disk. Writes are rejected, with a certain outcome; reads succeed.
fn fill(disk: &Disk, workload: &Workload) {
    let failed_reads = workload.failed_reads();
    disk.fill();
    workload.wait_until_failing();
    workload.wait_for_calls(10);
    assert_eq!(workload.failed_reads(), failed_reads, "a read failed");
    for outcome in [Outcome::Failed, Outcome::Unknown] {
        assert_eq!(workload.writes(outcome), 0, "{outcome:?}");
    }
}
