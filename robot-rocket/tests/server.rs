//! Tests of the server binary as a process.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

mod server {
    mod access;
    mod concurrency;
    mod cpus;
    mod documents;
    mod file_limit;
    mod files;
    mod framing;
    mod hosts;
    mod imports;
    mod links;
    #[cfg(target_os = "linux")]
    mod memory;
    mod overload;
    mod page;
    mod proxies;
    pub(crate) mod proxy;
    mod read_only;
    mod readme;
    mod setting_names;
    pub(crate) mod slow_disk;
    mod start;
    mod tls;
    mod unusual_requests;
}

use server::{proxy, slow_disk};
use support::{
    calls::{call, draft, names},
    process::{self, Server},
    strace,
};
