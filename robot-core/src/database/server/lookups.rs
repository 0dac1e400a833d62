//! Look-ups of single robots, executed in batches.

use std::collections::HashMap;

use diesel::QueryResult;

use super::{backend::Backend, batcher::Work, connection::Connection, kind::Kind};
use crate::{
    catalogue::Result,
    database::{
        conditions::{has_id_of, has_name_of},
        schema::ROBOT,
        statements::{find, get, select},
    },
    model::{Robot, RobotId},
};

/// What a robot is looked up by.
pub(super) enum Key {
    Id(RobotId),
    Name(String),
}

/// Look-ups.
pub(super) struct Lookups;

impl<B: Backend> Work<B> for Lookups {
    type Item = Key;
    type Output = Option<Robot>;

    const QUEUE: &'static str = "lookups";

    const BATCH: Kind = Kind::LookupBatch;

    const ALONE: Kind = Kind::Lookup;

    async fn execute(
        &self,
        connection: &mut Connection<B>,
        keys: &[Key],
        _: Kind,
    ) -> QueryResult<Vec<Result<Option<Robot>>>> {
        let connection = connection.inner();
        let robots = match keys {
            [Key::Id(id)] => vec![get(connection, *id).await?],
            [Key::Name(name)] => vec![find(connection, name).await?],
            _ => look_up(connection, keys).await?,
        };
        Ok(robots.into_iter().map(Ok).collect())
    }
}

/// The robot of each key.
async fn look_up<B: Backend>(connection: &mut B, keys: &[Key]) -> QueryResult<Vec<Option<Robot>>> {
    let mut ids = Vec::with_capacity(keys.len());
    let mut names = Vec::new();
    for key in keys {
        match key {
            Key::Id(id) => ids.push(id.get()),
            Key::Name(name) => names.push(name.as_str()),
        }
    }
    let mut by_id = HashMap::new();
    if !ids.is_empty() {
        let query = select(ROBOT, Some(has_id_of(&ids)));
        let robots = connection.robots(query, usize::MAX).await?;
        by_id.extend(robots.into_iter().map(|robot| (robot.id(), robot)));
    }
    let mut by_name = HashMap::new();
    if !names.is_empty() {
        // The last one of equal names stays: that with the lowest id.
        let query = select(ROBOT, Some(has_name_of(&names))).sql(" ORDER BY robots.id DESC");
        let robots = connection.robots(query, usize::MAX).await?.into_iter();
        by_name.extend(robots.map(|robot| (robot.name().to_owned(), robot)));
    }
    let robot = |key: &Key| match key {
        Key::Id(id) => by_id.get(id).cloned(),
        Key::Name(name) => by_name.get(name).cloned(),
    };
    Ok(keys.iter().map(robot).collect())
}
