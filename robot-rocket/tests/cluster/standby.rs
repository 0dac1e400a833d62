//! PostgreSQL primary and a distant synchronous standby, with one server on both.

use std::time::Instant;

use fastrand::Rng;

use crate::{
    database_server::{Folder, authority},
    followers::Following,
    process::Server,
    workload::{Ledger, Workload},
};

#[test]
fn promoted_standby_has_every_acknowledged_write() {
    let servers = Folder::new();
    let primary = servers.run(&["start", "postgres", "primary"]).concat();
    let (_, port) = authority(&primary).split_once(':').unwrap();
    let standby = servers.run(&["standby", "primary", "standby", port]);
    let standby = standby.concat();
    // By default the user may only read here, and no session would be accepted.
    let url = format!(
        "postgres://robots:robots@{},{}/robots?target_session_attrs=read-write\
         &options=-cdefault_transaction_read_only%3Doff",
        authority(&primary),
        authority(&standby)
    );
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &url)]);
    let mut random = Rng::new();
    let workload = Workload::start(&server, Ledger::default(), &mut random);
    let following = Following::start(&[&server], &mut random);
    workload.wait_until_served();
    workload.assert_calls_succeed(&[0], 300, 0);
    servers.run(&["signal", "KILL", "primary"]);
    workload.wait_until_failing();
    let ordered = Instant::now();
    servers.run(&["promote", "standby"]);
    println!("PostgreSQL: promoted in {:?}", ordered.elapsed());
    let took = workload.wait_until_served();
    println!("PostgreSQL: all clients are served {took:?} later");
    workload.assert_calls_succeed(&[0], 300, 0);
    let mut ledger = workload.stop();
    following.stop(&[&server]);
    println!("PostgreSQL: {ledger}");
    ledger.assert_consistent_with(&server);
}
