//! The catalogue in an SQLite file.

use std::{slice, sync::Arc, time::Instant};

use ::metrics::gauge;
use diesel::Connection;

use super::{
    connect::{DatabaseFile, InlineReads, Purpose, ReaderPool, enable_wal},
    search,
    statements::has_work,
    write::{Work, Writer},
};
use crate::{
    catalogue::{
        Authored, Catalogue, Change, Changes, Commit, Count, Error, Event, Extent, Filter,
        FrequentValues, OpenError, OpenOptions, Page, PageRequest, Pending, Position, Preparation,
        Receipt, Redefinition, Restoration, Result, Retention, Scheme,
    },
    database::{
        define::KnownDefinition,
        history, migrations, refresher,
        statements::{find, foreign_columns, get, has_nul, last_id, now},
    },
    files::StoreFiles,
    metrics::STORE_CONNECTIONS_LIMIT,
    model::{Definition, Field, Revision, Robot, RobotId},
    repeater::Repeater,
};

/// URLs of SQLite files.
pub(crate) const SCHEME: Scheme = Scheme {
    names: &["sqlite"],
    example: "sqlite://robots.db",
    open: |url, options| Ok(Arc::new(SqliteCatalogue::open(url, options)?)),
};

/// A catalogue in an SQLite file.
///
/// A write is on disk before its call returns, and reads do not wait for writes. Several processes
/// may use one file at the same time.
pub(super) struct SqliteCatalogue {
    reads: Arc<Reads>,
    definition: Arc<KnownDefinition>,
    /// `None` if the process may not write the file.
    writer: Option<Arc<Writer>>,
    /// Ends when it is dropped.
    refresher: Option<Repeater>,
    /// The database file.
    file: DatabaseFile,
}

/// The connections that read.
struct Reads {
    pool: ReaderPool,
    inline: InlineReads,
}

impl Reads {
    /// A look-up on a thread that may block.
    fn get(&self, id: RobotId) -> Result<Option<Robot>> {
        self.inline.moved.increment(1);
        self.pool.read(|connection| {
            let started = Instant::now();
            let robot = now(get(connection, id));
            self.inline.observe(started.elapsed());
            robot
        })
    }
}

impl SqliteCatalogue {
    /// Opens the file that a URL names, creates what is missing, and brings its tables up to date. A file
    /// that the process may not write can be read, and writes fail with [`Error::ReadOnly`].
    fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let preparation = options.preparation;
        let file = match preparation {
            Preparation::Keep => DatabaseFile::unchanged_from_url(url, options)?,
            _ => DatabaseFile::from_url(url, options)?,
        };
        // All connections are to the file that the first one has opened.
        let purpose = if file.is_read_only {
            file.pin()?;
            Purpose::Read
        } else if options.must_exist || preparation == Preparation::Keep {
            file.pin()?;
            Purpose::Write
        } else {
            file.pin_or_create()?;
            Purpose::Create
        };
        let mut first = file.reader(purpose)?;
        let connection = &mut first.connection;
        migrations::prepare(connection, &file.name(), preparation)
            .map_err(|error| file.cannot_open(error))?;
        file.pin()?;
        let definition = Arc::new(KnownDefinition::default());
        if !matches!(preparation, Preparation::Revert(_)) {
            let refreshed = now(definition.refresh(connection));
            refreshed.map_err(|cause| file.cannot_open(cause.into()))?;
        }
        let reading = |file| Self::reading(file, options, &definition);
        if matches!(preparation, Preparation::Keep | Preparation::Revert(_)) {
            return Ok(reading(file));
        }
        if file.is_read_only {
            // The command line does not show this target: each of its changes returns the same error.
            tracing::warn!(target: "robot_core::read_only", "{}", read_only(&file));
            return reading(file).refreshing();
        }
        enable_wal(connection, file.timeout).map_err(|cause| file.cannot_open(cause))?;
        Self {
            writer: Some(Arc::new(Writer::start(&file, &definition)?)),
            ..reading(file)
        }
        .refreshing()
    }

    /// A catalogue in a file that is only read.
    pub(super) fn reading(
        file: DatabaseFile,
        options: &OpenOptions,
        definition: &Arc<KnownDefinition>,
    ) -> Self {
        gauge!(STORE_CONNECTIONS_LIMIT.name).set(options.get_connections());
        Self {
            reads: Arc::new(Reads {
                pool: ReaderPool::new(&file, options.get_connections()),
                inline: InlineReads::new(&file, options.workers),
            }),
            definition: Arc::clone(definition),
            writer: None,
            refresher: None,
            file,
        }
    }

    /// Reads the definition.
    pub(super) fn refresh(&self) -> Result<()> {
        let (pool, definition) = (&self.reads.pool, &self.definition);
        pool.read(|connection| now(definition.refresh(connection)))
    }

    /// Reads the definition again and again, and lets the writer do what other programs have left to do.
    fn refreshing(mut self) -> Result<Self, OpenError> {
        let (reads, definition) = (Arc::clone(&self.reads), Arc::clone(&self.definition));
        let writer = self.writer.clone();
        let refresher = refresher::start(move || {
            let work = reads.pool.read(|connection| {
                now(definition.refresh(connection))?;
                has_work(connection)
            });
            // The next time, if the file is busy.
            if let (Ok(true), Some(writer)) = (work, &writer) {
                let _ = writer.submit(Work::Index).wait();
            }
            false
        });
        let refresher = refresher.map_err(|error| self.file.cannot_open(error.into()))?;
        self.refresher = Some(refresher);
        Ok(self)
    }

    fn counted(&self, filter: &Filter, by: &[Field], limit: Option<usize>) -> Result<Vec<Count>> {
        if has_nul(filter) {
            return Ok(Vec::new());
        }
        self.reads.pool.read(|connection| {
            connection.transaction(|connection| search::counts(connection, filter, by, limit))
        })
    }

    /// Queues work, unless the file is read-only.
    fn submit(&self, work: Work) -> Pending<Result<Commit>> {
        match &self.writer {
            Some(writer) => writer.submit(work),
            None => Pending::ready(Err(Error::read_only(read_only(&self.file)))),
        }
    }
}

