//! The server binary over a database server, which is away, restarts, hangs, is shared, or
//! refuses. Each test runs on PostgreSQL and on MariaDB, on a server of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod agreement;
mod answers;
#[path = "../server/calls.rs"]
mod calls;
mod database;
mod frozen;
mod load;
mod locks;
#[path = "../server/process.rs"]
#[expect(dead_code, reason = "bare connections are for the tests of the server")]
mod process;
mod record;
mod refusals;
mod restarts;
mod shared;
mod stops;
