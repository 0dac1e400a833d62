//! The catalogue on a database server, for every backend.

use std::{
    cell::Cell,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::Backend,
    batcher::Batcher,
    changes::{Changes, apply_all},
    connection::Connection,
    connector::Connector,
    errors::{MIGRATING, Meaning, meaning},
    kind::Kind,
    lookups::Lookups,
    pool::Pool,
    runtime::Runtime,
};
use crate::{
    catalogue::{
        Catalogue, Change, Error, Filter, OpenError, OpenOptions, Page, PageRequest, Pending,
        Redefinition, Restoration, Result, Room, Summary, ValueCount, redact,
    },
    database::{
        conditions::Part,
        define,
        errors::wrap,
        fragment::Fragment,
        refresher::Refresher,
        restore::restore,
        schema::{Group, own_text, summary, total, value_counts},
        search_text::{TextSearch, is_folded},
        statements::{
            Grouping, Item, after_name, count, find, foreign_columns, has_nul, ids, is_robot,
            last_id, page, unindexed,
        },
    },
    model::{Definition, Entry, Field, Revision, Robot, RobotId, fold},
};

/// How long dropping a store waits for the changes that were started. Shorter, and they may be lost; longer,
/// and a silent server delays the exit.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// The number of robots that are added to the search index together. Fewer, and searches compare those of other
/// programs for longer; more, and changes wait longer for the rows.
const INDEX_BATCH: i64 = 4000;

/// How long no robots are added to the search index after the server has rejected that, because it can only be read.
/// Longer, and searches are slower for longer after a failover.
const READ_ONLY_PAUSE: Duration = Duration::from_secs(60);

/// The number of bytes of own values from which queries limit those of a page. Lower, and more catalogues have such
/// queries, which take up to three times as long on MariaDB; higher, and a page may take more memory while it is read.
const LONG_VALUES: usize = 4096;

/// A catalogue on a server.
pub(super) struct ServerStore<B: Backend> {
    lookups: Batcher<B, Lookups>,
    changes: Batcher<B, Changes>,
    pool: Arc<Pool<B>>,
    /// Whether a robot has long values, as far as pages have shown, once it is known.
    has_long_values: OnceLock<AtomicBool>,
    refresher: Option<Refresher>,
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
        let changes = Changes {
            timeout: connector.timeout,
            definition: Arc::clone(&connector.definition),
        };
        let pool = Pool::new("tasks", (2 * quarter).max(2), &connector);
        let refresher = {
            let (pool, handle) = (Arc::clone(&pool), handle.clone());
            let pause = Cell::new(Instant::now());
            Refresher::start(move || handle.block_on(refresh(&pool, &pause)))
        };
        let refresher = refresher.map_err(unusable)?;
        Ok(Self {
            refresher: Some(refresher),
            lookups: Batcher::new(Lookups, quarter.max(1), &connector, handle),
            changes: Batcher::new(changes, quarter.max(2), &connector, handle),
            pool,
            has_long_values: OnceLock::new(),
            runtime,
        })
    }

    /// Executes statements on the thread of the caller.
    fn execute<T>(
        &self,
        kind: Kind,
        statements: impl AsyncFn(&mut Connection<B>) -> QueryResult<T>,
    ) -> Result<T> {
        self.runtime.wait(self.pool.execute(kind, statements))
    }

    /// Executes a statement for each part of a list, with the text of a filter. If there are several, they read the
    /// same snapshot.
    fn search<T>(
        &self,
        kind: Kind,
        filter: &Filter,
        parts: &[Part],
        statement: &impl AsyncFn(&mut B, Option<Fragment<'_>>) -> QueryResult<T>,
    ) -> Result<T> {
        let run = async |connection: &mut B| {
            let text = TextSearch::new(connection, filter).await?;
            let condition = text.as_ref().map(TextSearch::condition::<B>);
            statement(connection, condition).await
        };
        self.execute(kind, async |connection| {
            if parts.len() == 1 && !is_folded(filter) {
                return run(&mut connection.inner).await;
            }
            connection.inner.batch(B::BEGIN_SNAPSHOT).await?;
            let result = run(&mut connection.inner).await;
            connection.end(result).await
        })
    }

    /// Reads a page of robots or entries.
    fn read_page<T: Item>(
        &self,
        request: PageRequest<'_>,
        has_own_values: bool,
    ) -> Result<Page<T>> {
        if has_nul(request.filter) {
            return Ok(request.room().page(Vec::new()));
        }
        let cursor = &request.cursor.defined_by(&self.definition());
        let request = PageRequest { cursor, ..request };
        let parts = Part::after(cursor, request.filter);
        let read = async |connection: &mut B, condition: Option<Fragment<'_>>| {
            let mut room = Room {
                has_own_values,
                ..request.room()
            };
            let found = page(connection, request, condition, &mut room).await;
            Ok(room.page(found?))
        };
        self.search(page_kind(request), request.filter, parts, &read)
    }

    /// Whether a robot has long values. The first call looks for one; later ones know those that pages had.
    fn has_long_values(&self) -> Result<&AtomicBool> {
        if let Some(known) = self.has_long_values.get() {
            return Ok(known);
        }
        let found = self.execute(Kind::Scan, async |connection| {
            let is_long = format!("octet_length(robots.own) > {LONG_VALUES}");
            ids(&mut connection.inner, Fragment::new(is_long), 1).await
        })?;
        let found = AtomicBool::new(!found.is_empty());
        Ok(self.has_long_values.get_or_init(|| found))
    }

    fn read_count(&self, filter: &Filter, grouping: Grouping) -> Result<Vec<Group>> {
        if has_nul(filter) {
            return Ok(Vec::new());
        }
        let read = async |connection: &mut B, condition: Option<Fragment<'_>>| {
            count(connection, filter, condition, grouping).await
        };
        self.search(Kind::Scan, filter, &[Part::All], &read)
    }
}

