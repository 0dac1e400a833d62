//! Connections to the hosts of a URL of PostgreSQL.

use std::io;

use tokio::{net::lookup_host, time::timeout};
use tokio_postgres::{
    Client, Config, Error, SimpleQueryMessage,
    config::{Host, SslMode},
    error::SqlState,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{tls::client_config, url::PostgresUrl};
use crate::database::server::connect_error::{ConnectError, deepest_message, find_cause};

impl PostgresUrl {
    /// Connects, on the current Tokio runtime, to the first host that accepts it within the time limit and is a primary, unless
    /// `target_session_attrs` allows any. Of several failures, it returns one that a later attempt does not
    /// resolve, if there is one.
    pub(in crate::database::server) async fn connect(&self) -> Result<Client, ConnectError> {
        let tls = MakeRustlsConnect::new(client_config(&self.verification)?);
        let mut hosts: Vec<_> = self.hosts.iter().collect();
        if self.is_shuffled {
            fastrand::shuffle(&mut hosts);
        }
        let mut failures = Vec::new();
        for host in hosts {
            let addresses = match self.within_limit(self.addresses(host)).await {
                Ok(addresses) => addresses,
                Err(error) => {
                    failures.push(error.of_host(&name(host)));
                    continue;
                }
            };
            for address in addresses {
                match self.within_limit(self.open(address, &tls)).await {
                    Ok(session) => return Ok(session),
                    Err(error) => failures.push(error.of_host(&name(host))),
                }
            }
        }
        let is_unreachable = |error: &ConnectError| matches!(error, ConnectError::Unreachable(_));
        if let Some(index) = failures.iter().position(|error| !is_unreachable(error)) {
            return Err(failures.swap_remove(index));
        }
        let mut messages: Vec<_> = failures.iter().map(ToString::to_string).collect();
        messages.dedup();
        Err(ConnectError::Unreachable(messages.join("; ")))
    }

    async fn within_limit<T>(
        &self,
        attempt: impl Future<Output = Result<T, ConnectError>>,
    ) -> Result<T, ConnectError> {
        timeout(self.limit, attempt).await.unwrap_or_else(|_| {
            let seconds = self.limit.as_secs();
            let message = format!("no answer within {seconds} s");
            Err(ConnectError::Unreachable(message))
        })
    }

    /// The configurations for the addresses of a host: a dead one must not keep the others from being tried.
    async fn addresses(&self, host: &Config) -> Result<Vec<Config>, ConnectError> {
        let [Host::Tcp(name)] = host.get_hosts() else {
            return Ok(vec![host.clone()]);
        };
        if !host.get_hostaddrs().is_empty() {
            return Ok(vec![host.clone()]);
        }
        let addresses = lookup_host((&**name, 0)).await;
        let addresses = addresses.map_err(|error| ConnectError::Unreachable(error.to_string()))?;
        let mut configs: Vec<_> = addresses
            .map(|address| host.clone().hostaddr(address.ip()).clone())
            .collect();
        if self.is_shuffled {
            fastrand::shuffle(&mut configs);
        }
        Ok(configs)
    }

    async fn open(
        &self,
        mut address: Config,
        tls: &MakeRustlsConnect,
    ) -> Result<Client, ConnectError> {
        let (client, connection) = match address.connect(tls.clone()).await {
            // The server may accept connections without TLS only.
            Err(error) if address.get_ssl_mode() == SslMode::Prefer && is_of_tls(&error) => {
                let plain = address.ssl_mode(SslMode::Disable).connect(tls.clone());
                plain
                    .await
                    .map_err(|plain| failure(if is_of_tls(&plain) { &error } else { &plain }))?
            }
            connected => connected.map_err(|error| failure(&error))?,
        };
        tokio::spawn(connection);
        if self.needs_primary {
            // A standby has no serializable transactions, but they may be its default.
            let is_standby =
                "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_is_in_recovery(); COMMIT";
            let messages = client.simple_query(is_standby).await;
            let messages = messages.map_err(|error| failure(&error))?;
            if messages.iter().any(|message| {
                matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some("t"))
            }) {
                let message = "the server is a standby, which cannot write";
                return Err(ConnectError::Unreachable(message.to_owned()));
            }
        }
        Ok(client)
    }
}

/// A host as messages name it.
pub(super) fn name(config: &Config) -> String {
    let host = match config.get_hosts() {
        [Host::Tcp(name)] => name.clone(),
        [Host::Unix(folder)] => folder.display().to_string(),
        _ => String::new(),
    };
    format!("{host}:{}", config.get_ports().first().unwrap_or(&5432))
}

/// Whether the server may accept a connection without TLS, although one with TLS failed.
fn is_of_tls(error: &Error) -> bool {
    matches!(failure(error), ConnectError::Tls(_))
        || error.code() == Some(&SqlState::INVALID_AUTHORIZATION_SPECIFICATION)
}

/// The meaning of the driver's error.
pub(super) fn failure(error: &Error) -> ConnectError {
    let message = deepest_message(error);
    if let Some(code) = error.code() {
        // Classes: invalid authorization, missing database or schema, missing permission or setting, and
        // invalid value of a setting.
        let classes = ["28", "3D", "3F", "42", "22"];
        return if classes.iter().any(|class| code.code().starts_with(class)) {
            ConnectError::Refused(message)
        } else {
            ConnectError::Unreachable(message)
        };
    }
    // Only its text tells what failed.
    let is_handshake = error.to_string() == "error performing TLS handshake";
    let is_io = find_cause::<io::Error>(error).is_some();
    if find_cause::<rustls::Error>(error).is_some() || is_handshake && !is_io {
        ConnectError::Tls(message)
    } else if is_io || std::error::Error::source(error).is_none() {
        ConnectError::Unreachable(message)
    } else {
        // There is no password although one is needed, or no channel binding.
        ConnectError::Refused(message)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// The error for a server that sends this answer to the request for TLS.
    async fn error_after(answer: &'static [u8], parameters: &str) -> ConnectError {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; 8]).await.unwrap();
            stream.write_all(answer).await.unwrap();
            // Until the client closes the connection.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let url = format!("postgres://u:secret@127.0.0.1:{port}/d?connect_timeout=1&{parameters}");
        let error = PostgresUrl::parse(&url, Duration::ZERO)
            .unwrap()
            .connect()
            .await
            .err()
            .unwrap();
        server.abort();
        error
    }

    #[tokio::test]
    async fn failed_handshakes_are_classified() {
        let error = error_after(b"N", "sslmode=require").await;
        assert!(matches!(error, ConnectError::Tls(_)), "{error}");
        let error = error_after(b"", "sslmode=prefer").await;
        assert!(matches!(error, ConnectError::Unreachable(_)), "{error}");
        assert!(
            error.to_string().ends_with("no answer within 1 s"),
            "{error}"
        );
        let error = error_after(b"", "sslmode=verify-ca&sslrootcert=/missing.pem").await;
        assert!(matches!(error, ConnectError::Tls(_)), "{error}");
    }
}
