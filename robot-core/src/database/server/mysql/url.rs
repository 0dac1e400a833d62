//! URLs of MariaDB and MySQL, and connections to their servers.

use std::{path::PathBuf, time::Duration};

use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, SslOpts};

use crate::database::server::{
    connect_error::{ConnectError, ConnectFailure, UNREADABLE, UrlError},
    tls::read_certificates,
    url::UrlParts,
};

/// Codes of errors that a later attempt does not resolve: of the database, user, host, password, plugin for
/// passwords, privilege, or a blocked account.
const REFUSALS: [u16; 17] = [
    1044, 1045, 1049, 1102, 1129, 1130, 1142, 1227, 1251, 1275, 1524, 1698, 1820, 1862, 3118, 3955,
    4151,
];

/// Where a MariaDB or MySQL database is, and how connections to it are made.
pub(in crate::database::server) struct MysqlUrl {
    /// Without TLS.
    options: OptsBuilder,
    tls: Tls,
    /// The timeout of the catalogue.
    pub(super) timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tls {
    Disabled,
    Preferred,
    Required,
    /// With a certificate for the host that an authority of this file has issued.
    Verified(PathBuf),
}

impl MysqlUrl {
    /// Parses a URL.
    pub(in crate::database::server) fn parse(
        url: &str,
        timeout: Duration,
    ) -> Result<Self, UrlError> {
        let parts = UrlParts::parse(url, "ssl_mode ssl-mode ssl_ca ssl-ca socket unix_socket")?;
        let mode = parts.value("ssl_mode").or(parts.value("ssl-mode"));
        let mode = mode.map(|mode| mode.to_lowercase());
        let file = parts.value("ssl_ca").or(parts.value("ssl-ca"));
        let file = file.map(|file| file.into_owned().into());
        let tls: Result<_, &str> = match (mode.as_deref(), file) {
            (Some("disabled"), _) => Ok(Tls::Disabled),
            (Some("preferred"), _) | (None, None) => Ok(Tls::Preferred),
            (Some("required"), None) => Ok(Tls::Required),
            (Some("required" | "verify_identity") | None, Some(file)) => Ok(Tls::Verified(file)),
            (Some("verify_identity"), None) => Err("ssl_mode=verify_identity needs ssl_ca"),
            _ => Err("ssl_mode must be disabled, preferred, required or verify_identity"),
        };
        let tls = tls?;
        let socket = parts.value("unix_socket").or(parts.value("socket"));
        if parts.hosts.contains(',') {
            return Err("host must be a single one".into());
        }
        let options = Opts::from_url(&[parts.start, parts.hosts, parts.database].concat());
        let options = options.map_err(|_| UNREADABLE)?;
        // The driver keeps the brackets of an IPv6 address, but it does not connect to it.
        let host = options.ip_or_hostname().trim_matches(['[', ']']).to_owned();
        Ok(Self {
            timeout,
            tls: if socket.is_some() { Tls::Disabled } else { tls },
            options: OptsBuilder::from_opts(options)
                .ip_or_hostname(host)
                .socket(socket)
                .prefer_socket(false)
                .tcp_keepalive(Some(30_000_u32))
                .stmt_cache_size(0)
                .client_found_rows(true),
        })
    }

    /// Connects, without a time limit.
    pub(in crate::database::server) async fn connect(&self) -> Result<Conn, ConnectError> {
        // The driver takes the default of the process, which may be another one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ssl = SslOpts::default();
        let ssl = match &self.tls {
            Tls::Disabled => None,
            Tls::Preferred | Tls::Required => Some(ssl.with_danger_accept_invalid_certs(true)),
            Tls::Verified(file) => {
                let authorities = read_certificates(file)?.into_iter();
                let authorities = authorities.map(|authority| authority.to_vec().into());
                let ssl = ssl.with_root_certs(authorities.collect());
                Some(ssl.with_disable_built_in_roots(true))
            }
        };
        let is_preferred = self.tls == Tls::Preferred;
        match self.open(ssl).await {
            Err(ConnectError(ConnectFailure::Tls, _)) if is_preferred => self.open(None).await,
            connected => connected,
        }
    }

    async fn open(&self, ssl: Option<SslOpts>) -> Result<Conn, ConnectError> {
        let connected = Conn::new(self.options.clone().ssl_opts(ssl)).await;
        connected.map_err(|error| failure(&error))
    }
}

/// The meaning of the driver's error.
fn failure(error: &Error) -> ConnectError {
    let failure = match error {
        // The server requires TLS.
        Error::Server(error) if error.code == 3159 => ConnectFailure::Tls,
        Error::Server(error) if REFUSALS.contains(&error.code) => ConnectFailure::Refused,
        Error::Io(IoError::Tls(_)) | Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            ConnectFailure::Tls
        }
        Error::Driver(
            DriverError::UnknownAuthPlugin { .. }
            | DriverError::MysqlOldPasswordDisabled
            | DriverError::CleartextPluginDisabled,
        ) => ConnectFailure::Refused,
        _ => ConnectFailure::Unreachable,
    };
    ConnectError::new(failure, error)
}

#[cfg(test)]
mod tests {
    use mysql_async::ServerError;

    use super::*;

    /// Host, socket and TLS, or the error.
    fn summary(address: &str) -> String {
        match MysqlUrl::parse(&format!("mysql://{address}"), Duration::ZERO) {
            Err(error) => error.to_string(),
            Ok(MysqlUrl { options, tls, .. }) => {
                let options = Opts::from(options);
                assert_eq!((options.user(), options.pass()), (Some("u@"), Some("p/")));
                assert_eq!(options.db_name(), Some("d "));
                let (host, port) = (options.ip_or_hostname(), options.tcp_port());
                format!("{host}:{port} {:?} {tls:?}", options.socket())
            }
        }
    }

    #[test]
    fn url_sets_host_and_tls() {
        for row in "u%40:p%2F@h/d%20 => h:3306 None Preferred
                    u%40:p%2F@[::1]:7/d%20?ssl_mode=DISABLED => ::1:7 None Disabled
                    u%40:p%2F@h/d%20?ssl_mode=required => h:3306 None Required
                    u%40:p%2F@h/d%20?ssl_ca=%2Fa => h:3306 None Verified(\"/a\")
                    u%40:p%2F@h/d%20?ssl_mode=required&socket=/s => h:3306 Some(\"/s\") Disabled
                    h1,h2/d => host must be a single one
                    h/d?pool_max=3 => the parameter `pool_max` is not supported
                    h?ssl_mode=verify_identity => ssl_mode=verify_identity needs ssl_ca
                    h?ssl_mode=verify_ca&ssl_ca=/a => ssl_mode must be disabled, preferred, required or \
                    verify_identity
                    u:secret@h:port/d => the URL cannot be read"
            .lines()
        {
            let (address, expected) = row.trim().split_once(" => ").unwrap();
            assert_eq!(summary(address), expected, "{address}");
        }
    }

    #[test]
    fn errors_are_classified_by_their_codes() {
        for (code, expected) in [
            (1045, ConnectFailure::Refused),
            (1040, ConnectFailure::Unreachable),
        ] {
            let (message, state) = (String::new(), String::new());
            let error = ServerError {
                code,
                message,
                state,
            };
            assert_eq!(failure(&error.into()).0, expected);
        }
        let no_tls = Error::Driver(DriverError::NoClientSslFlagFromServer);
        assert_eq!(failure(&no_tls).0, ConnectFailure::Tls);
    }
}
