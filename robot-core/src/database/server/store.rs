//! The catalogue on a database server, for every backend.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    address::Address,
    backend::Backend,
    batcher::{BatchFailure, Batcher, transaction},
    changes::{Changes, apply_all},
    connector::Connector,
    lookups::{Key, Lookups},
    tasks::{Kind, Task, Tasks, Value},
    watchdog::Watchdog,
};
use crate::{
    catalogue::{
        Catalogue, Change, Error, Filter, OpenError, OpenOptions, PageRequest, Pending,
        Restoration, Result, Summary,
    },
    database::{
        restore::restore,
        schema::summary,
        search_text::TextSearch,
        statements::{CountQuery, PageQuery, after_name, has_nul},
    },
    model::{Entry, Robot, RobotId},
};

/// A catalogue on a server.
pub(super) struct ServerStore<B: Backend> {
    lookups: Batcher<B, Lookups>,
    changes: Batcher<B, Changes>,
    tasks: Batcher<B, Tasks>,
    timeout: Duration,
    /// Ends after the batchers.
    _watchdog: Watchdog,
}

impl<B: Backend> ServerStore<B> {
    pub(super) fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let address = Address::from_url(url, options)?;
        let connector = Arc::new(Connector::open(address.clone(), options)?);
        let timeout = options.get_timeout();
        // Half of them for scans, of which each may take seconds. With two, items that are executed
        // alone leave one to the others.
        let quarter = options.get_connections() as usize / 4;
        let alarm = Arc::default();
        let lookups = Batcher::new(Lookups { timeout }, quarter.max(1), &connector, &alarm);
        let changes = Batcher::new(Changes { timeout }, quarter.max(2), &connector, &alarm);
        let tasks = Batcher::new(Tasks { timeout }, (2 * quarter).max(2), &connector, &alarm);
        let supervised = vec![
            lookups.supervised(),
            changes.supervised(),
            tasks.supervised(),
        ];
        let watchdog = Watchdog::start(alarm, supervised)
            .map_err(|error| address.cannot_open(error.into()))?;
        Ok(Self {
            lookups,
            changes,
            tasks,
            timeout,
            _watchdog: watchdog,
        })
    }

    /// Executes a statement that is a transaction of its own.
    fn execute<T: Send + 'static, E: Into<BatchFailure>>(
        &self,
        kind: Kind,
        statement: impl Fn(&mut B) -> Result<T, E> + Send + 'static,
    ) -> Result<T> {
        let statement = move |connection: &mut B| -> Result<Value, BatchFailure> {
            Ok(Box::new(statement(connection).map_err(Into::into)?))
        };
        let task = Task {
            kind,
            statement: Box::new(statement),
        };
        let value = self.tasks.submit(task).wait()?.downcast();
        value
            .map(|value| *value)
            .map_err(|_| Error::store("the statement has a result of another type"))
    }

    fn read_page<T: Send + 'static>(
        &self,
        request: PageRequest<'_>,
        page: PageQuery<B, T>,
    ) -> Result<Vec<T>> {
        if has_nul(request.filter) {
            return Ok(Vec::new());
        }
        let kind = match after_name(request) {
            Some(_) if request.filter.get_containing().is_empty() => Kind::Page,
            _ => Kind::Scan,
        };
        let (filter, cursor, limit) = (
            request.filter.clone(),
            request.cursor.clone(),
            request.limit,
        );
        self.execute(kind, move |connection| {
            with_text(connection, &filter, |connection, text| {
                let request = PageRequest {
                    filter: &filter,
                    cursor: &cursor,
                    limit,
                };
                page(connection, request, text.map(TextSearch::condition::<B>))
            })
        })
    }

    /// Counts the robots that meet a filter.
    fn read_counts<T: Default + Send + 'static>(
        &self,
        filter: &Filter,
        counts: CountQuery<B, T>,
    ) -> Result<T> {
        if has_nul(filter) {
            return Ok(T::default());
        }
        let filter = filter.clone();
        self.execute(Kind::Scan, move |connection: &mut B| {
            with_text(connection, &filter, |connection, text| {
                counts(connection, &filter, text.map(TextSearch::condition::<B>))
            })
        })
    }
}

/// Executes a statement that has the text of a filter. If that is folded, other rows are read before, in the
/// same snapshot.
fn with_text<B: Backend, T>(
    connection: &mut B,
    filter: &Filter,
    statement: impl FnOnce(&mut B, Option<&TextSearch<'_>>) -> QueryResult<T>,
) -> QueryResult<T> {
    let run = |connection: &mut B| {
        let text = TextSearch::new(connection, filter)?;
        statement(connection, text.as_ref())
    };
    if filter.is_folded() {
        connection.snapshot(run)
    } else {
        run(connection)
    }
}

impl<B: Backend> Drop for ServerStore<B> {
    /// Closes the batchers together: dropping each of them waits for its workers.
    fn drop(&mut self) {
        self.lookups.close();
        self.changes.close();
        self.tasks.close();
    }
}

impl<B: Backend> Catalogue for ServerStore<B> {
    fn start(&self, change: Change) -> Pending<Result<RobotId>> {
        self.changes.submit(change)
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        self.lookups.submit(Key::Id(id))
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        if name.contains('\0') {
            return Ok(None);
        }
        self.lookups.submit(Key::Name(name.to_owned())).wait()
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.read_page(request, B::page)
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        self.read_page(request, B::entries)
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        self.read_counts(filter, B::count).map(i64::unsigned_abs)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        self.read_counts(filter, B::summary).map(summary)
    }

    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let tasks = Tasks {
            timeout: self.timeout,
        };
        let limit = tasks.limit(Kind::Write);
        self.execute(Kind::Write, move |connection: &mut B| {
            apply_all(connection, &changes, Instant::now() + limit)
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.is_empty() {
            return Ok(());
        }
        let restoration = restoration.clone();
        self.execute(Kind::Write, move |connection: &mut B| {
            transaction(connection, |connection| restore(connection, &restoration))
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let number = self.execute(Kind::Page, B::last_id)?;
        Ok(RobotId::new(number))
    }
}
