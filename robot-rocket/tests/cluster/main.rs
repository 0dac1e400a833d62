//! The server binary over clusters of database servers, of which one is killed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
