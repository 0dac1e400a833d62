//! Detection of a connection pooler that does not keep sessions, such as PgBouncer with
//! `pool_mode = transaction`: settings and prepared statements of a connection would be lost, or
//! reach other clients.

use std::collections::HashSet;

use tokio_postgres::{Client, SimpleQueryMessage::Row};

use super::{connect::failure, url::PostgresUrl};
use crate::database::server::connect_error::{ConnectError, ConnectFailure};

/// How often each connection looks at its process. Fewer, and a pooler that is busy with other clients may
/// not be detected; more, and each start takes more round trips. Of 3,200 starts through pools of one to four
/// sessions beside up to six busy clients, two would not have been detected with five.
const ROUNDS: u32 = 5;

/// Connects, and fails if two connections do not have sessions of their own.
///
/// A process of the server serves a session from its beginning to its end. A pooler that assigns the one which was used
/// last gives both connections the same; one that takes turns, or serves other clients, changes them.
pub(super) async fn connect(url: &PostgresUrl) -> Result<Client, ConnectError> {
    let mut sessions = vec![(url.connect().await?, HashSet::new())];
    // The server may accept only one connection, which is enough to use it.
    let other = url.connect().await.ok();
    sessions.extend(other.map(|client| (client, HashSet::new())));
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
    let all = sessions.iter().flat_map(|(_, processes)| processes);
    let all: HashSet<_> = all.collect();
    let has_changed = sessions.iter().any(|(_, processes)| processes.len() > 1);
    let are_kept = all.len() == sessions.len() && !has_changed;
    if are_kept && let Some((client, _)) = sessions.pop() {
        return Ok(client);
    }
    let message = "the connection pooler in front of the server does not keep sessions; let it pool sessions \
                   (PgBouncer: pool_mode = session)";
    Err(ConnectError(ConnectFailure::Refused, message.to_owned()))
}