impl Catalogue for SqliteCatalogue {
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        let commit = self.submit(Work::Change(Authored::new(change, by)));
        let no_receipt = || Error::unknown("no receipt");
        commit.map(move |commit| commit?.receipts.pop().ok_or_else(no_receipt))
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        let inline = &self.reads.inline;
        if let Some(robot) = inline.read(|connection| now(get(connection, id))) {
            return Pending::ready(Ok(robot));
        }
        let reads = Arc::clone(&self.reads);
        Pending::blocking(move || reads.get(id))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        let pool = &self.reads.pool;
        pool.read(|connection| now(find(connection, name)))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        if has_nul(request.filter) {
            return Ok(request.room().page(Vec::new()));
        }
        let definition = &self.definition.get();
        let cursor = &request.cursor.resolved(definition);
        let request = PageRequest { cursor, ..request };
        self.reads.pool.read(|connection| {
            let mut room = request.room();
            let found = search::page(connection, definition, request, &mut room)?;
            Ok(room.page(found))
        })
    }

    fn counts(&self, filter: &Filter, by: &[Field]) -> Result<Vec<Count>> {
        self.counted(filter, by, None)
    }

    fn frequent_values(
        &self,
        filter: &Filter,
        field: &Field,
        limit: usize,
    ) -> Result<FrequentValues> {
        FrequentValues::read(limit, |rows| {
            self.counted(filter, slice::from_ref(field), Some(rows))
        })
    }

    fn definition(&self) -> Arc<Definition> {
        self.definition.get()
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        self.submit(Work::Define(Box::new(redefinition))).wait()?;
        Ok(self.definition.get())
    }

    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        let changes = changes.into_iter();
        let changes = changes.map(|change| Authored::new(change, by));
        self.submit(Work::All(changes.collect())).wait()
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.last_id().is_none() {
            return Ok(());
        }
        let work = Work::Restore(restoration.clone());
        self.submit(work).wait().map(drop)
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let last = self.reads.pool.read(|connection| now(last_id(connection)));
        last.map(RobotId::new)
    }

    fn foreign_columns(&self) -> Result<Vec<String>> {
        let pool = &self.reads.pool;
        pool.read(|connection| now(foreign_columns(connection)))
    }

    fn position(&self) -> Result<Position> {
        let pool = &self.reads.pool;
        let position = pool.read(|connection| now(history::position(connection)));
        Ok(position?.0)
    }

    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        self.reads.pool.read(|connection| {
            connection.transaction(|connection| {
                // What has changed may have values of fields that this process does not know.
                now(self.definition.refresh(connection))?;
                now(history::changes(connection, after, extent, limit))
            })
        })
    }

    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        self.reads.pool.read(|connection| {
            connection
                .transaction(|connection| now(history::history(connection, id, before, limit)))
        })
    }

    fn prune(&self, keep: Retention) -> Result<u64> {
        let pool = &self.reads.pool;
        let expired = pool.read(|connection| now(history::expired(connection, keep)))?;
        let Some(expired) = expired else {
            return Ok(0);
        };
        self.submit(Work::Prune(expired)).wait()?;
        Ok(expired.count)
    }

    fn files(&self) -> StoreFiles {
        self.file.store_files()
    }
}

/// Why nothing can be stored.
fn read_only(file: &DatabaseFile) -> String {
    format!(
        "{} is read-only for this program; to change robots, make the file, those beside it and \
         their folder writable, and start the program again",
        file.name()
    )
}
