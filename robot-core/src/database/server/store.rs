//! The catalogue on a database server, for every backend.

use std::{
    sync::Arc,
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
    lookups::{Key, Lookups},
    pool::{Kind, Pool},
    runtime::Runtime,
};
use crate::{
    catalogue::{
        Catalogue, Change, Filter, OpenError, OpenOptions, PageRequest, Pending, Restoration,
        Result, Summary, redact,
    },
    database::{
        fragment::Fragment,
        restore::restore,
        schema::summary,
        search_text::TextSearch,
        statements::{after_name, has_nul},
    },
    model::{Entry, Robot, RobotId},
};

/// How long dropping a store waits for the changes that were started. Shorter, and they may be lost; longer,
/// and a silent server delays the exit.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(2);

/// A catalogue on a server.
pub(super) struct ServerStore<B: Backend> {
    lookups: Batcher<B, Lookups>,
    changes: Batcher<B, Changes>,
    pool: Pool<B>,
    runtime: Runtime,
}

impl<B: Backend> ServerStore<B> {
    pub(super) fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let runtime = Runtime::new(options).map_err(|error| OpenError::Unusable {
            database: redact(url),
            remedy: "let the process have more threads and files",
            cause: Arc::new(error),
        })?;
        let handle = runtime.handle();
        let connector = Arc::new(runtime.wait(Connector::open(url, options, handle))?);
        let timeout = options.get_timeout();
        // Half of them for scans, of which each may take seconds. With two, items that are executed
        // alone leave one to the others.
        let quarter = options.get_connections() as usize / 4;
        Ok(Self {
            lookups: Batcher::new(Lookups { timeout }, quarter.max(1), &connector, handle),
            changes: Batcher::new(Changes { timeout }, quarter.max(2), &connector, handle),
            pool: Pool::new((2 * quarter).max(2), &connector),
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

    /// Executes a statement that has the text of a filter. If that is folded, other rows are read before, in the
    /// same snapshot.
    fn search<T: Default>(
        &self,
        kind: Kind,
        filter: &Filter,
        statement: &impl AsyncFn(&mut B, Option<Fragment<'_>>) -> QueryResult<T>,
    ) -> Result<T> {
        if has_nul(filter) {
            return Ok(T::default());
        }
        let run = async |connection: &mut B| {
            let text = TextSearch::new(connection, filter).await?;
            let condition = text.as_ref().map(TextSearch::condition::<B>);
            statement(connection, condition).await
        };
        self.execute(kind, async |connection| {
            if !filter.is_folded() {
                return run(connection.inner()).await;
            }
            connection.begin_snapshot().await?;
            let result = run(connection.inner()).await;
            connection.end(result).await
        })
    }
}

fn page_kind(request: PageRequest<'_>) -> Kind {
    match after_name(request) {
        Some(_) if request.filter.get_containing().is_empty() => Kind::Page,
        _ => Kind::Scan,
    }
}

impl<B: Backend> Drop for ServerStore<B> {
    /// A runtime of the store ends with it, so that what was started is completed before.
    fn drop(&mut self) {
        let deadline = Instant::now() + SHUTDOWN_LIMIT;
        while self.runtime.is_own()
            && !(self.lookups.is_idle() && self.changes.is_idle())
            && Instant::now() < deadline
        {
            thread::sleep(Duration::from_millis(2));
        }
        let _context = self.runtime.handle().enter();
        self.lookups.close();
        self.changes.close();
        self.pool.close();
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
        self.search(
            page_kind(request),
            request.filter,
            &async |connection, condition| connection.page(request, condition).await,
        )
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        self.search(
            page_kind(request),
            request.filter,
            &async |connection, condition| connection.entries(request, condition).await,
        )
    }

    fn count(&self, filter: &Filter) -> Result<u64> {
        let count = self.search(Kind::Scan, filter, &async |connection, condition| {
            connection.count(filter, condition).await
        });
        count.map(i64::unsigned_abs)
    }

    fn summary(&self, filter: &Filter) -> Result<Summary> {
        let groups = self.search(Kind::Scan, filter, &async |connection, condition| {
            connection.summary(filter, condition).await
        });
        groups.map(summary)
    }

    fn apply_all(&self, changes: Vec<Change>) -> Result<Vec<RobotId>> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        self.execute(Kind::Write, async |connection| {
            let deadline = Instant::now() + self.pool.limit(Kind::Write);
            apply_all(connection, &changes, deadline).await
        })
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.is_empty() {
            return Ok(());
        }
        self.execute(Kind::Write, async |connection| {
            connection.begin().await?;
            let result = restore(connection.inner(), restoration).await;
            connection.end(result).await
        })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let last = self.execute(Kind::Page, async |connection| {
            connection.inner().last_id().await
        });
        last.map(RobotId::new)
    }
}
