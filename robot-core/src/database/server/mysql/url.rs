//! URLs of MariaDB and MySQL, and connections to their servers.

use std::{path::PathBuf, sync::OnceLock};

use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, SslOpts};
use rustls::CertificateError;

use crate::database::server::{
    connect_error::{ConnectError, UrlError, deepest_message, find_cause},
    tls::{Verification, read_certificates},
    url::UrlParts,
};

/// Where a MariaDB or MySQL database is, and how connections to it are made.
pub(in crate::database::server) struct MysqlUrl {
    /// Without TLS.
    options: OptsBuilder,
    tls: Tls,
    /// A name in the certificate of the server, if only its authority is checked.
    certified_name: OnceLock<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tls {
    Disabled,
    Preferred,
    Required(Verification<PathBuf>),
}

impl MysqlUrl {
    /// Parses a URL.
    pub(in crate::database::server) fn parse(url: &str) -> Result<Self, UrlError> {
        let mut parts = UrlParts::parse(url, &["mysql"])?;
        let tls = tls(&mut parts)?;
        let socket = parts.take("unix_socket").or(parts.take("socket"));
        let [(host, port)] = &parts.hosts[..] else {
            return Err(UrlError::invalid("host", "a single one"));
        };
        // The driver has its own default for an empty host.
        let host = if host.is_empty() { "localhost" } else { host };
        let url = Self {
            tls: if socket.is_some() { Tls::Disabled } else { tls },
            options: OptsBuilder::default()
                .ip_or_hostname(host)
                .tcp_port(port.unwrap_or(3306))
                .user(parts.user.clone())
                .pass(parts.password.clone())
                .db_name(parts.database.clone())
                .socket(socket)
                .prefer_socket(false)
                .tcp_keepalive(Some(30_000_u32))
                .stmt_cache_size(0)
                .client_found_rows(true),
            certified_name: OnceLock::new(),
        };
        parts.finish().map(|()| url)
    }

    /// Connects, without a time limit.
    pub(in crate::database::server) async fn connect(&self) -> Result<Conn, ConnectError> {
        // The driver takes the default of the process, which may be another one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connected = match &self.tls {
            Tls::Disabled => self.open(None).await,
            Tls::Preferred => {
                let ssl = SslOpts::default().with_danger_accept_invalid_certs(true);
                match self.open(Some(ssl)).await {
                    Err(error) if matches!(failure(&error), ConnectError::Tls(_)) => {
                        self.open(None).await
                    }
                    connected => connected,
                }
            }
            Tls::Required(verification) => self.open_with_tls(verification).await?,
        };
        connected.map_err(|error| failure(&error))
    }

    async fn open(&self, ssl: Option<SslOpts>) -> mysql_async::Result<Conn> {
        Conn::new(Opts::from(self.options.clone().ssl_opts(ssl))).await
    }

    async fn open_with_tls(
        &self,
        verification: &Verification<PathBuf>,
    ) -> Result<mysql_async::Result<Conn>, ConnectError> {
        let (Verification::Authority(file) | Verification::Full(file)) = verification else {
            let ssl = SslOpts::default().with_danger_accept_invalid_certs(true);
            return Ok(self.open(Some(ssl)).await);
        };
        let certificates = read_certificates(file)?.into_iter();
        let ssl = SslOpts::default()
            .with_disable_built_in_roots(true)
            .with_root_certs(
                certificates
                    .map(|certificate| certificate.to_vec().into())
                    .collect(),
            );
        if matches!(verification, Verification::Full(_)) {
            return Ok(self.open(Some(ssl)).await);
        }
        // The driver cannot ignore the name: its option for this fails with this version of rustls. So it
        // gets a name that the certificate has.
        let with_name = |name| ssl.clone().with_danger_tls_hostname_override(name);
        let known = self.certified_name.get().cloned();
        let connected = self.open(Some(with_name(known))).await;
        let Some(name) = connected.as_ref().err().and_then(certified_name) else {
            return Ok(connected);
        };
        let _ = self.certified_name.set(name.clone());
        Ok(self.open(Some(with_name(Some(name)))).await)
    }
}

fn tls(parts: &mut UrlParts) -> Result<Tls, UrlError> {
    let mode = parts.take("ssl_mode").or(parts.take("ssl-mode"));
    let mode = mode.map(|mode| mode.to_lowercase());
    let authority = parts.take("ssl_ca").or(parts.take("ssl-ca"));
    Ok(match (mode.as_deref(), authority.map(PathBuf::from)) {
        (Some("disabled"), _) => Tls::Disabled,
        (Some("preferred"), _) | (None, None) => Tls::Preferred,
        (Some("required"), None) => Tls::Required(Verification::None),
        (Some("required" | "verify_ca") | None, Some(file)) => {
            Tls::Required(Verification::Authority(file))
        }
        (Some("verify_identity"), Some(file)) => Tls::Required(Verification::Full(file)),
        (Some("verify_ca" | "verify_identity"), None) => {
            return Err(UrlError::invalid("ssl_ca", "a file with this ssl_mode"));
        }
        _ => {
            let modes = "disabled, preferred, required, verify_ca or verify_identity";
            return Err(UrlError::invalid("ssl_mode", modes));
        }
    })
}

