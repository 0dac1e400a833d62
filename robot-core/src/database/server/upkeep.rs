//! What a definition leaves to do, in steps, while other clients are served.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use diesel::QueryResult;

use super::{
    backend::Backend, connection::Connection, define::repair, operation::Operation, pool::Pool,
};
use crate::{
    catalogue::Result,
    database::{define::KnownDefinition, rewrite, statements::unindexed},
};

/// The number of robots that are added to the search index together. Fewer, and searches compare those of other
/// programs for longer; more, and changes wait longer for the rows.
const INDEX_BATCH: i64 = 1000;

/// Does what a definition leaves to do, for a moment: drops indexes, rewrites robots, and adds robots to the search
/// index that other programs have added, or whose own values were changed. Returns whether more is to do.
pub(super) async fn keep_up<B: Backend>(pool: &Arc<Pool<B>>, limit: Duration) -> Result<bool> {
    let known = &*pool.connector.definition;
    let has_leftovers = &pool.connector.has_leftovers;
    if has_leftovers.load(Ordering::Relaxed) {
        let repair = async |connection: &mut Connection<B>| repair(connection, known).await;
        match pool.execute(Operation::Define, repair).await {
            Ok(()) => has_leftovers.store(false, Ordering::Relaxed),
            Err(error) => tracing::warn!(
                "indexes of another definition may reject values until they can be dropped: {}",
                error.with_cause()
            ),
        }
    }
    let started = Instant::now();
    while pool
        .execute(Operation::Write, async |connection| {
            work(connection, known).await
        })
        .await?
    {
        if started.elapsed() >= limit {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Rewrites some robots, or adds some to the search index. Returns whether more may wait.
async fn work<B: Backend>(
    connection: &mut Connection<B>,
    known: &KnownDefinition,
) -> QueryResult<bool> {
    let definition = known.get();
    if rewrite::next(&mut connection.inner).await?.is_some() {
        connection.begin(B::LOCK_CATALOGUE).await?;
        let rewritten = rewrite::step(&mut connection.inner, &definition).await;
        return connection.end(rewritten).await;
    }
    let connection = &mut connection.inner;
    let robots = unindexed(connection, INDEX_BATCH).await?;
    if robots.is_empty() {
        return Ok(false);
    }
    rewrite::set_search_texts(connection, &definition, &robots).await?;
    Ok(true)
}
