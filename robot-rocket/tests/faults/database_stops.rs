//! SIGTERM while connections to the database are established.

use std::thread;

use crate::{database_server::Kind, options::Run, process::Server};

pub(crate) fn stop_while_connecting_succeeds(run: &Run, kind: Kind) {
    let url = kind.shared_database();
    let settings = [
        ("DATABASE_URL", url.as_str()),
        ("ROCKET_DATABASE_CONNECTIONS", "40"),
        ("ROCKET_SHUTDOWN", "{grace=0,mercy=0}"),
    ];
    run.repeat(5, |_| {
        let server = Server::sqlite(&settings);
        thread::scope(|scope| {
            // Each requests a connection, and the first few connections serve all.
            for _ in 0..40 {
                scope.spawn(|| server.get("/api/robots/1"));
            }
        });
        let (status, log) = server.stop("TERM");
        assert!(status.success(), "{status}: {log}");
    });
}
