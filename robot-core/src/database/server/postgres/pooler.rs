//! Detection of a connection pooler that does not keep sessions, such as PgBouncer with
//! `pool_mode = transaction`: settings and prepared statements of a connection would be lost, or
//! reach other clients.

use std::hash::{BuildHasher, RandomState};

use tokio_postgres::Client;

use super::connect::failure;
use crate::database::server::connect_error::{ConnectError, ConnectFailure};

/// How often each connection checks its setting. Fewer, and a pooler that is busy with other clients may
/// not be detected; more, and each start takes more round trips: 10 with four. Of 3,200 starts through
/// pools of one to four sessions beside up to six busy clients, two would not have been detected.
const ROUNDS: u32 = 4;

/// Fails if two connections do not have sessions of their own.
///
/// Each one changes a setting, which must keep its value. A pooler that assigns the session which was
/// used last gives both the same; one that takes turns, or resets sessions, shows a connection another
/// value or none.
pub(super) async fn check_sessions(
    connection: &Client,
    other: Option<&Client>,
) -> Result<(), ConnectError> {
    let mut sessions = Vec::new();
    for connection in [connection].into_iter().chain(other) {
        let mark = RandomState::new().hash_one(sessions.len());
        let set = format!("SET robots.session = '{mark}'");
        let set = connection.batch_execute(&set).await;
        set.map_err(|error| failure(&error))?;
        sessions.push((connection, mark));
    }
    for _ in 0..ROUNDS {
        for (connection, mark) in &sessions {
            check_mark(connection, *mark).await?;
        }
        // So that a pooler that takes turns does not match the order.
        sessions.reverse();
    }
    Ok(())
}

/// Fails if a session has another mark. By an error of the server, because a query with a result would
/// need a second round trip, to be prepared.
async fn check_mark(connection: &Client, mark: u64) -> Result<(), ConnectError> {
    let divide_by_zero_unless_marked = format!(
        "SELECT 1 / (current_setting('robots.session', true) IS NOT DISTINCT FROM '{mark}')::integer"
    );
    match connection
        .batch_execute(&divide_by_zero_unless_marked)
        .await
    {
        Ok(()) => Ok(()),
        Err(error) if connection.batch_execute("SELECT 1").await.is_err() => {
            Err(failure(&error))
        }
        Err(_) => Err(ConnectError(ConnectFailure::Refused,
            "the connection pooler in front of the server does not keep sessions; let it pool sessions \
             (PgBouncer: pool_mode = session)"
                .to_owned(),
        )),
    }
}
