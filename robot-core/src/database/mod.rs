//! The store in a database, through Diesel: one implementation for every backend compiled in.
//!
//! What differs between backends stands in one place each: how a connection is made and set
//! up in a module of the backend's name, how a row is inserted and how a substring is looked
//! for in [`queries`]. The backends' types and constraints are in their migrations.

mod connection;
mod failure;
mod migrations;
mod queries;
mod schema;
mod sqlite;
mod writer;

use crate::{
    catalogue::{Catalogue, PageRequest},
    error::{Error, OpenError, Result},
    robot::{Robot, RobotId},
    rules::{ValidChanges, ValidDraft},
};
use connection::{AnyConnection, Location, Purpose, Readers};
use writer::Writer;

/// A catalogue in a database: SQLite (feature `sqlite`).
///
/// Reads and writes have connections of their own, so that a read never waits for a write.
/// A write is on disk before it is answered. Several processes may use one database at once.
///
/// ```
/// use robot_core::{Catalogue, DatabaseCatalogue, Draft};
///
/// let folder = tempfile::tempdir()?;
/// let url = format!("sqlite://{}/robots.db", folder.path().display());
///
/// let id = DatabaseCatalogue::open(&url)?.add(Draft::new("Marvin", "droid", 1978))?.id();
/// let robot = DatabaseCatalogue::open(&url)?.get(id)?;
/// assert_eq!(robot.map(|robot| robot.year()), Some(1978));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DatabaseCatalogue {
    readers: Readers,
    writer: Writer,
}

impl DatabaseCatalogue {
    /// Opens the database that a URL names (see [`open`](crate::open)), creates it where it
    /// does not exist yet, and brings its tables up to date.
    ///
    /// # Errors
    /// An [`OpenError`] whose message names the remedy.
    pub fn open(url: &str) -> Result<Self, OpenError> {
        let location = Location::parse(url)?;
        let mut first = location
            .connect(Purpose::Opening)
            .map_err(|error| location.refusal(error.into()))?;
        migrations::bring_up_to_date(&mut first, &location)?;
        Ok(Self {
            readers: location.readers(),
            writer: Writer::start(first, location.clone())
                .map_err(|error| location.refusal(error.into()))?,
        })
    }

    fn read<T>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> diesel::QueryResult<T>,
    ) -> Result<T> {
        let mut connection = self.readers.get().map_err(failure::no_connection)?;
        query(&mut connection).map_err(failure::classify)
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
        let (number, draft) = self.writer.write(|connection| {
            let number = queries::insert(connection, &draft)?;
            Ok((number, draft))
        })?;
        let id =
            RobotId::new(number).ok_or_else(|| Error::store("the store gave an id below 1"))?;
        Ok(draft.with_id(id))
    }

    fn update(&self, id: RobotId, changes: ValidChanges) -> Result<()> {
        let rows = self
            .writer
            .write(move |connection| queries::update(connection, id, &changes))?;
        one_row(rows, id)
    }

    fn delete(&self, id: RobotId) -> Result<()> {
        let rows = self
            .writer
            .write(move |connection| queries::delete(connection, id))?;
        one_row(rows, id)
    }

    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        let row = self.read(|connection| queries::get(connection, id))?;
        row.map(Robot::try_from).transpose()
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let row = self.read(|connection| queries::find(connection, name))?;
        row.map(Robot::try_from).transpose()
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        let rows = self.read(|connection| queries::page(connection, request))?;
        rows.into_iter().map(Robot::try_from).collect()
    }
}

fn one_row(rows: usize, id: RobotId) -> Result<()> {
    if rows == 0 {
        return Err(Error::NotFound(id));
    }
    Ok(())
}
