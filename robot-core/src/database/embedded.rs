//! A database in a file, worked on within this process: many connections that read, and one
//! that writes.

use std::sync::Arc;

use diesel::{
    QueryResult,
    r2d2::{self, ManageConnection, NopErrorHandler, R2D2Connection},
};

use super::{
    cache::Cache,
    connection::{AnyConnection, Location, Purpose},
    failure::{classify, no_connection},
    in_place::InPlace,
    migrations, queries,
    writer::{Work, Writer},
};
use crate::{
    catalogue::Change,
    error::{OpenError, Result},
    open::{OpenOptions, WhenMissing},
    pending::Pending,
    restoration::Restoration,
    robot::{Robot, RobotId},
};

/// A database in a file.
pub(super) struct Embedded {
    readers: r2d2::Pool<ReaderManager>,
    in_place: InPlace,
    writer: Writer,
    /// Not where the system does not let it be known what others commit.
    pub(super) cache: Option<Arc<Cache>>,
}

impl Embedded {
    pub(super) fn open(location: &Location, options: &OpenOptions) -> Result<Self, OpenError> {
        let mut first = match options.when_missing {
            WhenMissing::Create => location.connect(Purpose::Opening)?,
            WhenMissing::Fail => {
                location.must_exist()?;
                location.connect(Purpose::Writing)?
            }
        };
        migrations::bring_up_to_date(&mut first, location)?;
        // From now on, all others are connected to the file that the first is connected to.
        let files = location
            .files()
            .map_err(|error| location.refusal(error.into()))?;
        let readers = r2d2::Pool::builder()
            .max_size(options.pool_size())
            // A reader that is connected in the background as the program ends could keep the
            // last connection from putting the log away.
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_timeout(location.timeout)
            .error_handler(Box::new(NopErrorHandler))
            .build_unchecked(ReaderManager(location.clone()));
        let cache = Cache::of(location).map(Arc::new);
        if cache.is_none() {
            log::info!("{}: every robot is read from the file", location.name());
        }
        let writer = Writer::start(location, files, cache.clone())?;
        Ok(Self {
            readers,
            in_place: InPlace::new(location, options.reads_in_place()),
            writer,
            cache,
        })
    }

    /// Runs a query.
    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&mut AnyConnection) -> QueryResult<T>,
    ) -> Result<T> {
        let mut connection = self.readers.get().map_err(no_connection)?;
        query(&mut connection).map_err(classify)
    }

    /// Finds a robot.
    pub(super) fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.recall(id, || {
            let row = self.read(|connection| queries::get(connection, id))?;
            row.map(Robot::try_from).transpose()
        })
    }

    /// Finds a robot on the caller's thread, although that must not block; `None` where it cannot
    /// be done so.
    pub(super) fn get_in_place(&self, id: RobotId) -> Option<Result<Option<Robot>>> {
        let found = self.recall(id, || {
            let row = self
                .in_place
                .read(|connection| queries::get(connection, id));
            let row = row.ok_or(None)?.map_err(Some)?;
            row.map(Robot::try_from).transpose().map_err(Some)
        });
        match found {
            Ok(robot) => Some(Ok(robot)),
            Err(error) => Some(Err(error?)),
        }
    }

    fn recall<E>(
        &self,
        id: RobotId,
        find: impl FnOnce() -> Result<Option<Robot>, E>,
    ) -> Result<Option<Robot>, E> {
        match &self.cache {
            Some(cache) => cache.get(id, find),
            None => find(),
        }
    }

    /// Begins a change, which comes to its outcome when it is committed.
    pub(super) fn write(&self, change: Change) -> Pending<Result<RobotId>> {
        self.writer.write(Work::Change(change))
    }

    /// Begins to restore robots, which comes to the last id when it is committed.
    pub(super) fn restore(&self, restoration: Restoration) -> Pending<Result<RobotId>> {
        self.writer.write(Work::Restore(restoration))
    }
}

/// Connects readers. Diesel's own manager tries one backend after the other, and does not
/// tell why the right one failed.
#[derive(Debug)]
struct ReaderManager(Location);

impl ManageConnection for ReaderManager {
    type Connection = AnyConnection;
    type Error = OpenError;

    fn connect(&self) -> Result<AnyConnection, OpenError> {
        self.0.connect(Purpose::Reading)
    }

    fn is_valid(&self, connection: &mut AnyConnection) -> Result<(), OpenError> {
        connection
            .ping()
            .map_err(|error| self.0.refusal(error.into()))
    }

    fn has_broken(&self, connection: &mut AnyConnection) -> bool {
        std::thread::panicking() || connection.is_broken()
    }
}
