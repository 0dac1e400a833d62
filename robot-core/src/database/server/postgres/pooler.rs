//! Detection of a connection pooler that does not keep sessions, such as PgBouncer with
//! `pool_mode = transaction`: settings and prepared statements of a connection would be lost, or
//! reach other clients.

use std::hash::{BuildHasher, RandomState};

use diesel::{
    ConnectionError, ConnectionResult, PgConnection,
    connection::SimpleConnection,
    dsl::sql,
    prelude::*,
    r2d2::R2D2Connection,
    sql_types::{Nullable, Text},
};

/// Part of the message about such a pooler.
pub(super) const DETECTED: &str = "does not keep sessions";

/// How often the settings are compared. Fewer, and a pooler that is busy with other clients may not be
/// detected; more, and each start takes more round trips: 22 with four. In 40 starts beside six busy
/// clients, the first comparison always detected it.
const ROUNDS: u32 = 4;

/// Fails if two connections do not have sessions of their own.
///
/// Each one changes a setting, and the first one must still have its value. A pooler that assigns the
/// session which was used last gives both the same; one that takes turns, or resets sessions, shows
/// the first connection no value.
pub(super) fn check_sessions(connection: &mut PgConnection, url: &str) -> ConnectionResult<()> {
    // The server may accept only one connection, which is enough to use it.
    let mut other = PgConnection::establish(url).ok();
    for round in 0..ROUNDS {
        let mark = RandomState::new().hash_one(round).to_string();
        set_mark(connection, &mark)?;
        if let Some(other) = &mut other {
            // One statement more in each round, so that taking turns does not match the rounds.
            for _ in 0..=round {
                set_mark(other, "another connection")?;
            }
        }
        let found = sql::<Nullable<Text>>("SELECT current_setting('robots.session', true)")
            .get_result::<Option<String>>(connection);
        match found {
            Ok(Some(found)) if found == mark => {}
            // The pooler may separate a statement from its preparation.
            Err(error) if connection.ping().is_err() => return Err(failed(error)),
            _ => return Err(detected()),
        }
    }
    Ok(())
}

/// Changes a setting of a session.
fn set_mark(connection: &mut PgConnection, mark: &str) -> ConnectionResult<()> {
    let set = format!("SET robots.session = '{mark}'");
    connection.batch_execute(&set).map_err(failed)
}

fn failed(error: diesel::result::Error) -> ConnectionError {
    ConnectionError::CouldntSetupConfiguration(error)
}

fn detected() -> ConnectionError {
    ConnectionError::BadConnection(format!(
        "the connection pooler in front of the server {DETECTED}"
    ))
}
