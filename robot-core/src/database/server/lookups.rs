//! Look-ups of single robots by their ids, executed in batches.

use std::collections::HashMap;

use diesel::QueryResult;

use super::{backend::Backend, batcher::Work, connection::Connection, operation::Operation};
use crate::{
    catalogue::{Result, Room},
    database::{
        conditions::has_id_of,
        schema::ROBOT,
        statements::{get, select},
    },
    model::{Robot, RobotId},
};

/// Look-ups.
pub(super) struct Lookups;

impl<B: Backend> Work<B> for Lookups {
    type Item = RobotId;
    type Output = Option<Robot>;

    const QUEUE: &'static str = "lookups";

    const BATCH: Operation = Operation::LookupBatch;

    const ALONE: Operation = Operation::Lookup;

    async fn execute(
        &self,
        connection: &mut Connection<B>,
        ids: &[&RobotId],
        _: Operation,
    ) -> QueryResult<Vec<Result<Option<Robot>>>> {
        let connection = &mut connection.inner;
        if let [id] = ids {
            return Ok(vec![Ok(get(connection, **id).await?)]);
        }
        let numbers: Vec<_> = ids.iter().map(|id| id.get()).collect();
        let query = select(ROBOT, Some(has_id_of(&numbers)));
        let room = &mut Room::of_robots(ids.len());
        let robots = connection.robots(query, room).await?.into_iter();
        let robots: HashMap<_, _> = robots.map(|robot| (robot.id(), robot)).collect();
        Ok(ids.iter().map(|id| Ok(robots.get(id).cloned())).collect())
    }
}