/// Adds robots without a search text to the search index, unless they were changed.
async fn index<B: Backend>(
    connection: &mut B,
    definition: &Definition,
    robots: &[Robot],
) -> QueryResult<()> {
    for robot in robots {
        let update = Fragment::new("UPDATE robots SET search_text = ").text(fold(robot.name()));
        let update = match own_text(definition, |field| robot.value_of(field)) {
            Some(own) => update.sql(", own_text = ").text(own),
            None => update.sql(", own_text = NULL"),
        };
        let update = update.sql(" WHERE search_text IS NULL AND ");
        let is_unchanged = is_robot(robot.id(), Some(robot.revision()));
        connection.change(update.then(is_unchanged)).await?;
    }
    Ok(())
}

/// Reads the definition, which another process may have changed, and adds robots to the search index that other
/// programs have added, or whose own values were changed. It adds
/// none before the end of a pause.
async fn refresh<B: Backend>(pool: &Arc<Pool<B>>, pause: &Cell<Instant>) {
    if pool.connector.has_outage() {
        return;
    }
    let known = &pool.connector.definition;
    let refresh = async |connection: &mut Connection<B>| known.refresh(&mut connection.inner).await;
    let refreshed = pool.execute(Kind::Page, refresh);
    if refreshed.await.is_err() || Instant::now() < pause.get() {
        return;
    }
    let index_all = async |connection: &mut Connection<B>| {
        let robots = unindexed(&mut connection.inner, INDEX_BATCH).await?;
        if robots.is_empty() {
            return Ok(());
        }
        // The definition may have changed before the robots were read.
        known.refresh(&mut connection.inner).await?;
        let definition = known.get();
        connection.begin().await?;
        let indexed = index(&mut connection.inner, &definition, &robots).await;
        match connection.end(indexed).await {
            // As an error, it would replace the connections.
            Err(error) if meaning(&error) == Some(Meaning::ReadOnly) => {
                pause.set(Instant::now() + READ_ONLY_PAUSE);
                Ok(())
            }
            result => result,
        }
    };
    let _ = pool.execute(Kind::Write, index_all).await;
}

/// Locks out other processes that change tables.
pub(super) async fn lock_tables<B: Backend>(connection: &mut B, lock: &str) -> QueryResult<()> {
    if connection.texts(lock).await? == ["1"] {
        return Ok(());
    }
    Err(wrap(Error::unavailable(MIGRATING)))
}

