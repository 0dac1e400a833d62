//! The catalogue on a database server, for every backend.

use std::{
    cell::Cell,
    io, slice,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::Backend,
    batcher::Batcher,
    changes::ChangeWork,
    connection::Connection,
    connector::Connector,
    define::define,
    errors::{ErrorClass, meaning},
    lookups::Lookups,
    operation::Operation,
    pool::Pool,
    runtime::Runtime,
    upkeep::keep_up,
};
use crate::{
    catalogue::{
        Authored, Catalogue, Change, Changes, Commit, Count, Event, Extent, Filter, FrequentValues,
        OpenError, OpenOptions, Page, PageRequest, Pending, Position, Receipt, Redefinition,
        Restoration, Result, Retention, redact,
    },
    database::{
        conditions::ValueGroup,
        fragment::Fragment,
        history,
        refresher::{self, REFRESH_INTERVAL},
        restore::restore,
        search_text::{TextSearch, is_folded},
        statements::{
            after_name, check_current, counts, find, foreign_columns, has_nul, last_id, page,
        },
    },
    model::{Definition, Field, Revision, Robot, RobotId},
    repeater::Repeater,
};

/// How long dropping a store waits for the changes that were started. Shorter, and they may be lost; longer,
/// and a silent server delays the exit.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// How long nothing is added to the search index after that has failed, perhaps because the server can only be read.
/// Longer, and searches are slower for longer after a failover.
const WORK_PAUSE: Duration = Duration::from_secs(60);

/// A query reads this many times as many robots as fit into its page, if they are as large as those of the last page.
/// Lower, and pages are short after one with larger robots; higher, and they take more memory before smaller ones.
const SIZE_FACTOR: usize = 4;

/// A catalogue on a server.
pub(super) struct ServerStore<B: Backend> {
    lookups: Batcher<B, Lookups>,
    changes: Batcher<B, ChangeWork>,
    pool: Arc<Pool<B>>,
    /// The average number of bytes of the robots of the last page.
    robot_size: AtomicUsize,
    refresher: Option<Repeater>,
    runtime: Runtime,
}

