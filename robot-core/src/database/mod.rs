//! The store in a database, through Diesel: one implementation for every backend compiled in.
//!
//! What differs between backends stands in one place each: how a connection is made and set
//! up in a module of the backend's name, how a row is inserted and how a substring is looked
//! for in [`queries`]. The backends' types and constraints are in their migrations.

mod connection;
#[cfg(feature = "sqlite")]
mod embedded;
mod failure;
mod migrations;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod queries;
mod schema;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod session;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod sessions;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod turnstile;
#[cfg(feature = "sqlite")]
mod writer;

use diesel::QueryResult;

use crate::{
    catalogue::{Catalogue, PageRequest},
    error::{Error, OpenError, Result},
    open::OpenOptions,
    robot::{Robot, RobotId},
    rules::{ValidChanges, ValidDraft},
};
use connection::{AnyConnection, Location, Residence};
#[cfg(feature = "sqlite")]
use embedded::Embedded;
#[cfg(any(feature = "postgres", feature = "mysql"))]
use server::{Server, Task};

/// A catalogue in a database: an SQLite file (feature `sqlite`), or on a PostgreSQL, MariaDB
/// or MySQL server (features `postgres` and `mysql`).
///
/// A write is on disk before it is answered, and a read never waits for a write. Any number of
/// processes may use one database at once; nothing is remembered between two calls.
///
/// A server may go away and come back: calls fail with [`Error::Unavailable`] meanwhile, or
/// with [`Error::Unknown`] where it went away in the middle of a write.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use robot_core::{Catalogue, DatabaseCatalogue, Draft};
///
/// let folder = tempfile::tempdir()?;
/// let url = format!("sqlite://{}/robots.db", folder.path().display());
///
/// let id = DatabaseCatalogue::open(&url)?.add(Draft::new("Marvin", "droid", 1978))?.id();
/// let robot = DatabaseCatalogue::open(&url)?.get(id)?;
/// assert_eq!(robot.map(|robot| robot.year()), Some(1978));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DatabaseCatalogue {
    engine: Engine,
}

/// Where the work is done.
enum Engine {
    #[cfg(feature = "sqlite")]
    Embedded(Embedded),
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    Server(Server),
}

impl DatabaseCatalogue {
    /// Opens the database that a URL names (see [`open`](crate::open)), creates what is missing,
    /// and brings its tables up to date.
    ///
    /// # Errors
    /// An [`OpenError`] whose message names the remedy.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        Self::open_with(url, &OpenOptions::new())
    }

    /// Opens a database as the options say.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let location = Location::parse(url, options)?;
        let engine = match location.residence() {
            #[cfg(feature = "sqlite")]
            Residence::Embedded => Engine::Embedded(Embedded::open(&location, options)?),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Residence::Server => Engine::Server(Server::open(location, options)?),
        };
        Ok(Self { engine })
    }

    /// Runs a query that follows an index.
    fn look_up<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Clone + Send + 'static,
    ) -> Result<T> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.read(query),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => server.execute(Task::LookUp, query),
        }
    }

    /// Runs a query that may have to look at every name.
    fn scan<T: Send + 'static>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Clone + Send + 'static,
    ) -> Result<T> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.read(query),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => server.execute(Task::Scan, query),
        }
    }

    /// Runs a statement that changes something, and waits until that is on disk.
    fn write<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&mut AnyConnection) -> QueryResult<T> + Clone + Send + 'static,
    ) -> Result<T> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.write(statement),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => server.execute(Task::Write, statement),
        }
    }
}

impl std::fmt::Debug for DatabaseCatalogue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("DatabaseCatalogue")
            .finish_non_exhaustive()
    }
}

impl Catalogue for DatabaseCatalogue {
    fn insert(&self, draft: ValidDraft) -> Result<Robot> {
        let (number, draft) = self.write(move |connection| {
            let number = queries::insert(connection, &draft)?;
            Ok((number, draft))
        })?;
        let id =
            RobotId::new(number).ok_or_else(|| Error::store("the store gave an id below 1"))?;
        Ok(draft.with_id(id))
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let rows = self.write(move |connection| queries::update(connection, id, &changes))?;
        one_row(rows, id)
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        let rows = self.write(move |connection| queries::delete(connection, id))?;
        one_row(rows, id)
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        let row = self.look_up(move |connection| queries::get(connection, id))?;
        row.map(Robot::try_from).transpose()
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        if name.contains('\0') {
            return Ok(None);
        }
        let name = name.to_owned();
        let row = self.look_up(move |connection| queries::find(connection, &name))?;
        row.map(Robot::try_from).transpose()
    }

    /// PostgreSQL takes no NUL, and no name has one. So what comes after a text with a NUL is
    /// what comes after its part before the NUL.
    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        if request.containing.contains('\0') {
            return Ok(Vec::new());
        }
        let containing = request.containing.to_owned();
        let after = request.after.split('\0').next().unwrap_or_default();
        let after = after.to_owned();
        let limit = request.limit;
        let page = move |connection: &mut AnyConnection| {
            let request = PageRequest {
                containing: &containing,
                after: &after,
                limit,
            };
            queries::page(connection, request)
        };
        let rows = if request.containing.is_empty() {
            self.look_up(page)?
        } else {
            self.scan(page)?
        };
        rows.into_iter().map(Robot::try_from).collect()
    }
}

fn one_row(rows: usize, id: RobotId) -> Result<()> {
    if rows == 0 {
        return Err(Error::NotFound(id));
    }
    Ok(())
}
