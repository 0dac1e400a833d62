//! The changes of a catalogue, and the history of a robot, from the robots and the versions that changes have replaced.

use std::{cmp::Reverse, collections::HashMap, time::Duration};

use ::metrics::gauge;
use diesel::{QueryResult, result::Error as DieselError};

use super::{
    dialect::Dialect,
    errors::wrap,
    fragment::Fragment,
    version::{ROBOT, VERSION},
};
use crate::{
    catalogue::{Changes, Event, Extent, Position, Retention, Room},
    metrics::OLDEST_VERSION,
    model::{Revision, RobotId, Timestamp},
};

/// The present position, and the revision after which all changes are kept.
pub(super) async fn position<C: Dialect>(connection: &mut C) -> QueryResult<(Position, i64)> {
    let (before, after) = C::JSON_ARRAY;
    let query = Fragment::new(format!(
        "SELECT revision, {before}complete_from, identity{after} FROM robots_catalogue WHERE id = 1"
    ));
    let mut rows = connection.pairs(query, &mut Room::of_robots(1), Ok).await?;
    let (revision, json) = rows.pop().ok_or(DieselError::NotFound)?;
    let (complete_from, identity): (i64, String) = serde_json::from_str(&json)
        .map_err(|error| DieselError::DeserializationError(error.into()))?;
    Ok((Position::new(identity, revision), complete_from))
}

/// Changes after a position, in their order. All statements must see the same snapshot.
pub(super) async fn changes<C: Dialect>(
    connection: &mut C,
    after: &Position,
    extent: Extent,
    limit: usize,
) -> QueryResult<Changes> {
    let (now, complete_from) = position(connection).await?;
    after.check(&now, complete_from).map_err(wrap)?;
    match extent {
        Extent::Latest => latest_changes(connection, after, now, limit).await,
        Extent::Every => every_change(connection, after, now, limit).await,
    }
}

async fn latest_changes<C: Dialect>(
    connection: &mut C,
    after: &Position,
    now: Position,
    limit: usize,
) -> QueryResult<Changes> {
    let limited = |condition: Fragment<'static>, order: &'static str| {
        condition.sql(order).limit(limit.saturating_add(1))
    };
    let room = &mut Room::of_robots(usize::MAX);
    let changed = Fragment::new(format!(
        "SELECT {ROBOT} FROM robots WHERE robots.revision > "
    ));
    let changed = changed.number(after.revision());
    let changed = limited(changed, " ORDER BY robots.revision");
    let changed = connection.versions(changed, room).await?;
    // Robots that came back are not deleted now, and a robot may be deleted again.
    let deleted = Fragment::new(format!(
        "SELECT {VERSION} FROM robots_versions AS robots WHERE robots.is_deleted = 1 AND robots.replaced > "
    ));
    let deleted = deleted.number(after.revision()).sql(
        " AND NOT EXISTS (SELECT 1 FROM robots AS present WHERE present.id = robots.id)
          AND NOT EXISTS (SELECT 1 FROM robots_versions AS later
              WHERE later.id = robots.id AND later.revision > robots.revision)",
    );
    let deleted = limited(deleted, " ORDER BY robots.replaced");
    let deleted = connection.versions(deleted, room).await?;
    let mut events = Vec::with_capacity(changed.len() + deleted.len());
    for version in changed {
        events.push(version.event()?);
    }
    for version in deleted {
        events.push(version.deletion()?);
    }
    events.sort_unstable_by_key(|event| event.revision);
    let is_last = events.len() <= limit;
    events.truncate(limit);
    let next = match events.last() {
        Some(last) if !is_last => Position {
            revision: last.revision.get(),
            ..now
        },
        _ => now,
    };
    Ok(Changes {
        events,
        next,
        is_last,
    })
}

async fn every_change<C: Dialect>(
    connection: &mut C,
    after: &Position,
    now: Position,
    limit: usize,
) -> QueryResult<Changes> {
    // Each revision is a change.
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let last = after.revision().saturating_add(limit).min(now.revision());
    let between = |query: String| {
        let query = Fragment::new(query).sql(" BETWEEN ");
        let query = query.number(after.revision() + 1);
        query.sql(" AND ").number(last)
    };
    let versions = format!("SELECT {VERSION} FROM robots_versions AS robots");
    let present = format!("SELECT {ROBOT} FROM robots WHERE robots.revision");
    let added = format!("{versions} WHERE {}", C::ADDED);
    let changed = format!(
        "SELECT {VERSION} FROM robots_versions AS earlier JOIN robots_versions AS robots
         ON robots.id = earlier.id AND robots.revision = earlier.replaced
         WHERE earlier.is_deleted = 0 AND earlier.replaced"
    );
    let replaced = format!("{versions} WHERE robots.is_deleted IN (0, 1) AND robots.replaced");
    let room = &mut Room::of_robots(usize::MAX);
    let (mut events, mut before) = (Vec::new(), HashMap::new());
    for version in connection.versions(between(replaced), room).await? {
        if version.is_deleted == 1 {
            events.push(version.deletion()?);
        } else {
            before.insert(version.replaced, version.robot()?);
        }
    }
    for query in [present, added, changed] {
        for version in connection.versions(between(query), room).await? {
            let mut event = version.event()?;
            event.before = before.remove(&event.revision.get());
            events.push(event);
        }
    }
    events.sort_unstable_by_key(|event| event.revision);
    Ok(Changes {
        events,
        is_last: last == now.revision(),
        next: now.at(last),
    })
}