impl<B: Backend> ServerStore<B> {
    pub(super) fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let unusable = |error: io::Error| OpenError::Unusable {
            database: redact(url),
            remedy: "let the process have more threads and files",
            cause: Arc::new(error),
        };
        let runtime = Runtime::new(options).map_err(unusable)?;
        let handle = &runtime.handle;
        let connector = Arc::new(runtime.wait(Connector::open(url, options))?);
        // Half of them for scans, of which each may take seconds. With two, items that are executed
        // alone leave one to the others.
        let quarter = options.get_connections() as usize / 4;
        let changes = ChangeWork::new(&connector);
        let pool = Pool::new("tasks", (2 * quarter).max(2), &connector);
        let refresher = {
            let (pool, handle) = (Arc::clone(&pool), handle.clone());
            let pause = Cell::new(Instant::now());
            refresher::start(move || handle.block_on(refresh(&pool, &pause)))
        };
        let refresher = refresher.map_err(unusable)?;
        Ok(Self {
            refresher: Some(refresher),
            lookups: Batcher::new(Lookups, quarter.max(1), &connector, handle),
            changes: Batcher::new(changes, quarter.max(2), &connector, handle),
            pool,
            robot_size: AtomicUsize::new(0),
            runtime,
        })
    }

    /// Executes statements on the thread of the caller.
    fn execute<T>(
        &self,
        operation: Operation,
        statements: impl AsyncFn(&mut Connection<B>) -> QueryResult<T>,
    ) -> Result<T> {
        self.runtime.wait(self.pool.execute(operation, statements))
    }

    /// Executes a statement for each part of a list, with the text of a filter. If there are several, they read the
    /// same snapshot.
    fn search<T>(
        &self,
        operation: Operation,
        filter: &Filter,
        parts: &[ValueGroup],
        statement: &impl AsyncFn(&mut B, Option<Fragment<'_>>) -> QueryResult<T>,
    ) -> Result<T> {
        let run = async |connection: &mut B| {
            let text = TextSearch::new(connection, filter).await?;
            let condition = text.as_ref().map(TextSearch::condition::<B>);
            statement(connection, condition).await
        };
        if parts.len() == 1 && !is_folded(filter) {
            let one = async |connection: &mut Connection<B>| run(&mut connection.inner).await;
            return self.execute(operation, one);
        }
        self.snapshot(operation, &run)
    }

    /// Executes statements that read the same snapshot.
    fn snapshot<T>(
        &self,
        operation: Operation,
        statements: &impl AsyncFn(&mut B) -> QueryResult<T>,
    ) -> Result<T> {
        self.execute(operation, async |connection| {
            connection.inner.batch(B::BEGIN_SNAPSHOT).await?;
            let result = statements(&mut connection.inner).await;
            connection.end(result).await
        })
    }

    /// Waits until the changes up to a revision survive a crash of the database, unless it can only be read.
    fn make_durable(&self, revision: i64) -> Result<()> {
        let durable = &self.pool.connector.durable;
        if B::FLUSH.is_empty() || revision <= durable.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.execute(Operation::Page, async |connection| {
            let flushed = connection.inner.batch(B::FLUSH).await;
            flushed.or_else(|error| match meaning(&error) {
                Some(ErrorClass::ReadOnly | ErrorClass::Denied | ErrorClass::DiskFull) => Ok(()),
                _ => Err(error),
            })
        })?;
        durable.fetch_max(revision, Ordering::Relaxed);
        Ok(())
    }

    fn counted(&self, filter: &Filter, by: &[Field], limit: Option<usize>) -> Result<Vec<Count>> {
        if has_nul(filter) {
            return Ok(Vec::new());
        }
        let read = async |connection: &mut B, condition: Option<Fragment<'_>>| {
            counts(connection, filter, condition, by, limit).await
        };
        self.search(Operation::Scan, filter, &[ValueGroup::All], &read)
    }

    fn read_page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        if has_nul(request.filter) {
            return Ok(request.room().page(Vec::new()));
        }
        let definition = &self.definition();
        let cursor = &request.cursor.resolved(definition);
        let request = PageRequest { cursor, ..request };
        let parts = ValueGroup::after(definition, cursor, request.filter);
        let read = async |connection: &mut B, condition: Option<Fragment<'_>>| {
            let mut room = request.room();
            let found = page(connection, definition, request, condition, &mut room, "").await;
            Ok(room.page(found?))
        };
        self.search(page_operation(request), request.filter, parts, &read)
    }
}

/// Reads the definition, which another process may have changed, and does what it leaves to do, but not before the end
/// of a pause. Returns whether more is to do.
async fn refresh<B: Backend>(pool: &Arc<Pool<B>>, pause: &Cell<Instant>) -> bool {
    if pool.connector.has_outage() {
        return false;
    }
    let known = &pool.connector.definition;
    let refresh = async |connection: &mut Connection<B>| known.refresh(&mut connection.inner).await;
    let refreshed = pool.execute(Operation::Page, refresh);
    if refreshed.await.is_err() || Instant::now() < pause.get() {
        return false;
    }
    keep_up(pool, REFRESH_INTERVAL).await.unwrap_or_else(|_| {
        pause.set(Instant::now() + WORK_PAUSE);
        false
    })
}

fn page_operation(request: PageRequest<'_>) -> Operation {
    match after_name(request) {
        Some(_) if request.filter.containing.is_empty() => Operation::Page,
        _ => Operation::Scan,
    }
}

impl<B: Backend> Drop for ServerStore<B> {
    /// A runtime of the store ends with it, so that what was started is completed before.
    fn drop(&mut self) {
        drop(self.refresher.take());
        let deadline = Instant::now() + SHUTDOWN_LIMIT;
        while self.runtime.own.is_some()
            && !(self.lookups.is_idle() && self.changes.is_idle())
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(2));
        }
        let _context = self.runtime.handle.enter();
        self.lookups.pool.close();
        self.changes.pool.close();
        self.pool.close();
    }
}

impl<B: Backend> Catalogue for ServerStore<B> {
    fn start(&self, change: Change, by: Option<&str>) -> Pending<Result<Receipt>> {
        self.changes.submit(Authored::new(change, by))
    }

