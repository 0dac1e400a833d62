//! Limits of connections.

use std::time::Duration;

use rocket::{Config, figment::Figment};

use super::{SettingsError, reader::Reader};

/// Default limit of connections, if the process may open enough files. Lower, and fewer slow clients
/// keep others out; higher, and they use more memory: 16 KiB each, and more if they send long heads.
const MAX_CONNECTIONS: u32 = 20_000;

/// One client address may have this part of all connections by default. A smaller part, and clients
/// that share a proxy are rejected earlier; a larger one, and fewer clients suffice to keep others out.
const ADDRESS_PART: u32 = 4;

/// The limits of the connections of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionLimits {
    /// The maximum time for a request head, from its first byte; also for the first byte of a
    /// connection, and for a TLS handshake (`header_timeout`, 10 s).
    pub header_timeout: Duration,
    /// The maximum time between two requests (Rocket's `keep_alive`, 5 s, or 75 s with
    /// [`figment`](crate::figment)). With 0, each connection ends after one response.
    pub keep_alive: Duration,
    /// The maximum time during which a client reads nothing of a response (`write_timeout`, 30 s).
    pub write_timeout: Duration,
    /// The maximum number of connections (`max_connections`): by default seven eighths of the files
    /// that the process may open, up to 20,000.
    pub connections: u32,
    /// The maximum number of connections of one client address, or of one IPv6 network with a prefix
    /// of 64 bits (`max_connections_per_address`): by default a quarter of all. Loopback addresses
    /// have no such limit, because a proxy on the same machine uses them.
    pub connections_per_address: u32,
}

impl ConnectionLimits {
    /// Reads the limits from Rocket's configuration.
    ///
    /// # Errors
    /// Values are invalid. The error has all of them.
    pub fn read(figment: &Figment) -> Result<Self, SettingsError> {
        Reader::read(figment, Self::read_from)
    }

    pub(super) fn read_from(reader: &mut Reader<'_>) -> Self {
        let expected = "a whole number of seconds; 0 means none";
        let keep_alive = Config::default().keep_alive;
        let keep_alive = reader.get_or(Config::KEEP_ALIVE, expected, keep_alive);
        let connections = reader.number("max_connections", by_default(maximum_files()));
        let per_address = connections.div_ceil(ADDRESS_PART);
        Self {
            header_timeout: reader.seconds("header_timeout", Duration::from_secs(10)),
            keep_alive: Duration::from_secs(keep_alive.into()),
            write_timeout: reader.seconds("write_timeout", Duration::from_secs(30)),
            connections,
            connections_per_address: reader.number("max_connections_per_address", per_address),
        }
    }
}

/// The number of files that the process may open at most.
fn maximum_files() -> usize {
    #[cfg(unix)]
    let maximum = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    // Other systems have no such limit.
    #[cfg(not(unix))]
    let maximum = None::<u64>;
    maximum.map_or(usize::MAX, |files| files.try_into().unwrap_or(usize::MAX))
}

/// The number of connections for a process that may open so many files. Databases need some, and so
/// do connections that are rejected.
fn by_default(open_files: usize) -> u32 {
    let others = (open_files / 8).max(96);
    let connections = open_files.saturating_sub(others);
    let connections = u32::try_from(connections).unwrap_or(u32::MAX);
    connections.clamp(1, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_depends_on_the_limit_of_open_files() {
        for (files, connections) in [
            (0, 1),
            (256, 160),
            (1024, 896),
            (20_000, 17_500),
            (1_048_576, 20_000),
        ] {
            assert_eq!(by_default(files), connections, "{files}");
        }
    }
}
