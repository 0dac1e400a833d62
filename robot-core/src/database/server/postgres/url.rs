//! URLs of PostgreSQL with the parameters of libpq.

use std::{iter, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

use super::tls::Verification;
use crate::database::server::{
    connect_error::{UNREADABLE, UrlError},
    url::UrlParts,
};

/// Folder of the local server's socket, which libpq uses if there is no host.
const SOCKET_FOLDER: &str = "/var/run/postgresql";

/// Parameters of the hosts, which the driver parses.
const OF_HOSTS: &str = "host port";

/// Further parameters that the driver parses as libpq does.
const OF_SESSIONS: &str = "user password dbname options application_name channel_binding keepalives \
                           keepalives_idle keepalives_interval keepalives_count connect_timeout";

/// Parameters that the driver does not know, or does not parse as libpq does.
const OTHERS: &str = "sslmode sslrootcert target_session_attrs tcp_user_timeout";

/// Where a PostgreSQL database is, and how connections to it are made.
pub(in crate::database::server) struct PostgresUrl {
    /// Names and configurations of the hosts, in their order.
    pub(super) hosts: Vec<(String, Config)>,
    pub(super) verification: Verification,
    /// Time for each host.
    pub(super) limit: Duration,
    /// The timeout of the catalogue.
    pub(super) timeout: Duration,
    pub(super) needs_primary: bool,
}

impl PostgresUrl {
    /// Parses a URL. Without `connect_timeout`, a host has the timeout, two seconds at least.
    pub(in crate::database::server) fn parse(
        url: &str,
        timeout: Duration,
    ) -> Result<Self, UrlError> {
        let parts = UrlParts::parse(url, &[OF_HOSTS, OF_SESSIONS, OTHERS].join(" "))?;
        // TCP's own defaults detect only after hours that a server disappeared.
        let session = "?keepalives_idle=30&keepalives_interval=5&keepalives_retries=3&";
        let session = [session, &query(&parts, OF_SESSIONS)].concat();
        let session = session.replace("&keepalives_count=", "&keepalives_retries=");
        let mut config = parse(&[parts.start, parts.database, &session].concat())?;
        let user_timeout = parts.value("tcp_user_timeout").map(|text| text.parse());
        let invalid = "tcp_user_timeout must be a number";
        let user_timeout = user_timeout.unwrap_or(Ok(30_000)).map_err(|_| invalid)?;
        config.tcp_user_timeout(Duration::from_millis(user_timeout));
        let limit = config.get_connect_timeout().copied();
        Ok(Self {
            verification: set_tls(&mut config, &parts)?,
            hosts: hosts(&config, &parts)?,
            limit: limit.unwrap_or(timeout.max(Duration::from_secs(2))),
            timeout,
            // A standby may lag, and a read must see every write.
            needs_primary: match parts.value("target_session_attrs").as_deref() {
                None | Some("read-write" | "primary") => true,
                Some("any") => false,
                _ => return Err("target_session_attrs must be any, read-write or primary".into()),
            },
        })
    }
}

/// The parameters with these names.
fn query(parts: &UrlParts<'_>, names: &str) -> String {
    let parameters = parts.parameters.iter();
    let parameters = parameters.filter(|(name, _)| names.split(' ').any(|known| known == *name));
    let pairs: Vec<_> = parameters.map(|pair| [pair.0, pair.1].join("=")).collect();
    pairs.join("&")
}

fn parse(url: &str) -> Result<Config, UrlError> {
    url.parse().map_err(|_| UNREADABLE)
}

/// Sets the mode of TLS, and returns how certificates are checked.
fn set_tls(config: &mut Config, parts: &UrlParts<'_>) -> Result<Verification, UrlError> {
    let authority = parts.value("sslrootcert");
    let is_system = authority.as_deref() == Some("system");
    let default = if is_system { "verify-full" } else { "prefer" };
    let mode = parts.value("sslmode").unwrap_or(default.into());
    let of_driver = match &*mode {
        _ if is_system && mode != default => Err("sslrootcert=system needs sslmode=verify-full"),
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "verify-ca" | "verify-full" if authority.is_none() => Err("this sslmode needs sslrootcert"),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err("sslmode must be disable, prefer, require, verify-ca or verify-full"),
    };
    config.ssl_mode(of_driver.map_err(UrlError::from)?);
    Ok(Verification {
        authority: authority.map(|file| file.into_owned().into()),
        includes_name: mode == "verify-full",
    })
}

/// Names and configurations of the hosts in the address or in parameters.
fn hosts(config: &Config, parts: &UrlParts<'_>) -> Result<Vec<(String, Config)>, UrlError> {
    let given = query(parts, OF_HOSTS);
    if !given.is_empty() && !parts.hosts.is_empty() {
        return Err("host and port must be in one place".into());
    }
    let listed = parse(&format!("postgres://{}?{given}", parts.hosts))?;
    let names = listed.get_hosts().iter().map(|host| match host {
        Host::Tcp(names) => names.clone(),
        Host::Unix(folder) => folder.display().to_string(),
    });
    // The driver takes the names in a parameter for one.
    let names = names.collect::<Vec<_>>().join(",");
    let ports = listed.get_ports();
    if ports.len() > 1 && ports.len() != names.split(',').count() {
        return Err("port must be one, or one for each host".into());
    }
    let first = ports.first().unwrap_or(&5432);
    let ports = ports.iter().chain(iter::repeat(first));
    let hosts = names.split(',').zip(ports).map(|(name, port)| {
        let name = if name.is_empty() { SOCKET_FOLDER } else { name };
        let mut config = config.clone();
        if name.starts_with('/') {
            // Sockets have no TLS.
            config.ssl_mode(SslMode::Disable);
        }
        config.host(name).port(*port);
        (format!("{name}:{port}"), config)
    });
    Ok(hosts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Result<PostgresUrl, UrlError> {
        PostgresUrl::parse(&format!("postgres://{address}"), Duration::from_secs(4))
    }

    /// Hosts with their modes of TLS, and the verification; or the error.
    fn summary(address: &str) -> String {
        let url = match parse(address) {
            Ok(url) => url,
            Err(error) => return error.to_string(),
        };
        let hosts = url.hosts.iter();
        let hosts = hosts.map(|(name, config)| format!("{name} {:?}", config.get_ssl_mode()));
        let authority = url.verification.authority.unwrap_or_default();
        let includes_name = url.verification.includes_name;
        let hosts = hosts.collect::<Vec<_>>().join(", ");
        format!("{hosts} {includes_name} {}", authority.display())
    }

    #[test]
    fn url_sets_hosts_and_tls() {
        for row in "u@h/d => h:5432 Prefer false
                    h1:1,[::1]/d?sslmode=require => h1:1 Require, ::1:5432 Require false
                    /d?host=h1,h2&port=1, => h1:1 Prefer, h2:5432 Prefer false
                    /d?host=/run&port=7&sslmode=require => /run:7 Disable false
                    %2Frun:9/d => /run:9 Disable false
                    u:p@ => /var/run/postgresql:5432 Disable false
                    h?sslmode=disable => h:5432 Disable false
                    h?sslmode=require&sslrootcert=%2Fa.pem => h:5432 Require false /a.pem
                    h?sslrootcert=/a.pem&sslmode=verify-full => h:5432 Require true /a.pem
                    h?sslrootcert=system => h:5432 Require true system
                    h?passfile=secret => the parameter `passfile` is not supported
                    h?connect_timeout=secret => the URL cannot be read
                    h?tcp_user_timeout=secret => tcp_user_timeout must be a number
                    h?sslmode=a => sslmode must be disable, prefer, require, verify-ca or verify-full
                    h?sslmode=verify-ca => this sslmode needs sslrootcert
                    h?sslmode=a&sslrootcert=system => sslrootcert=system needs sslmode=verify-full
                    h?target_session_attrs=a => target_session_attrs must be any, read-write or primary
                    h?port=1 => host and port must be in one place
                    ?host=a,b,c&port=1,2 => port must be one, or one for each host"
            .lines()
        {
            let (address, expected) = row.trim().split_once(" => ").unwrap();
            assert_eq!(summary(address).trim(), expected, "{address}");
        }
    }

    #[test]
    fn parameters_are_those_of_libpq() {
        let parameters = "connect_timeout=9&keepalives_count=7&tcp_user_timeout=1500";
        let address =
            format!("u%40:p%2F@h/d?target_session_attrs=any&options=-c%20a=b&{parameters}");
        let (url, default) = (parse(&address).unwrap(), parse("h").unwrap());
        let config = format!("{:?}", url.hosts[0].1);
        for part in r#""u@"|"d"|"-c a=b"|Some(1.5s)|Some(7)|idle: 30s"#.split('|') {
            assert!(config.contains(part), "{part}: {config}");
        }
        assert_eq!(url.hosts[0].1.get_password(), Some(&b"p/"[..]));
        assert_eq!((url.limit.as_secs(), default.limit.as_secs()), (9, 4));
        assert_eq!((url.needs_primary, default.needs_primary), (false, true));
    }
}