/// A name in a certificate that is valid but for other names.
fn certified_name(error: &Error) -> Option<String> {
    let Some(rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext {
        presented,
        ..
    })) = find_cause(error)
    else {
        return None;
    };
    presented.iter().find_map(|name| {
        let address = name
            .strip_prefix("IpAddress(")
            .and_then(|name| name.strip_suffix(")"));
        let domain = || name.strip_prefix("DnsName(\"")?.strip_suffix("\")");
        // A wildcard stands for any label.
        Some(address.or_else(domain)?.replacen('*', "any", 1))
    })
}

/// The meaning of the driver's error.
fn failure(error: &Error) -> ConnectError {
    let message = deepest_message(error);
    if find_cause::<rustls::Error>(error).is_some() {
        return ConnectError::Tls(message);
    }
    match error {
        Error::Server(error) => match error.code {
            // The server requires TLS.
            3159 => ConnectError::Tls(message),
            // Database, user, host, password, plugin for passwords, privilege or blocked account.
            1044 | 1045 | 1049 | 1102 | 1129 | 1130 | 1142 | 1227 | 1251 | 1275 | 1524 | 1698
            | 1820 | 1862 | 3118 | 3955 | 4151 => ConnectError::Refused(message),
            _ => ConnectError::Unreachable(message),
        },
        Error::Io(IoError::Tls(_)) | Error::Driver(DriverError::NoClientSslFlagFromServer) => {
            ConnectError::Tls(message)
        }
        Error::Driver(
            DriverError::UnknownAuthPlugin { .. }
            | DriverError::MysqlOldPasswordDisabled
            | DriverError::CleartextPluginDisabled,
        ) => ConnectError::Refused(message),
        _ => ConnectError::Unreachable(message),
    }
}

#[cfg(test)]
mod tests {
    use mysql_async::ServerError;

    use super::*;

    #[test]
    fn parameters_set_tls_and_socket() {
        let file = || PathBuf::from("/a.pem");
        for (parameters, expected) in [
            ("", Tls::Preferred),
            ("ssl_mode=DISABLED", Tls::Disabled),
            ("ssl-mode=Preferred&ssl_ca=/a.pem", Tls::Preferred),
            ("ssl_mode=required", Tls::Required(Verification::None)),
            (
                "ssl_ca=/a.pem",
                Tls::Required(Verification::Authority(file())),
            ),
            (
                "ssl_mode=REQUIRED&ssl-ca=%2Fa.pem",
                Tls::Required(Verification::Authority(file())),
            ),
            (
                "ssl_mode=verify_ca&ssl_ca=/a.pem",
                Tls::Required(Verification::Authority(file())),
            ),
            (
                "ssl_mode=verify_identity&ssl_ca=/a.pem",
                Tls::Required(Verification::Full(file())),
            ),
            ("ssl_mode=required&socket=/s", Tls::Disabled),
        ] {
            let url = MysqlUrl::parse(&format!("mysql://u@h/d?{parameters}")).unwrap();
            assert_eq!(url.tls, expected, "{parameters}");
        }
    }

    #[test]
    fn url_sets_host_credentials_and_database() {
        let url = MysqlUrl::parse("mysql://u%40:p%2F@[::1]/d%20?unix_socket=/s").unwrap();
        let options = Opts::from(url.options);
        assert_eq!(
            (options.ip_or_hostname(), options.tcp_port()),
            ("::1", 3306)
        );
        assert_eq!((options.user(), options.pass()), (Some("u@"), Some("p/")));
        assert_eq!(
            (options.db_name(), options.socket()),
            (Some("d "), Some("/s"))
        );
    }

    #[test]
    fn invalid_parameters_are_named_without_their_values() {
        for (url, expected) in [
            ("mysql://h1,h2/d", "host must be a single one"),
            (
                "mysql://h/d?pool_max=3",
                "the parameter `pool_max` is not supported",
            ),
            (
                "mysql://h/d?ssl_mode=secret",
                "ssl_mode must be disabled, preferred, required, verify_ca or verify_identity",
            ),
            (
                "mysql://h/d?ssl_mode=verify_ca",
                "ssl_ca must be a file with this ssl_mode",
            ),
            ("mysql://u:p%zzwsecret@h/d", "the URL cannot be read"),
        ] {
            let error = MysqlUrl::parse(url).err().unwrap();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn errors_are_classified_by_their_codes() {
        let server = |code| {
            failure(&Error::Server(ServerError {
                code,
                message: "m".to_owned(),
                state: "HY000".to_owned(),
            }))
        };
        let message = |code| format!("ERROR HY000 ({code}): m");
        assert_eq!(server(1045), ConnectError::Refused(message(1045)));
        assert_eq!(server(1040), ConnectError::Unreachable(message(1040)));
        let no_tls = Error::Driver(DriverError::NoClientSslFlagFromServer);
        assert!(matches!(failure(&no_tls), ConnectError::Tls(_)));
    }

    #[test]
    fn name_in_a_certificate_is_found() {
        for (presented, expected) in [
            ("DnsName(\"*.h\")", Some("any.h")),
            ("IpAddress(127.0.0.1)", Some("127.0.0.1")),
            ("DirectoryName", None),
        ] {
            let error = rustls::Error::from(CertificateError::NotValidForNameContext {
                expected: "x".try_into().unwrap(),
                presented: vec![presented.to_owned()],
            });
            let error = Error::from(std::io::Error::other(error));
            assert_eq!(certified_name(&error).as_deref(), expected);
        }
    }
}
