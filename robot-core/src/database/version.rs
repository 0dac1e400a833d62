//! Versions of robots, as they are read.

use compact_str::CompactString;
use diesel::{QueryResult, prelude::Queryable};

use super::schema::{Row, robot};
use crate::{
    catalogue::{Action, Event},
    model::{Audit, Revision, Robot, Timestamp},
};

/// The columns of a [`VersionRow`] of a version that was replaced.
pub(super) const VERSION: &str = "robots.id, robots.name, robots.type, robots.year, robots.revision, robots.own, \
    robots.added, robots.created_at, robots.updated_at, robots.updated_by, \
    robots.replaced, robots.is_deleted, robots.replaced_at, robots.replaced_by";

/// The columns of a [`VersionRow`] of a robot. The last four mean nothing.
pub(super) const ROBOT: &str = "robots.id, robots.name, robots.type, robots.year, robots.revision, robots.own, \
    robots.added, robots.created_at, robots.updated_at, robots.updated_by, \
    robots.revision, robots.revision, robots.revision, robots.updated_by";

/// A version of a robot as it is read.
#[derive(Clone, Queryable)]
pub(super) struct VersionRow {
    row: Row,
    added: i64,
    created_at: Option<i64>,
    updated_at: Option<i64>,
    updated_by: Option<String>,
    pub(super) replaced: i64,
    pub(super) is_deleted: i64,
    replaced_at: i64,
    replaced_by: Option<String>,
}

fn revision(number: i64) -> Revision {
    Revision::new(number).unwrap_or(Revision::FIRST)
}

impl VersionRow {
    /// The number of bytes of the texts.
    pub(super) fn size(&self) -> usize {
        self.row.size()
    }

    /// The robot, with its times.
    pub(super) fn robot(self) -> QueryResult<Robot> {
        let audit = Audit {
            created_at: self.created_at.and_then(Timestamp::from_milliseconds),
            updated_at: self.updated_at.and_then(Timestamp::from_milliseconds),
            updated_by: self.updated_by.map(CompactString::from),
        };
        Ok(robot(self.row)?.with_audit(audit))
    }

    /// The change that has made the version.
    pub(super) fn event(self) -> QueryResult<Event> {
        let (is_first, revision) = (self.added == self.row.revision, revision(self.row.revision));
        let robot = self.robot()?;
        let audit = robot.audit().cloned().unwrap_or_default();
        Ok(Event {
            revision,
            action: if is_first {
                Action::Added
            } else {
                Action::Changed
            },
            at: audit.updated_at,
            by: audit.updated_by,
            id: robot.id(),
            robot: Some(robot),
            before: None,
        })
    }

    /// The deletion that has replaced the version.
    pub(super) fn deletion(mut self) -> QueryResult<Event> {
        let by = self.replaced_by.take();
        let (revision, at) = (revision(self.replaced), self.replaced_at);
        let robot = self.robot()?;
        Ok(Event {
            revision,
            action: Action::Deleted,
            at: Timestamp::from_milliseconds(at),
            by: by.map(CompactString::from),
            id: robot.id(),
            robot: None,
            before: Some(robot),
        })
    }
}
