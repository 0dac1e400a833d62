//! URLs of PostgreSQL with the parameters of libpq.

use std::{env, net::IpAddr, path::PathBuf, time::Duration};

use tokio_postgres::{
    Config,
    config::{ChannelBinding, SslMode},
};

use super::tls::Authority;
use crate::database::server::{
    connect_error::UrlError,
    tls::Verification,
    url::{UrlParts, port},
};

/// Folder of the local server's socket, which libpq uses if there is no host.
const SOCKET_FOLDER: &str = "/var/run/postgresql";

/// Where a PostgreSQL database is, and how connections to it are made.
pub(in crate::database::server) struct PostgresUrl {
    /// One for each host, in their order.
    pub(super) hosts: Vec<Config>,
    pub(super) verification: Verification<Authority>,
    /// Time for each address of a host.
    pub(super) limit: Duration,
    pub(super) needs_primary: bool,
    pub(super) is_shuffled: bool,
}

impl PostgresUrl {
    /// Parses a URL. Without `connect_timeout`, an address has the timeout, rounded up to seconds, two at
    /// least.
    pub(in crate::database::server) fn parse(
        url: &str,
        timeout: Duration,
    ) -> Result<Self, UrlError> {
        let mut parts = UrlParts::parse(url, &["postgres", "postgresql"])?;
        let mut config = Config::new();
        set_session(&mut config, &mut parts)?;
        set_socket_options(&mut config, &mut parts)?;
        let verification = set_tls(&mut config, &mut parts)?;
        let targets = [("any", false), ("read-write", true), ("primary", true)];
        let balancing = [("disable", false), ("random", true)];
        let url = Self {
            hosts: hosts(&config, &mut parts)?,
            verification,
            limit: match parts.take_number("connect_timeout")? {
                None => {
                    let is_fraction = u64::from(timeout.subsec_nanos() > 0);
                    Duration::from_secs(timeout.as_secs().saturating_add(is_fraction).max(2))
                }
                Some(0) => Duration::MAX,
                Some(seconds) => Duration::from_secs(seconds.into()),
            },
            // A standby may lag, and a read must see every write.
            needs_primary: parts
                .take_choice("target_session_attrs", &targets)?
                .unwrap_or(true),
            is_shuffled: parts
                .take_choice("load_balance_hosts", &balancing)?
                .unwrap_or(false),
        };
        parts.finish().map(|()| url)
    }
}

/// Sets what a session begins with.
fn set_session(config: &mut Config, parts: &mut UrlParts) -> Result<(), UrlError> {
    let user = parts.take("user").or(parts.user.take());
    if let Some(user) = user.or_else(|| env::var("PGUSER").ok()) {
        config.user(user);
    }
    let password = parts.take("password").or(parts.password.take());
    if let Some(password) = password.or_else(|| env::var("PGPASSWORD").ok()) {
        config.password(password);
    }
    if let Some(database) = parts.take("dbname").or(parts.database.take()) {
        config.dbname(database);
    }
    if let Some(options) = parts.take("options") {
        config.options(options);
    }
    if let Some(name) = parts.take("application_name") {
        config.application_name(name);
    }
    let bindings = [
        ("disable", ChannelBinding::Disable),
        ("prefer", ChannelBinding::Prefer),
        ("require", ChannelBinding::Require),
    ];
    if let Some(binding) = parts.take_choice("channel_binding", &bindings)? {
        config.channel_binding(binding);
    }
    Ok(())
}

/// Sets how a server is detected that disappeared: TCP's own defaults take hours.
fn set_socket_options(config: &mut Config, parts: &mut UrlParts) -> Result<(), UrlError> {
    let mut number = |name, default| {
        let number = parts.take_number(name)?;
        Ok(number.filter(|&number| number != 0).unwrap_or(default))
    };
    let (idle, interval) = (
        number("keepalives_idle", 30)?,
        number("keepalives_interval", 5)?,
    );
    config
        .keepalives_idle(Duration::from_secs(idle.into()))
        .keepalives_interval(Duration::from_secs(interval.into()))
        .keepalives_retries(number("keepalives_count", 3)?)
        .tcp_user_timeout(Duration::from_millis(
            number("tcp_user_timeout", 30_000)?.into(),
        ))
        .keepalives(parts.take_number("keepalives")? != Some(0));
    Ok(())
}

