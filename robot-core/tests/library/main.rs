//! Tests of import, export, copy and restoration, mostly on the in-memory store.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its fixture fails"
)]

mod atomic_importing;
mod copy;
mod importing;
mod matching;
mod planning;
mod racing;
mod reading;
mod round_trip;
mod serialization;
