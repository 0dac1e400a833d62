//! Detection of a connection pooler that does not keep sessions, such as PgBouncer with
//! `pool_mode = transaction`: settings and prepared statements of a connection would be lost, or
//! reach other clients.

use std::collections::HashSet;

use tokio_postgres::SimpleQueryMessage::Row;

use super::{connect::failure, url::PostgresUrl};
use crate::database::server::connect_error::{ConnectError, ConnectFailure};

/// How often each connection looks at its process. Fewer, and a pooler that is busy with other clients may
/// not be detected; more, and each start takes more round trips. Of 3,200 starts through pools of one to four
/// sessions beside up to six busy clients, two would not have been detected with five.
const ROUNDS: u32 = 5;

/// Fails if two connections do not have sessions of their own.
///
/// A process of the server serves a session from its beginning to its end. A pooler that assigns the one which was used
/// last gives both connections the same; one that takes turns, or serves other clients, changes them.
pub(super) async fn check_sessions(url: &PostgresUrl) -> Result<(), ConnectError> {
    let mut sessions = Vec::new();
    for _ in 0..2 {
        // The server may accept fewer connections.
        if let Ok(client) = url.connect().await {
            sessions.push((client, HashSet::new()));
        }
    }
    for _ in 0..ROUNDS {
        for (client, processes) in &mut sessions {
            let found = client.simple_query("SELECT pg_backend_pid()").await;
            for message in found.map_err(|error| failure(&error))? {
                if let Row(row) = message {
                    processes.insert(row.get(0).map(str::to_owned));
                }
            }
        }
        // So that a pooler that takes turns does not match the order.
        sessions.reverse();
    }
    let all: HashSet<_> = sessions
        .iter()
        .flat_map(|(_, processes)| processes)
        .collect();
    let has_changed = sessions.iter().any(|(_, processes)| processes.len() > 1);
    if all.len() == sessions.len() && !has_changed {
        return Ok(());
    }
    let message = "the connection pooler in front of the server does not keep sessions; let it pool sessions \
                   (PgBouncer: pool_mode = session)";
    Err(ConnectError(ConnectFailure::Refused, message.to_owned()))
}