/// Changes the definition on a server whose changes of tables are no part of transactions. If it ends between two
/// steps, opening the catalogue repairs the indexes.
async fn define_step_by_step<B: Backend>(
    connection: &mut Connection<B>,
    redefinition: &Redefinition,
) -> QueryResult<Definition> {
    let present = define::prepare(&mut connection.inner, redefinition).await?;
    connection.begin().await?;
    let stored = define::store(&mut connection.inner, redefinition, &present).await;
    let definition = connection.end(stored).await?;
    // The definition is stored.
    if let Err(error) = define::drop_indexes(&mut connection.inner, &definition).await {
        tracing::warn!(
            "indexes of earlier definitions stay until the next start, and may reject values: {error}"
        );
    }
    Ok(definition)
}

fn page_kind(request: PageRequest<'_>) -> Kind {
    match after_name(request) {
        Some(_) if request.filter.containing.is_empty() => Kind::Page,
        _ => Kind::Scan,
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
    fn start(&self, change: Change) -> Pending<Result<RobotId>> {
        self.changes.submit(change)
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
            .wait(self.lookups.pool.execute(Kind::Lookup, found))
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Page<Robot>> {
        if let Some(page) = request.of_ids(|request| self.page(request)) {
            return page;
        }
        // A definition that was changed may have had own fields.
        if self.definition().revision() == Revision::FIRST {
            return self.read_page(request, false);
        }
        let has_long_values = self.has_long_values()?;
        let page = self.read_page(request, has_long_values.load(Ordering::Relaxed))?;
        let count = page.items.len();
        if count < request.limit && !page.is_last && request.max_bytes / count.max(1) > LONG_VALUES
        {
            has_long_values.store(true, Ordering::Relaxed);
        }
        Ok(page)
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Page<Entry>> {
        if request.filter.ids().is_some() {
            return Ok(self.page(request)?.map(Entry::from));
        }
        self.read_page(request, false)
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        self.read_count(filter, Grouping::All).map(total)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        self.read_count(filter, Grouping::ByTypeAndYear)
            .map(summary)
    }

    fn value_counts(&self, filter: &Filter, field: Field) -> Result<Vec<ValueCount>> {
        let groups = self.read_count(filter, Grouping::By(field))?;
        Ok(value_counts(field, groups))
    }

    fn definition(&self) -> Arc<Definition> {
        self.pool.connector.definition.get()
    }

    fn define(&self, redefinition: Redefinition) -> Result<Arc<Definition>> {
        let before = self.definition();
        let defined = self.execute(Kind::Write, async |connection| {
            if let Some((lock, unlock)) = B::TABLE_LOCK {
                lock_tables(&mut connection.inner, lock).await?;
                let defined = define_step_by_step(connection, &redefinition).await;
                connection.inner.texts(unlock).await?;
                return defined;
            }
            connection.begin().await?;
            // One at a time: the locks of several that create indexes would exclude each other.
            let lock = "SELECT id FROM robots_definition WHERE id = 1 FOR UPDATE";
            let defined = async |connection: &mut B| {
                connection.batch(lock).await?;
                define::define(connection, &redefinition).await
            };
            let defined = defined(&mut connection.inner).await;
            connection.end(defined).await
        })?;
        self.pool.connector.definition.set(Arc::new(defined));
        let defined = self.definition();
        // Robots that were stored meanwhile have the search text of the earlier definition.
        let _ = self.execute(Kind::Write, async |connection| {
            define::reset_search(&mut connection.inner, &before, &defined).await
        });
        Ok(defined)
    }

    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.execute(Kind::Write, async |connection| {
            let deadline =
                Instant::now() + Kind::Write.statement_limit(self.pool.connector.timeout);
            apply_all(connection, &self.definition(), &changes, deadline).await
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.is_empty() {
            return Ok(());
        }
        self.execute(Kind::Write, async |connection| {
            connection.begin().await?;
            let result = restore(&mut connection.inner, &self.definition(), restoration).await;
            connection.end(result).await
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let last = self.execute(Kind::Page, async |connection| {
            last_id(&mut connection.inner).await
        });
        last.map(RobotId::new)
    }

    fn foreign_columns(&self) -> Result<Vec<String>> {
        self.execute(Kind::Page, async |connection| {
            foreign_columns(&mut connection.inner).await
        })
    }
}
