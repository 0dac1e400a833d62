//! Tests of the server binary as a process.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

mod server {
    mod access;
    mod check;
    #[cfg(feature = "otlp")]
    pub(crate) mod collector;
    mod concurrency;
    #[cfg(target_os = "linux")]
    mod connection_limits;
    #[cfg(target_os = "linux")]
    mod connections;
    mod documents;
    mod events;
    mod files;
    mod framing;
    mod heads;
    mod health;
    mod imports;
    mod links;
    mod log;
    #[cfg(target_os = "linux")]
    mod memory;
    #[cfg(target_os = "linux")]
    mod metric_names;
    #[cfg(target_os = "linux")]
    mod metrics;
    mod overload;
    mod page;
    mod proxies;
    pub(crate) mod proxy;
    mod read_only;
    mod readme;
    #[cfg(unix)]
    mod reload;
    mod shutdown;
    pub(crate) mod slow_disk;
    mod start;
    mod tls;
    #[cfg(feature = "otlp")]
    mod traces;
    #[cfg(not(feature = "otlp"))]
    mod traces_without_feature;
    mod wrong_settings;
}

#[cfg(feature = "otlp")]
use server::collector;
use server::{proxy, slow_disk};
use support::certificates;
use support::{
    calls::{call, draft, send, token},
    process::{self, Server},
    scrape, strace,
};

/// The setting of a server with the certificate that is written by `certify` into its folder.
const TLS: (&str, &str) = ("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#);
