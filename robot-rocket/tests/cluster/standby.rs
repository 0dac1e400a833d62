//! A primary of PostgreSQL and its synchronous standby, and one server over both.

use std::time::{Duration, Instant};

use crate::{database::Folder, load::Load, pauses, process::Server};

/// How long it may take until all are served again, once the standby is the primary.
const SOON: Duration = Duration::from_secs(15);

#[test]
fn a_standby_that_is_promoted_has_every_acknowledged_write() {
    let servers = Folder::new();
    let primary = servers.run(&["start", "postgres", "primary"]).concat();
    let standby = servers.run(&["standby", "primary", "standby"]).concat();
    let place = |url: &str| url.split(['@', '/']).nth(3).unwrap().to_owned();
    // By default the user may only read here, upon which no session would be taken.
    let url = format!(
        "postgres://robots:robots@{},{}/robots?target_session_attrs=read-write\
         &options=-cdefault_transaction_read_only%3Doff",
        place(&primary),
        place(&standby)
    );
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &[("DATABASE_URL", &url)]);
    let load = Load::start(&[&server]);
    load.never_fails(&[0], 300, SOON);
    servers.run(&["signal", "KILL", "primary"]);
    load.is_refused(&[0], SOON);
    let told = Instant::now();
    servers.run(&["promote", "standby"]);
    let promoted = Instant::now();
    println!("PostgreSQL: promoted in {:?}", promoted - told);
    let took = load.is_served(&[0], SOON);
    load.never_fails(&[0], 300, SOON);
    let record = load.end();
    println!(
        "PostgreSQL: {record}; the first write succeeded {:?} after the promotion was ordered, \
         and {:?} after it was done, and all were served {took:?} after that",
        pauses::first_after(&record, told),
        pauses::first_after(&record, promoted),
    );
    record.is_true_of(&server);
}
