//! Look-ups of single robots, executed in batches.

use std::{collections::HashMap, time::Duration};

use diesel::QueryResult;

use super::{
    backend::Backend,
    batcher::{Attempt, BatchFailure, Terms, Work},
    connector::Connection,
    limits::{Limits, Plans, READ_MARGIN, whole_seconds},
};
use crate::{
    catalogue::Result,
    model::{Robot, RobotId},
};

/// What a robot is looked up by.
pub(super) enum Key {
    Id(RobotId),
    Name(String),
}

/// Look-ups, each with this timeout.
pub(super) struct Lookups {
    pub(super) timeout: Duration,
}

impl<B: Backend> Work<B> for Lookups {
    type Item = Key;
    type Output = Option<Robot>;

    const QUEUE: &'static str = "lookups";

    fn terms(&self, _: &Key) -> Terms {
        Terms {
            first_attempt: Attempt::InBatch,
            limit: self.timeout + READ_MARGIN,
            is_write: false,
        }
    }

    fn execute(
        &self,
        connection: &mut Connection<B>,
        keys: &[Key],
        _: Attempt,
    ) -> Result<Vec<Result<Option<Robot>>>, BatchFailure> {
        let connection = connection.limited(Limits {
            statement: self.timeout,
            lock: self.timeout,
            lock_seconds: whole_seconds(self.timeout),
            plans: Plans::Index,
        })?;
        let robots = match keys {
            [Key::Id(id)] => vec![connection.get(*id)?],
            [Key::Name(name)] => vec![connection.find(name)?],
            _ => look_up(connection, keys)?,
        };
        Ok(robots.into_iter().map(Ok).collect())
    }
}

/// The robot of each key.
fn look_up<B: Backend>(connection: &mut B, keys: &[Key]) -> QueryResult<Vec<Option<Robot>>> {
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
        let robots = connection.get_all(&ids)?;
        by_id.extend(robots.into_iter().map(|robot| (robot.id(), robot)));
    }
    let mut by_name = HashMap::new();
    if !names.is_empty() {
        let robots = connection.find_all(&names)?;
        by_name.extend(
            robots
                .into_iter()
                .map(|robot| (robot.name().to_owned(), robot)),
        );
    }
    let robot = |key: &Key| match key {
        Key::Id(id) => by_id.get(id).cloned(),
        Key::Name(name) => by_name.get(name).cloned(),
    };
    Ok(keys.iter().map(robot).collect())
}
