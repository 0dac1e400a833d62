//! Robots that are read from files, brought into catalogues, and written again.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its scene is to fail"
)]

mod importing;
mod reading;
mod round_trip;
