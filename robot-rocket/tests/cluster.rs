//! Tests of the server binary on replicating database servers, one of which is killed or suspended.
//! With `--nocapture` they print how long the service was interrupted.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[expect(dead_code, reason = "the tests of faults use all of it")]
mod database_server;
mod followers;
#[expect(dead_code, reason = "the tests of the server use all of it")]
mod support;
#[expect(
    dead_code,
    unused_imports,
    reason = "the tests of faults use all of it"
)]
mod workload;

mod cluster {
    mod galera;
    mod patroni;
    mod standby;
}

use support::{calls, process};