/// Sets the mode of TLS, and returns how certificates are checked.
fn set_tls(config: &mut Config, parts: &mut UrlParts) -> Result<Verification<Authority>, UrlError> {
    let modes = [
        ("disable", (SslMode::Disable, "disable")),
        ("prefer", (SslMode::Prefer, "prefer")),
        ("require", (SslMode::Require, "require")),
        ("verify-ca", (SslMode::Require, "verify-ca")),
        ("verify-full", (SslMode::Require, "verify-full")),
    ];
    let authority = match parts.take("sslrootcert").as_deref() {
        None | Some("") => None,
        Some("system") => Some(Authority::System),
        Some(file) => Some(Authority::File(PathBuf::from(file))),
    };
    let is_system = authority == Some(Authority::System);
    let default = modes[if is_system { 4 } else { 1 }].1;
    let (mode, name) = parts.take_choice("sslmode", &modes)?.unwrap_or(default);
    config.ssl_mode(mode);
    if is_system && name != "verify-full" {
        let expected = "verify-full with sslrootcert=system";
        return Err(UrlError::invalid("sslmode", expected));
    }
    Ok(match (name, authority) {
        ("require" | "verify-ca", Some(authority)) => Verification::Authority(authority),
        ("verify-full", Some(authority)) => Verification::Full(authority),
        ("verify-ca" | "verify-full", None) => {
            let expected = format!("a file or `system` with sslmode={name}");
            return Err(UrlError::invalid("sslrootcert", expected));
        }
        _ => Verification::None,
    })
}

/// The configurations for the hosts.
fn hosts(config: &Config, parts: &mut UrlParts) -> Result<Vec<Config>, UrlError> {
    let (mut names, mut ports): (Vec<_>, Vec<_>) = parts.hosts.drain(..).unzip();
    if let Some(list) = parts.take("host") {
        names = list.split(',').map(str::to_owned).collect();
    }
    if let Some(list) = parts.take("port") {
        let list = list.split(',').map(port).collect::<Option<_>>();
        ports = list.ok_or_else(|| UrlError::invalid("port", "a number from 1 to 65535"))?;
    }
    let mut addresses = vec![None; names.len()];
    if let Some(list) = parts.take("hostaddr") {
        let list = list.split(',').map(|address| address.parse().map(Some));
        let list = list.collect::<Result<_, _>>();
        addresses = list.map_err(|_| UrlError::invalid("hostaddr", "an IP address"))?;
        if names == [""] {
            names.resize(addresses.len(), String::new());
        }
    }
    if ports.len() == 1 {
        ports.resize(names.len(), ports[0]);
    }
    for (name, count) in [("port", ports.len()), ("hostaddr", addresses.len())] {
        if count != names.len() {
            return Err(UrlError::invalid(name, "one, or one for each host"));
        }
    }
    let targets = names.iter().zip(ports).zip(addresses);
    Ok(targets
        .map(|((name, port), address)| host(config.clone(), name, port, address))
        .collect())
}

