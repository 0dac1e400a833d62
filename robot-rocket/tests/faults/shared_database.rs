//! Two servers on one database.

use std::thread;

use crate::{
    database_server::{DatabaseServer, Kind},
    options::Run,
    process::Server,
    workload::{Ledger, assert_agreement},
};

pub(crate) fn servers_on_one_database_agree(run: &Run, kind: Kind) {
    run.repeat(1, |random| {
        let database = DatabaseServer::new(kind);
        let start = || Server::sqlite(&[("DATABASE_URL", &database.url)]);
        // Both find a database without tables.
        let (one, other) = thread::scope(|scope| {
            let one = scope.spawn(start);
            (start(), one.join().unwrap())
        });
        assert_agreement(&[&one, &other], Ledger::default(), random, 0);
        for server in [one, other] {
            let (status, log) = server.stop("TERM");
            assert!(status.success(), "{status}");
            assert_eq!(log, "");
        }
    });
}
