//! The catalogue on a database server, for every backend.

use super::{
    address::Address,
    backend::Backend,
    executor::{Executor, StatementKind},
};
use crate::{
    catalogue::{Catalogue, Change, OpenError, OpenOptions, PageRequest, Restoration, Result},
    database::{restore::restore, statements::without_nul},
    model::{Entry, Robot, RobotId, ValidChanges, ValidDraft},
};

/// A catalogue on a server.
pub(super) struct ServerStore<B: Backend> {
    executor: Executor<B>,
}

impl<B: Backend> ServerStore<B> {
    pub(super) fn open(url: &str, options: &OpenOptions) -> Result<Self, OpenError> {
        let address = Address::from_url(url, options)?;
        let executor = Executor::open(address, options)?;
        Ok(Self { executor })
    }

    fn write(&self, change: Change) -> Result<RobotId> {
        let statement = move |connection: &mut B| connection.apply(&change);
        self.executor.execute(StatementKind::Write, statement)?
    }

    fn read_page<T: Send + 'static>(
        &self,
        request: PageRequest<'_>,
        query: fn(&mut B, PageRequest<'_>) -> diesel::QueryResult<Vec<T>>,
    ) -> Result<Vec<T>> {
        let Some(request) = without_nul(request) else {
            return Ok(Vec::new());
        };
        let kind = if request.containing.is_empty() {
            StatementKind::LookUp
        } else {
            StatementKind::Scan
        };
        let containing = request.containing.to_owned();
        let after = request.after.to_owned();
        let limit = request.limit;
        self.executor.execute(kind, move |connection| {
            let request = PageRequest {
                containing: &containing,
                after: &after,
                limit,
            };
            query(connection, request)
        })
    }
}

impl<B: Backend> Catalogue for ServerStore<B> {
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
        let statement = move |connection: &mut B| connection.get(id);
        self.executor.execute(StatementKind::LookUp, statement)
    }

    fn find(&self, name: &str) -> Result<Option<Robot>> {
        if name.contains('\0') {
            return Ok(None);
        }
        let name = name.to_owned();
        let statement = move |connection: &mut B| connection.find(&name);
        self.executor.execute(StatementKind::LookUp, statement)
    }

    fn page(&self, request: PageRequest<'_>) -> Result<Vec<Robot>> {
        self.read_page(request, B::page)
    }

    fn entries(&self, request: PageRequest<'_>) -> Result<Vec<Entry>> {
        self.read_page(request, B::entries)
    }

    fn restore(&self, restoration: &Restoration) -> Result<()> {
        if restoration.is_empty() {
            return Ok(());
        }
        let restoration = restoration.clone();
        self.executor
            .execute(StatementKind::Restore, move |connection: &mut B| {
                connection.transaction(|connection| restore(connection, &restoration))
            })
    }

    fn last_id(&self) -> Result<Option<RobotId>> {
        let number = self.executor.execute(StatementKind::LookUp, B::last_id)?;
        Ok(RobotId::new(number))
    }
}
