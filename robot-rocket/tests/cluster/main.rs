//! The server binary over several database servers that replicate, of which one is killed.
//! Whoever runs this with `--nocapture` sees how long the service paused.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../stores/agreement.rs"]
mod agreement;
#[path = "../stores/answers.rs"]
#[expect(dead_code, reason = "tests with one database need more of it")]
mod answers;
#[path = "../server/calls.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod calls;
#[path = "../stores/database.rs"]
#[expect(dead_code, reason = "tests with one database need more of it")]
mod database;
mod galera;
#[path = "../stores/load.rs"]
mod load;
mod pauses;
#[path = "../server/process.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod process;
#[path = "../stores/record.rs"]
#[expect(dead_code, reason = "tests with one database need more of it")]
mod record;
mod standby;
