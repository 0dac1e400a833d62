//! Metrics of a server, as Prometheus reads them.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process,
    sync::atomic::{AtomicU8, Ordering},
};

use crate::process::{Server, exchange, wait_for};

/// A free address for metrics. Other programs and other tests use other loopback addresses.
pub(crate) fn free_address() -> SocketAddr {
    static TESTS: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, high | 1, low, TESTS.fetch_add(1, Ordering::Relaxed));
    let listener = TcpListener::bind((address, 0)).unwrap();
    listener.local_addr().unwrap()
}

/// A server with metrics, and their address.
pub(crate) fn server(settings: &[(&str, &str)]) -> (Server, SocketAddr) {
    start(settings, Server::sqlite)
}

/// The same, in a folder.
pub(crate) fn server_in(folder: &Path, settings: &[(&str, &str)]) -> (Server, SocketAddr) {
    start(settings, |settings| Server::start(folder, settings))
}

fn start(
    settings: &[(&str, &str)],
    start: impl FnOnce(&[(&str, &str)]) -> Server,
) -> (Server, SocketAddr) {
    let address = free_address();
    let metrics = [("ROCKET_METRICS_ADDRESS", &*address.to_string())];
    (start(&[&metrics, settings].concat()), address)
}

/// Waits until a sample has a value that meets a condition: a request is counted after its response.
#[track_caller]
pub(crate) fn wait_until(address: SocketAddr, sample: &str, is_met: impl Fn(u64) -> bool) {
    wait_for(sample, || {
        Scrape::of(address).find(sample).is_some_and(&is_met)
    });
}

/// The metrics at one moment, as text.
pub(crate) struct Scrape(pub(crate) String);

impl Scrape {
    /// Reads the metrics at an address.
    pub(crate) fn of(address: SocketAddr) -> Self {
        let answer = exchange(address, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        Self(body.to_owned())
    }

    /// The value of a metric with all of its labels, as a whole number; `None` if it is missing.
    pub(crate) fn find(&self, sample: &str) -> Option<u64> {
        let mut values = self.0.lines().filter_map(|line| {
            let (name, value) = line.rsplit_once(' ')?;
            let (whole, _) = value.split_once('.').unwrap_or((value, ""));
            (name == sample).then(|| whole.parse().unwrap())
        });
        let value = values.next();
        assert!(values.next().is_none(), "{sample} occurs twice");
        value
    }

    /// The value of a metric with all of its labels.
    #[track_caller]
    pub(crate) fn value(&self, sample: &str) -> u64 {
        let value = self.find(sample);
        value.unwrap_or_else(|| panic!("{sample} is not in {}", self.0))
    }

    /// Asserts the values of metrics with all of their labels.
    #[track_caller]
    pub(crate) fn assert(&self, expected: &[(&str, u64)]) {
        for (sample, value) in expected {
            assert_eq!(self.value(sample), *value, "{sample}");
        }
    }

    /// The names of all metrics, without the suffixes of histograms.
    pub(crate) fn names(&self) -> Vec<&str> {
        let lines = self.0.lines();
        let types = lines.filter_map(|line| line.strip_prefix("# TYPE "));
        types
            .filter_map(|line| Some(line.split_once(' ')?.0))
            .collect()
    }
}
