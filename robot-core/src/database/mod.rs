//! The store in a database, through Diesel: one implementation for every backend compiled in.
//!
//! What differs between backends stands in one place each: how a connection is made and set
//! up in a module of the backend's name, how a row is inserted in [`queries`], and how a part of a
//! name is searched for in [`search`]. The backends' types and constraints are in their migrations.

#[cfg(feature = "sqlite")]
pub(crate) mod backup;
#[cfg(feature = "sqlite")]
mod cache;
mod connection;
#[cfg(feature = "sqlite")]
mod embedded;
mod failure;
#[cfg(feature = "sqlite")]
mod file;
#[cfg(feature = "sqlite")]
mod in_place;
mod migrations;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;
mod queries;
#[cfg(feature = "sqlite")]
mod queue;
mod restore;
mod schema;
mod search;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod server;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod session;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod sessions;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod trigrams;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod turnstile;
#[cfg(feature = "sqlite")]
mod wal_index;
#[cfg(feature = "sqlite")]
mod writer;

use std::sync::Arc;

#[cfg(any(feature = "postgres", feature = "mysql"))]
use diesel::Connection;
use diesel::QueryResult;

use crate::{
    catalogue::{Catalogue, Change},
    error::{Error, OpenError, Result},
    open::OpenOptions,
    pages::PageRequest,
    pending::Pending,
    restoration::Restoration,
    robot::{Entry, Robot, RobotId},
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
/// processes may use one database at once. Robots of an SQLite file that were read before are in memory
/// (131,072 at most, some 30 MiB), and are read anew when any process has changed them.
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
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use robot_core::{DatabaseCatalogue, OpenOptions};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// let catalogue = DatabaseCatalogue::open_with(&url, &OpenOptions::new().connections(2))?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// Reads a page. PostgreSQL takes no NUL, and no name has one. So what comes after a text
    /// with a NUL is what comes after its part before the NUL.
    fn read_page<T: Send + 'static>(
        &self,
        request: PageRequest<'_>,
        query: fn(&mut AnyConnection, PageRequest<'_>) -> QueryResult<Vec<T>>,
    ) -> Result<Vec<T>> {
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
            query(connection, request)
        };
        if request.containing.is_empty() {
            self.look_up(page)
        } else {
            self.scan(page)
        }
    }

    /// Restores robots, and waits until they are on disk.
    fn restore_all(&self, restoration: Restoration) -> Result<()> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.restore(restoration).wait().map(drop),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => {
                let restoration = Arc::new(restoration);
                server.execute(Task::Restore, move |connection| {
                    connection.transaction(|connection| restore::restore(connection, &restoration))
                })
            }
        }
    }

    /// Makes a change, and waits until it is on disk.
    fn write(&self, change: Change) -> Result<RobotId> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.write(change).wait(),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => server.execute(Task::Write, move |connection| {
                let number = queries::apply(connection, &change)?;
                Ok(changed(&change, number))
            })?,
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
        let id = self.write(Change::Insert(draft.clone()))?;
        Ok(draft.with_id(id))
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        self.write(Change::Update(id, changes)).map(drop)
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        self.write(Change::Delete(id)).map(drop)
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.get(id),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(server) => {
                let query = move |connection: &mut AnyConnection| queries::get(connection, id);
                let row = server.execute(Task::LookUp, query)?;
                row.map(Robot::try_from).transpose()
            }
        }
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        if name.contains('\0') {
            return Ok(None);
        }
        let name = name.to_owned();
        let row = self.look_up(move |connection| queries::find(connection, &name))?;
        row.map(Robot::try_from).transpose()
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        let rows = self.read_page(request, queries::page)?;
        rows.into_iter().map(Robot::try_from).collect()
    }

    fn restore(&self, robots: &[Robot], last_id: Option<RobotId>) -> Result<()> {
        let restoration = Restoration::new(robots, last_id)?;
        if restoration.last_number() == 0 {
            return Ok(());
        }
        self.restore_all(restoration)
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        self.look_up(restore::last_number).map(RobotId::new)
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        let rows = self.read_page(request, queries::entries)?;
        rows.into_iter().map(entry).collect()
    }

    fn begin(self: Arc<Self>, change: Change) -> Pending<Result<RobotId>> {
        match &self.engine {
            #[cfg(feature = "sqlite")]
            Engine::Embedded(embedded) => embedded.write(change),
            #[cfg(any(feature = "postgres", feature = "mysql"))]
            Engine::Server(_) => Pending::blocking(move || self.write(change)),
        }
    }

    fn begin_get(self: Arc<Self>, id: RobotId) -> Pending<Result<Option<Robot>>> {
        #[cfg(feature = "sqlite")]
        if let Engine::Embedded(embedded) = &self.engine
            && let Some(robot) = embedded.get_in_place(id)
        {
            return Pending::Ready(robot);
        }
        Pending::blocking(move || self.get(id))
    }
}

/// The entry of a row.
fn entry((number, name): (i64, String)) -> Result<Entry> {
    let id = RobotId::new(number);
    let id = id.ok_or_else(|| Error::store(format!("the row {number} holds no robot")))?;
    Ok(Entry::new(id, name))
}

/// The id of the robot that a change is of, from what its statement returned.
fn changed(change: &Change, number: Option<i64>) -> Result<RobotId> {
    match (number, change) {
        (Some(number), _) => given(number),
        (None, Change::Update(id, _) | Change::Delete(id)) => Err(Error::NotFound(*id)),
        (None, Change::Insert(_)) => Err(Error::store("the store gave no id")),
    }
}

/// The id of a number that a database gave.
fn given(number: i64) -> Result<RobotId> {
    RobotId::new(number).ok_or_else(|| Error::store("the store gave an id below 1"))
}
