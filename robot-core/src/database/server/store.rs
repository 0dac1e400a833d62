//! The catalogue on a database server, for every backend.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

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
        Catalogue, Change, Error, Filter, OpenError, OpenOptions, PageItem, PageRequest, Pending,
        Restoration, Result, Summary,
    },
    database::{
        folded::{self, FoldedCount, needs_robots},
        restore::restore,
        schema::summary,
        statements::{Condition, CountQuery, PageQuery, after_name, has_nul},
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

    fn read_page<T: PageItem + Send + 'static>(
        &self,
        request: PageRequest<'_>,
        page: PageQuery<B, T>,
    ) -> Result<Vec<T>> {
        if has_nul(request.filter) {
            return Ok(Vec::new());
        }
        let filter = request.filter.simplified().into_owned();
        let has_no_text = filter.get_containing().is_empty();
        let kind = match after_name(PageRequest {
            filter: &filter,
            ..request
        }) {
            Some(_) if has_no_text => Kind::Page,
            _ => Kind::Scan,
        };
        let cursor = request.cursor.clone();
        let limit = request.limit;
        self.execute(kind, move |connection| {
            let request = PageRequest {
                filter: &filter,
                cursor: &cursor,
                limit,
            };
            match filter.folded_text() {
                Some(text) => connection.snapshot(|connection| {
                    let candidates = || B::may_contain_folded(&text);
                    folded::page(connection, request, &candidates, page)
                }),
                None => page(connection, request, contains::<B>(&filter)),
            }
        })
    }

    /// Counts the robots that meet a filter, or one that has a text to fold.
    fn read_counts<T: 'static, U: Default + Send + 'static>(
        &self,
        filter: &Filter,
        counts: CountQuery<B, T>,
        convert: fn(T) -> U,
        folded: FoldedCount<B, U>,
    ) -> Result<U> {
        if has_nul(filter) {
            return Ok(U::default());
        }
        let filter = filter.simplified().into_owned();
        self.execute(Kind::Scan, move |connection: &mut B| {
            match filter.folded_text() {
                Some(text) => connection.snapshot(|connection| {
                    let candidates = || B::may_contain_folded(&text);
                    folded(connection, &filter, &candidates)
                }),
                None => counts(connection, &filter, contains::<B>(&filter)).map(convert),
            }
        })
    }
}

/// The condition for the text of a filter.
fn contains<B: Backend>(filter: &Filter) -> Option<Condition<'_, B::Backend>> {
    let text = filter.get_containing();
    (!text.is_empty()).then(|| B::contains(text))
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
        if needs_robots(request) {
            let robots = self.page(request)?;
            return Ok(robots.into_iter().map(Entry::from).collect());
        }
        self.read_page(request, B::entries)
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        self.read_counts(filter, B::count, i64::unsigned_abs, folded::count)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        self.read_counts(filter, B::summary, summary, folded::summary)
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
