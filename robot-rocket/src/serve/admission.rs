//! Which connections are admitted: as many as the limits permit, in all and of each client address.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ::metrics::{counter, gauge};
use robot_core::metrics::Counted;
use rocket::tokio::sync::Semaphore;

use crate::{
    rare_warning::{OVERLOAD, RareWarning},
    settings::ConnectionLimits,
};

/// Size of a head, in bytes, from which hyper's buffer is large: more than it has for usual heads, and never
/// made smaller. The number of such connections is limited ([`LARGE_HEADS`]), and each ends after its
/// response.
pub(super) const LARGE_HEAD: usize = 16 * 1024;

/// Number of connections that may receive, or answer, a large head at the same time; others wait. Higher, and
/// clients that do not read take more memory, up to 256 KiB each.
const LARGE_HEADS: usize = 64;

static FULL: RareWarning = RareWarning::new(OVERLOAD);

/// The connections that were admitted.
pub(super) struct Admission {
    total_limit: u32,
    address_limit: u32,
    /// Permits of connections with large heads.
    pub(super) large_heads: Arc<Semaphore>,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    total: u32,
    of_client: HashMap<IpAddr, u32>,
}

/// A client: an IPv4 address, or an IPv6 network with a prefix of 64 bits, all of whose addresses one
/// customer of a provider has. `None` for a loopback address.
fn client(address: IpAddr) -> Option<IpAddr> {
    const NETWORK: u128 = !0 << 64;
    let client = match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6((address.to_bits() & NETWORK).into())
        }
        address => address,
    };
    (!client.is_loopback()).then_some(client)
}

/// A connection that was admitted, until it is dropped.
pub(super) struct Admitted {
    admission: Arc<Admission>,
    client: Option<IpAddr>,
    _open: Counted,
}

impl Admission {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Self> {
        gauge!("robots_http_connections_limit").set(limits.connections);
        Arc::new(Self {
            total_limit: limits.connections,
            address_limit: limits.connections_per_address,
            large_heads: Arc::new(Semaphore::new(LARGE_HEADS)),
            counts: Mutex::default(),
        })
    }

    /// Admits a connection, unless its client, or all clients together, have as many as they may.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Admitted> {
        let client = client(address);
        let mut counts = self.counts();
        if counts.total >= self.total_limit {
            counter!("robots_http_connections_rejected_total", "limit" => "all").increment(1);
            if FULL.claim() {
                tracing::warn!(
                    "connections get 503: {} are open, as many as max_connections permits",
                    self.total_limit
                );
            }
            return None;
        }
        if let Some(client) = client {
            let count = counts.of_client.entry(client).or_default();
            if *count >= self.address_limit {
                counter!("robots_http_connections_rejected_total", "limit" => "address")
                    .increment(1);
                return None;
            }
            *count += 1;
        }
        counts.total += 1;
        Some(Admitted {
            admission: Arc::clone(self),
            client,
            _open: Counted::new(gauge!("robots_http_connections")),
        })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut counts = self.admission.counts();
        counts.total -= 1;
        if let Some(client) = self.client
            && let Some(count) = counts.of_client.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                counts.of_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(connections: u32, per_address: u32) -> Arc<Admission> {
        Arc::new(Admission {
            total_limit: connections,
            address_limit: per_address,
            large_heads: Arc::new(Semaphore::new(LARGE_HEADS)),
            counts: Mutex::default(),
        })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn connections_of_an_address_are_limited() {
        let admission = admission(10, 2);
        let first = admission.admit(address("192.0.2.1"));
        let second = admission.admit(address("::ffff:192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(admission.admit(address("192.0.2.1")).is_none());
        assert!(admission.admit(address("192.0.2.2")).is_some());
        drop(first);
        assert!(admission.admit(address("192.0.2.1")).is_some());
        drop(second);
        assert!(admission.counts().of_client.is_empty());
    }

    #[test]
    fn addresses_of_an_ipv6_network_are_one_client() {
        let admission = admission(10, 1);
        let _first = admission.admit(address("2001:db8:1:2:3::4")).unwrap();
        assert!(admission.admit(address("2001:db8:1:2:ffff::5")).is_none());
        assert!(admission.admit(address("2001:db8:1:3:3::4")).is_some());
    }

    #[test]
    fn loopback_connections_count_only_in_all() {
        let admission = admission(3, 1);
        let addresses = ["127.0.0.1", "127.0.0.1", "::1"];
        let admitted = addresses.map(|text| admission.admit(address(text)));
        assert!(admitted.iter().all(Option::is_some));
        assert!(admission.admit(address("127.0.0.1")).is_none());
        assert!(admission.admit(address("192.0.2.1")).is_none());
    }
}
