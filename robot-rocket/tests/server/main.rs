//! The server binary, run as a person would run it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod calls;
mod cpus;
mod crowds;
mod faults;
mod files;
mod framing;
mod hosts;
mod imports;
mod oddities;
mod overload;
mod page;
mod process;
mod proxies;
mod proxy;
mod readme;
mod slow_disk;
mod start;
mod strace;
mod tls;

use calls::{call, draft, names};
use process::Server;