fn host(mut config: Config, name: &str, port: Option<u16>, address: Option<IpAddr>) -> Config {
    let name = match (name, address) {
        ("", Some(address)) => address.to_string(),
        ("", None) => SOCKET_FOLDER.to_owned(),
        _ => name.to_owned(),
    };
    config.port(port.unwrap_or(5432));
    match address {
        Some(address) => config.hostaddr(address),
        // Sockets have no TLS.
        None if name.starts_with('/') => config.ssl_mode(SslMode::Disable),
        None => &mut config,
    };
    config.host(name);
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::server::postgres::connect::name;

    fn parse(url: &str) -> Result<PostgresUrl, UrlError> {
        PostgresUrl::parse(url, Duration::from_millis(4200))
    }

    #[test]
    fn url_sets_hosts_in_order() {
        for (url, expected) in [
            ("postgres://u@h/d", "h:5432"),
            ("postgresql://u@h1:1,h2/d", "h1:1 h2:5432"),
            ("postgres://h1,[::1]:7/d?port=8", "h1:8 ::1:8"),
            ("postgres://u@/d?host=h1,h2&port=1,", "h1:1 h2:5432"),
            ("postgres:///d?host=/run", "/run:5432"),
            ("postgres://%2Frun:9/d", "/run:9"),
            ("postgres://", "/var/run/postgresql:5432"),
            (
                "postgres:///d?hostaddr=127.0.0.1,::1",
                "127.0.0.1:5432 ::1:5432",
            ),
        ] {
            let hosts: Vec<_> = parse(url).unwrap().hosts.iter().map(name).collect();
            assert_eq!(hosts.join(" "), expected, "{url}");
        }
    }

    #[test]
    fn parameters_are_those_of_libpq() {
        let url = parse(
            "postgres://u%40:p%2F@h/d?options=-c%20a=b&connect_timeout=9&keepalives_count=7\
             &tcp_user_timeout=1500&target_session_attrs=any&application_name=n",
        )
        .unwrap();
        let [config] = &url.hosts[..] else {
            unreachable!()
        };
        assert_eq!(config.get_user(), Some("u@"));
        assert_eq!(config.get_password(), Some(&b"p/"[..]));
        assert_eq!(config.get_options(), Some("-c a=b"));
        assert_eq!(config.get_keepalives_retries(), Some(7));
        assert_eq!(config.get_keepalives_idle(), Duration::from_secs(30));
        let timeout = Duration::from_millis(1500);
        assert_eq!(config.get_tcp_user_timeout(), Some(&timeout));
        assert_eq!(url.limit, Duration::from_secs(9));
        assert!(!url.needs_primary);
        let url = parse("postgres://h/d").unwrap();
        assert_eq!(
            (url.limit, url.needs_primary),
            (Duration::from_secs(5), true)
        );
    }

    #[test]
    fn sslmode_and_sslrootcert_set_the_verification() {
        let file = || Authority::File(PathBuf::from("/a.pem"));
        for (parameters, mode, verification) in [
            ("", SslMode::Prefer, Verification::None),
            ("sslmode=disable", SslMode::Disable, Verification::None),
            ("sslmode=require", SslMode::Require, Verification::None),
            (
                "sslmode=require&sslrootcert=/a.pem",
                SslMode::Require,
                Verification::Authority(file()),
            ),
            (
                "sslrootcert=/a.pem&sslmode=verify-full",
                SslMode::Require,
                Verification::Full(file()),
            ),
            (
                "sslrootcert=system",
                SslMode::Require,
                Verification::Full(Authority::System),
            ),
            (
                "sslmode=require&host=/run",
                SslMode::Disable,
                Verification::None,
            ),
        ] {
            let url = parse(&format!("postgres://h/d?{parameters}")).unwrap();
            assert_eq!(url.hosts[0].get_ssl_mode(), mode, "{parameters}");
            assert_eq!(url.verification, verification, "{parameters}");
        }
    }

    #[test]
    fn invalid_parameters_are_named_without_their_values() {
        for (parameters, expected) in [
            (
                "passfile=secret",
                "the parameter `passfile` is not supported",
            ),
            ("password=my&secret=1", "the URL cannot be read"),
            (
                "sslmode=allow",
                "sslmode must be disable, prefer, require, verify-ca or verify-full",
            ),
            (
                "sslmode=verify-ca",
                "sslrootcert must be a file or `system` with sslmode=verify-ca",
            ),
            (
                "sslmode=require&sslrootcert=system",
                "sslmode must be verify-full with sslrootcert=system",
            ),
            (
                "target_session_attrs=standby",
                "target_session_attrs must be any, read-write or primary",
            ),
            ("connect_timeout=secret", "connect_timeout must be a number"),
            ("port=0", "port must be a number from 1 to 65535"),
            ("port=1,2", "port must be one, or one for each host"),
            (
                "hostaddr=::1,::2",
                "hostaddr must be one, or one for each host",
            ),
        ] {
            let error = parse(&format!("postgres://h/d?{parameters}")).err();
            assert_eq!(error.unwrap().to_string(), expected, "{parameters}");
        }
    }
}
