//! Connections to the hosts of a URL of PostgreSQL.

use std::io;

use tokio::time::timeout;
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage::Row, error::SqlState};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::url::PostgresUrl;
use crate::database::server::connect_error::{ConnectError, ConnectFailure, causes};

/// Classes of errors that a later attempt does not resolve: invalid authorization, missing database or
/// schema, missing permission or setting, and invalid value of a setting.
const REFUSALS: [&str; 5] = ["28", "3D", "3F", "42", "22"];

impl PostgresUrl {
    /// Connects, on the current Tokio runtime, to the first host that accepts it within the time limit and is
    /// a primary, unless `target_session_attrs` allows any. The error names the failure of each host, and is of
    /// the most lasting kind.
    pub(in crate::database::server) async fn connect(&self) -> Result<Client, ConnectError> {
        let tls = MakeRustlsConnect::new(self.verification.client_config());
        let (mut lasting, mut messages) = (ConnectFailure::Unreachable, Vec::new());
        for (name, host) in &self.hosts {
            let opened = timeout(self.limit, self.open(host, tls.clone())).await;
            let (failure, message) = match opened {
                Ok(Ok(client)) => return Ok(client),
                Ok(Err(ConnectError(failure, message))) => (failure, message),
                Err(_) => (
                    ConnectFailure::Unreachable,
                    format!("no answer within {:?}", self.limit),
                ),
            };
            lasting = lasting.max(failure);
            messages.push(format!("{name}: {message}"));
        }
        Err(ConnectError(lasting, messages.join("; ")))
    }

    async fn open(&self, host: &Config, tls: MakeRustlsConnect) -> Result<Client, ConnectError> {
        let connected = host.connect(tls).await;
        let (client, connection) = connected.map_err(|error| failure(&error))?;
        tokio::spawn(connection);
        if self.needs_primary {
            // A standby has no serializable transactions, but they may be its default.
            let is_standby =
                "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_is_in_recovery(); COMMIT";
            let messages = client.simple_query(is_standby).await;
            let messages = messages.map_err(|error| failure(&error))?;
            let is_true = |message: &_| matches!(message, Row(row) if row.get(0) == Some("t"));
            if messages.iter().any(is_true) {
                let message = "the server is a standby, which cannot write";
                return Err(ConnectError(
                    ConnectFailure::Unreachable,
                    message.to_owned(),
                ));
            }
        }
        Ok(client)
    }
}

/// The meaning of the driver's error.
pub(super) fn failure(error: &Error) -> ConnectError {
    let is_io = causes(error).any(<dyn std::error::Error>::is::<io::Error>);
    let failure = match error.code().map(SqlState::code) {
        Some(code) if REFUSALS.iter().any(|class| code.starts_with(class)) => {
            ConnectFailure::Refused
        }
        None if is_io => ConnectFailure::Unreachable,
        // Only its text says what failed.
        None if error.to_string() == "error performing TLS handshake" => ConnectFailure::Tls,
        // There is no password although one is needed, or no channel binding.
        None if std::error::Error::source(error).is_some() => ConnectFailure::Refused,
        _ => ConnectFailure::Unreachable,
    };
    ConnectError::new(failure, error)
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, time::Duration};

    use super::*;

    #[tokio::test]
    async fn failure_of_each_host_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent = listener.local_addr().unwrap();
        let url = format!("postgres://u:secret@127.0.0.1:1,{silent}/d?connect_timeout=1");
        let url = PostgresUrl::parse(&url, Duration::ZERO).unwrap();
        let ConnectError(failure, message) = url.connect().await.err().unwrap();
        assert_eq!(failure, ConnectFailure::Unreachable, "{message}");
        assert!(
            message.starts_with("127.0.0.1:1: Connection refused"),
            "{message}"
        );
        let of_silent = format!("; {silent}: no answer within 1s");
        assert!(message.ends_with(&of_silent), "{message}");
    }
}