/// The changes of a robot before a revision, the latest first. All statements must see the same snapshot.
pub(super) async fn history<C: Dialect>(
    connection: &mut C,
    id: RobotId,
    before: Option<Revision>,
    limit: usize,
) -> QueryResult<Vec<Event>> {
    let before = before.map_or(i64::MAX, Revision::get);
    let of_robot = |columns: &str, table: &str| {
        let query = Fragment::new(format!("SELECT {columns} FROM {table} WHERE robots.id = "));
        let query = query.number(id.get()).sql(" AND robots.revision < ");
        query.number(before)
    };
    let room = &mut Room::of_robots(usize::MAX);
    let mut versions = connection.versions(of_robot(ROBOT, "robots"), room).await?;
    for version in &mut versions {
        version.is_deleted = 0;
    }
    let replaced = of_robot(VERSION, "robots_versions AS robots");
    let replaced = replaced.sql(" ORDER BY robots.revision DESC");
    let replaced = replaced.limit(limit.saturating_add(1));
    versions.extend(connection.versions(replaced, room).await?);
    let mut events = Vec::with_capacity(versions.len());
    for version in versions {
        if version.is_deleted == 1 {
            events.push(version.clone().deletion()?);
        }
        events.push(version.event()?);
    }
    events.sort_unstable_by_key(|event| Reverse(event.revision));
    for index in 1..events.len() {
        let before = events[index].robot.clone();
        events[index - 1].before = before;
    }
    events.retain(|event| event.revision.get() < before);
    events.truncate(limit);
    Ok(events)
}

/// The number of versions that are removed together. Fewer, and all take longer; more, and changes wait longer.
const STEP: i64 = 500;

/// The oldest versions that are not kept any more, by their last number and revision, and how many there are.
pub(super) async fn expired<C: Dialect>(
    connection: &mut C,
    keep: Retention,
) -> QueryResult<Option<Expired>> {
    let last = Fragment::new("SELECT coalesce(max(number), 0) FROM robots_versions");
    let last = connection.numbers(last).await?.pop().unwrap_or(0);
    let first = Fragment::new("SELECT replaced_at FROM robots_versions ORDER BY number LIMIT 1");
    let first = connection.numbers(first).await?.pop();
    let age = first.map_or(0, |first| (Timestamp::now().milliseconds() - first) / 1000);
    gauge!(OLDEST_VERSION.name).set(Duration::from_secs(age.unsigned_abs()));
    let kept = i64::try_from(keep.versions).unwrap_or(i64::MAX);
    let (before, after) = C::JSON_ARRAY;
    let oldest = Fragment::new(format!(
        "SELECT count(*), {before}coalesce(max(number), 0), coalesce(max(replaced), 0){after} FROM
         (SELECT number, replaced, replaced_at FROM robots_versions ORDER BY number LIMIT {STEP}) AS oldest
         WHERE replaced_at < "
    ));
    let age = i64::try_from(keep.age.as_millis()).unwrap_or(i64::MAX);
    // Not by the clock of this process, which may be wrong.
    let oldest = oldest.sql(C::NOW).sql(" - ").number(age);
    let oldest = oldest
        .sql(" OR number <= ")
        .number(last.saturating_sub(kept));
    let mut rows = connection
        .pairs(oldest, &mut Room::of_robots(1), Ok)
        .await?;
    let (count, json) = rows.pop().ok_or(DieselError::NotFound)?;
    let (number, replaced) = serde_json::from_str(&json)
        .map_err(|error| DieselError::DeserializationError(error.into()))?;
    let count = count.unsigned_abs();
    let expired = Expired {
        number,
        replaced,
        count,
    };
    Ok((count > 0).then_some(expired))
}

/// The first versions, which are to be removed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expired {
    number: i64,
    replaced: i64,
    pub(super) count: u64,
}

/// Removes versions, in the transaction of the caller.
pub(super) async fn prune<C: Dialect>(connection: &mut C, expired: Expired) -> QueryResult<()> {
    let delete = "DELETE FROM robots_versions WHERE number <= ";
    let delete = Fragment::new(delete).number(expired.number);
    connection.change(delete).await?;
    let from = "UPDATE robots_catalogue SET complete_from = ";
    let from = Fragment::new(from).number(expired.replaced);
    let from = from.sql(" WHERE complete_from < ").number(expired.replaced);
    connection.change(from).await.map(drop)
}