    fn start_get(&self, id: RobotId) -> Pending<Result<Option<Robot>>> {
        self.lookups.submit(id)
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        if name.contains('\0') {
            return Ok(None);
        }
        let found = async |connection: &mut Connection<B>| find(&mut connection.inner, name).await;
        self.runtime
            .wait(self.lookups.pool.execute(Operation::Lookup, found))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        if let Some(page) = request.of_ids(|request| self.page(request)) {
            return page;
        }
        if request.has_names_only() {
            return self.read_page(request);
        }
        // Drivers read all rows of a query.
        let fitting = request.max_bytes / self.robot_size.load(Ordering::Relaxed).max(1);
        let limit = fitting.saturating_mul(SIZE_FACTOR).saturating_add(1);
        let limit = request.limit.min(limit);
        let page = self.read_page(PageRequest { limit, ..request })?;
        let bytes: usize = page.items.iter().map(Robot::size).sum();
        if let Some(size) = bytes.checked_div(page.items.len()) {
            self.robot_size.store(size, Ordering::Relaxed);
        }
        let revisions = page.items.iter().map(|robot| robot.revision().get());
        self.make_durable(revisions.max().unwrap_or(0))?;
        Ok(page)
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
        self.pool.connector.definition.get()
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        let connector = &self.pool.connector;
        let defined = self.execute(Operation::Define, async |connection| {
            define(connection, &redefinition, &connector.has_leftovers).await
        });
        let defined = defined.inspect_err(|_| {
            connector.has_leftovers.store(true, Ordering::Relaxed);
        });
        connector.definition.set(Arc::new(defined?));
        Ok(self.definition())
    }

    fn commit(&self, changes: Vec<Change>, by: Option<&str>) -> Result<Commit> {
        let work = ChangeWork::new(&self.pool.connector);
        let changes = changes.into_iter();
        let changes: Vec<_> = changes.map(|change| Authored::new(change, by)).collect();
        let changes: Vec<_> = changes.iter().collect();
        self.execute(Operation::Write, async |connection| {
            work.commit(connection, &changes).await
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.is_empty() {
            return Ok(());
        }
        self.execute(Operation::Write, async |connection| {
            connection.begin(B::LOCK_CATALOGUE).await?;
            let inner = &mut connection.inner;
            let result = async {
                self.pool.connector.definition.refresh(inner).await?;
                let definition = self.definition();
                check_current(inner, &definition).await?;
                restore(inner, &definition, restoration).await
            };
            let result = result.await;
            connection.end(result).await
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let last = self.execute(Operation::Page, async |connection| {
            last_id(&mut connection.inner).await
        });
        last.map(RobotId::new)
    }

    fn position(&self) -> Result<Position> {
        let position = self.execute(Operation::Page, async |connection| {
            history::position(&mut connection.inner).await
        });
        let (position, _) = position?;
        self.make_durable(position.revision())?;
        Ok(position)
    }

    fn changes(&self, after: &Position, extent: Extent, limit: usize) -> Result<Changes> {
        let changes = self.snapshot(Operation::Page, &async |connection: &mut B| {
            // What has changed may have values of fields that this process does not know.
            self.pool.connector.definition.refresh(connection).await?;
            history::changes(connection, after, extent, limit).await
        })?;
        self.make_durable(changes.next.revision())?;
        Ok(changes)
    }

    fn history(&self, id: RobotId, before: Option<Revision>, limit: usize) -> Result<Vec<Event>> {
        self.snapshot(Operation::Page, &async |connection: &mut B| {
            history::history(connection, id, before, limit).await
        })
    }

    fn prune(&self, keep: Retention) -> Result<u64> {
        let expired = self.execute(Operation::Page, async |connection| {
            history::expired(&mut connection.inner, keep).await
        })?;
        let Some(expired) = expired else {
            return Ok(0);
        };
        self.execute(Operation::Write, async |connection| {
            // Nobody waits until the last statement, which locks the catalogue.
            connection.begin("").await?;
            let pruned = history::prune(&mut connection.inner, expired).await;
            connection.end(pruned).await
        })?;
        Ok(expired.count)
    }

    fn foreign_columns(&self) -> Result<Vec<String>> {
        self.execute(Operation::Page, async |connection| {
            foreign_columns(&mut connection.inner).await
        })
    }
}
