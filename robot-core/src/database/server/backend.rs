//! Interface of a server backend: connecting, and the statements that server stores need.

use std::{future::Future, time::Duration};

use super::{
    connect_error::{ConnectError, UrlError},
    operation::Operation,
};
use crate::{
    catalogue::{Preparation, Receipt},
    database::{dialect::Dialect, migrations::MigrationError},
    model::{Definition, Robot, ValidChanges},
};
use diesel::QueryResult;
use diesel_async::AsyncConnection;

/// A connection to a kind of database server.
pub(super) trait Backend: Dialect + AsyncConnection + 'static {
    /// Where a database is.
    type Url: Send + Sync + 'static;

    /// The schemes of the URLs.
    const SCHEMES: &'static [&'static str];

    /// A URL, as an example for messages.
    const EXAMPLE: &'static str;

    /// What the operator can do about a server that cannot be used, unless its error says more.
    const REMEDY: &'static str;

    /// What the operator can do about a server whose TLS does not fit the URL.
    const TLS_REMEDY: &'static str;

    /// Parses a URL. Connections have the timeout of the catalogue.
    fn parse(url: &str, timeout: Duration) -> Result<Self::Url, UrlError>;

    /// Connects, and sets what the catalogue relies on.
    fn connect(url: &Self::Url) -> impl Future<Output = Result<Self, ConnectError>> + Send;

    /// As `connect`. Also checks what is between the server and this program, and the settings that a session
    /// cannot change.
    fn connect_first(url: &Self::Url) -> impl Future<Output = Result<Self, ConnectError>> + Send;

    /// Prepares the tables. Blocks the thread, which the runtime of the connection must not need.
    fn prepare(self, database: &str, preparation: Preparation) -> Result<Self, MigrationError>;

    /// Sets the time limits of the next statements, as far as the server has them. Those of a commit
    /// are not limited.
    fn set_limits(
        &mut self,
        operation: Operation,
        timeout: Duration,
    ) -> impl Future<Output = QueryResult<()>> + Send;

    /// Changes locked robots.
    fn update_all(
        &mut self,
        definition: &Definition,
        updates: &[(&Robot, &ValidChanges, Option<&str>)],
    ) -> impl Future<Output = QueryResult<Vec<Receipt>>> + Send;

    /// Begins a transaction that reads the database as it is at one moment.
    const BEGIN_SNAPSHOT: &'static str;

    /// A query by which a session tries to lock out other processes that change tables, which returns `1` if it has,
    /// and the query that unlocks.
    const TABLE_LOCK: (&'static str, &'static str);

    /// Lets other transactions that change robots wait until this one ends. It takes the locks of a statement that
    /// changes robots, in the order of that.
    const LOCK_CATALOGUE: &'static str;

    /// Stores the last revision of a transaction with a lock, if triggers have not stored it, and fails if the server has
    /// ended the transaction without saying so. Empty if neither is needed.
    const STORE_REVISION: &'static str = "";

    /// At the end of that statement, before the commit: forgets what the lock has set for the session.
    const FORGET_REVISION: &'static str = "";

    /// Rolls back a transaction, and forgets what its lock has set for the session.
    const ROLL_BACK: &'static str = "ROLLBACK";

    /// A statement after which everything that it could read is durable; empty if that is so without it.
    const FLUSH: &'static str = "";

    /// Sets a savepoint in a transaction with this lock, and goes back to it.
    const SAVEPOINT: [&'static str; 2] =
        ["SAVEPOINT before_part", "ROLLBACK TO SAVEPOINT before_part"];

    /// Whether a change of a robot without a transaction takes the locks in this order.
    const CHANGES_ALONE: bool = true;

    /// Locks out inserts and updates of this program until the transaction ends, and waits for those that have begun.
    const LOCK_WRITES: &'static str;
}
