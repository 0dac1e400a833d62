//! Changes of the definition on a database server, in steps, while other clients are served: the indexes of the new
//! definition, the definition, then what it leaves to do. Robots are locked only while the definition is stored.

use std::{
    future::Future,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use diesel::{QueryResult, result::Error as DieselError};
use tokio::time::{sleep, timeout};

use super::{
    backend::Backend,
    connection::Connection,
    errors::{ErrorClass, MIGRATING, meaning},
    operation::LOCK_LIMIT,
};
use crate::{
    catalogue::{DefinitionConflict, Error, Redefinition},
    database::{
        define::{self, KnownDefinition},
        errors::wrap,
        execute::Execute,
    },
    model::{Definition, Field},
};

/// How long such a change may wait in all, and the creation of an index that blocks no client. Shorter, and a long
/// transaction of another program makes it fail; longer, and the client that wants the change waits for longer.
pub(super) const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// The pause before such a change is repeated, in which the others go on.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// The interval between two log lines about a long change of the table.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// How often statements are executed again that could not get a lock.
const LOCK_ATTEMPTS: u128 = LOCK_PATIENCE.as_millis() / LOCK_LIMIT.as_millis();

/// Whether a statement is repeated after an error, of so many attempts: after a pause, if the error is that of a lock.
async fn is_repeated(attempts: &mut u128, error: &DieselError) -> bool {
    let is_lock = matches!(
        meaning(error),
        Some(ErrorClass::Locked | ErrorClass::Busy | ErrorClass::Conflict)
    );
    let is_repeated = is_lock && *attempts > 0;
    if is_repeated {
        *attempts -= 1;
        sleep(LOCK_PAUSE).await;
    }
    is_repeated
}

/// Executes a statement as soon as it gets its locks. The log reports it if it takes long.
pub(super) async fn batch_patiently<C: Execute>(
    connection: &mut C,
    statement: &str,
) -> QueryResult<()> {
    let mut attempts = LOCK_ATTEMPTS;
    loop {
        match reported(statement, connection.batch(statement)).await {
            Err(error) if is_repeated(&mut attempts, &error).await => {}
            result => return result,
        }
    }
}

/// Executes a statement that may take long, which the log reports.
pub(super) async fn reported<T>(statement: &str, work: impl Future<Output = T>) -> T {
    let (mut work, started) = (pin!(work), Instant::now());
    loop {
        if let Ok(result) = timeout(LOG_INTERVAL, &mut work).await {
            return result;
        }
        let seconds = started.elapsed().as_secs();
        tracing::info!("still executing after {seconds} s: {statement}");
    }
}

/// Locks out other processes that change tables or the definition.
async fn lock_tables<B: Backend>(connection: &mut B) -> QueryResult<()> {
    let started = Instant::now();
    while connection.texts(B::TABLE_LOCK.0).await? != ["1"] {
        if started.elapsed() > LOCK_PATIENCE {
            return Err(wrap(Error::unavailable(MIGRATING)));
        }
        sleep(LOCK_PAUSE).await;
    }
    Ok(())
}

/// Unlocks. If this fails, the server unlocks when the session ends.
async fn unlock_tables<B: Backend>(connection: &mut Connection<B>) {
    let unlocked = connection.inner.texts(B::TABLE_LOCK.1).await;
    connection.is_broken |= unlocked.is_err();
}

/// Changes the definition. The indexes are then those of the definition, also if this fails; what cannot be dropped
/// now is left to [`keep_up`](super::upkeep::keep_up).
pub(super) async fn define<B: Backend>(
    connection: &mut Connection<B>,
    redefinition: &Redefinition,
    has_leftovers: &AtomicBool,
) -> QueryResult<Definition> {
    lock_tables(&mut connection.inner).await?;
    let defined = define_step_by_step(connection, redefinition, has_leftovers).await;
    let inner = &mut connection.inner;
    let cleaned = async {
        let present = define::read(inner).await?;
        define::drop_indexes(inner, &present).await
    };
    let cleaned = cleaned.await;
    has_leftovers.fetch_or(cleaned.is_err(), Ordering::Relaxed);
    unlock_tables(connection).await;
    defined
}

async fn define_step_by_step<B: Backend>(
    connection: &mut Connection<B>,
    redefinition: &Redefinition,
    has_leftovers: &AtomicBool,
) -> QueryResult<Definition> {
    let mut attempts = LOCK_ATTEMPTS;
    // What an earlier change has left could reject values, or take the place of new indexes.
    let present = define::read(&mut connection.inner).await?;
    while let Err(error) = define::drop_indexes(&mut connection.inner, &present).await {
        if !is_repeated(&mut attempts, &error).await {
            return Err(error);
        }
    }
    let inner = &mut connection.inner;
    let present = define::expected(inner, redefinition).await?;
    // An index of unique values might not permit those that are converted with the definition.
    let later: Vec<_> = redefinition.converted(&present).collect();
    let is_created = |field: &Field| !(field.is_unique() && later.contains(&field));
    // Before indexes are created for nothing.
    for (field, conflict) in redefinition.conflicts(&present) {
        if conflict != DefinitionConflict::HaveDuplicates || is_created(field) {
            define::check_conflict(inner, &present, field, conflict).await?;
        }
    }
    define::create_indexes(inner, &redefinition.definition, is_created).await?;
    let mut attempts = LOCK_ATTEMPTS;
    loop {
        // Before the place of the next step of rewriting, as such a step does.
        if let Err(error) = connection.begin(B::LOCK_WRITES).await {
            if is_repeated(&mut attempts, &error).await {
                continue;
            }
            return Err(error);
        }
        let stored = store(&mut connection.inner, redefinition, &present).await;
        match connection.end(stored).await {
            Err(error) if is_repeated(&mut attempts, &error).await => {}
            Ok(definition) => {
                let inner = &mut connection.inner;
                let created = define::create_indexes(inner, &definition, |_| true).await;
                has_leftovers.fetch_or(created.is_err(), Ordering::Relaxed);
                return Ok(definition);
            }
            error => return error,
        }
    }
}

/// Stores the definition in a transaction, unless robots exclude it that were changed since the indexes were created.
async fn store<B: Backend>(
    connection: &mut B,
    redefinition: &Redefinition,
    present: &Definition,
) -> QueryResult<Definition> {
    define::check(connection, redefinition, present).await?;
    define::store(connection, redefinition, present).await
}

/// Repairs what incomplete changes have left of indexes. The present definition is known afterwards.
pub(super) async fn repair<B: Backend>(
    connection: &mut Connection<B>,
    known: &KnownDefinition,
) -> QueryResult<()> {
    known.refresh(&mut connection.inner).await?;
    if define::has_its_indexes(&mut connection.inner, &known.get()).await? {
        return Ok(());
    }
    lock_tables(&mut connection.inner).await?;
    let inner = &mut connection.inner;
    let repaired = async {
        known.refresh(inner).await?;
        let definition = known.get();
        define::create_indexes(inner, &definition, |_| true).await?;
        define::drop_indexes(inner, &definition).await
    };
    let repaired = repaired.await;
    unlock_tables(connection).await;
    repaired
}
