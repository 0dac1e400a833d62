//! Operations of a history and their answers, as values that can be generated, compared with a
//! model, and printed.

use std::fmt;

use crate::{
    catalogue::{Catalogue, CatalogueExt, Cursor, Error, Filter, PageRequest},
    model::{Draft, Revision, Robot, RobotId, Violation},
};

/// One call. Drafts violate no rule except uniqueness: to report all violations, a catalogue reads
/// more than once, which is not atomic. For the same reason there are pages, but no searches over
/// several pages.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Add(Draft),
    Replace(RobotId, Draft),
    Patch(RobotId, Draft),
    PatchIf(RobotId, Revision, Draft),
    Delete(RobotId),
    DeleteIf(RobotId, Revision),
    Get(RobotId),
    Find(&'static str),
    /// In the order of the names.
    Page(Filter, Cursor, usize),
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallResult {
    /// The robot that was added, or the robots that were read.
    Robots(Vec<Robot>),
    Done,
    NameTaken,
    NotFound,
    Stale,
    /// Nothing was changed, and nothing was read.
    Unavailable,
    /// The change may have been made.
    Unknown,
    /// An unexpected error.
    Failed(String),
}

impl Operation {
    /// A page with all robots.
    pub(super) fn everything() -> Self {
        Self::Page(Filter::all(), Cursor::default(), 1000)
    }

    pub(super) fn call(&self, catalogue: &dyn Catalogue) -> CallResult {
        let done = |()| CallResult::Done;
        let result = match self.clone() {
            Self::Add(draft) => catalogue.add(draft).map(CallResult::from),
            Self::Replace(id, draft) => catalogue.replace(id, draft).map(done),
            Self::Patch(id, draft) => catalogue.patch(id, draft).map(done),
            Self::PatchIf(id, revision, draft) => catalogue.patch_if(id, revision, draft).map(done),
            Self::Delete(id) => catalogue.delete(id).map(done),
            Self::DeleteIf(id, revision) => catalogue.delete_if(id, revision).map(done),
            Self::Get(id) => catalogue.get(id).map(CallResult::from_iter),
            Self::Find(name) => catalogue.find(name).map(CallResult::from_iter),
            Self::Page(filter, cursor, limit) => {
                let (filter, cursor) = (&filter, &cursor);
                let request = PageRequest {
                    filter,
                    cursor,
                    limit,
                };
                catalogue.page(request).map(CallResult::Robots)
            }
        };
        result.unwrap_or_else(|error| self.error_answer(&error))
    }

    fn error_answer(&self, error: &Error) -> CallResult {
        match error {
            Error::Rejected(broken) if broken.iter().eq([Violation::NAME_TAKEN]) => {
                CallResult::NameTaken
            }
            Error::NotFound(missing) if Some(*missing) == self.target() => CallResult::NotFound,
            Error::Stale(stale) if Some(*stale) == self.target() => CallResult::Stale,
            Error::Unavailable(_) | Error::DiskFull(_) => CallResult::Unavailable,
            Error::Unknown(_) => CallResult::Unknown,
            error => CallResult::Failed(format!("{error:?}")),
        }
    }

    /// The id that the operation names.
    fn target(&self) -> Option<RobotId> {
        match self {
            Self::Replace(id, _)
            | Self::Patch(id, _)
            | Self::PatchIf(id, ..)
            | Self::Delete(id)
            | Self::DeleteIf(id, _)
            | Self::Get(id) => Some(*id),
            Self::Add(_) | Self::Find(_) | Self::Page(..) => None,
        }
    }
}

impl CallResult {
    /// The robots of the answer, if it has any.
    pub(super) fn robots(&self) -> &[Robot] {
        match self {
            Self::Robots(robots) => robots,
            _ => &[],
        }
    }

    /// Whether the operation may have taken no effect.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Unavailable | Self::Unknown)
    }
}

impl From<Robot> for CallResult {
    fn from(robot: Robot) -> Self {
        Self::Robots(vec![robot])
    }
}

impl FromIterator<Robot> for CallResult {
    fn from_iter<I: IntoIterator<Item = Robot>>(robots: I) -> Self {
        Self::Robots(robots.into_iter().collect())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(draft) => write!(formatter, "add {}", Members(draft)),
            Self::Replace(id, draft) => write!(formatter, "replace {id} by {}", Members(draft)),
            Self::Patch(id, draft) => write!(formatter, "patch {id} to {}", Members(draft)),
            Self::PatchIf(id, revision, draft) => {
                let members = Members(draft);
                write!(formatter, "patch revision {revision} of {id} to {members}")
            }
            Self::Delete(id) => write!(formatter, "delete {id}"),
            Self::DeleteIf(id, revision) => {
                write!(formatter, "delete revision {revision} of {id}")
            }
            Self::Get(id) => write!(formatter, "get {id}"),
            Self::Find(name) => write!(formatter, "find {name:?}"),
            Self::Page(filter, cursor, _) if cursor.is_start() && *filter == Filter::all() => {
                write!(formatter, "page")
            }
            Self::Page(filter, cursor, limit) => write!(
                formatter,
                "page of {limit} with {:?} after {:?}",
                filter.get_containing(),
                cursor.ascending_name().unwrap_or_default()
            ),
        }
    }
}

impl fmt::Display for CallResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Robots(robots) => Listed(robots).fmt(formatter),
            Self::Done => write!(formatter, "done"),
            Self::NameTaken => write!(formatter, "the name is taken"),
            Self::NotFound => write!(formatter, "not found"),
            Self::Stale => write!(formatter, "stale"),
            Self::Unavailable => write!(formatter, "unavailable, not applied"),
            Self::Unknown => write!(formatter, "unknown, may be applied"),
            Self::Failed(error) => write!(formatter, "FAILED: {error}"),
        }
    }
}

/// Robots in a line.
pub(super) struct Listed<'a>(pub(super) &'a [Robot]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return write!(formatter, "nothing");
        }
        for (index, robot) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let members = Draft::from(robot.clone());
            write!(formatter, "{separator}{} {}", robot.id(), Members(&members))?;
        }
        Ok(())
    }
}

/// The members that a draft has.
struct Members<'a>(&'a Draft);

impl fmt::Display for Members<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Draft {
            name,
            robot_type,
            year,
        } = self.0;
        let name = name.as_ref().map(|name| format!("{name:?}"));
        let year = year.map(|year| year.to_string());
        let members: Vec<_> = [name, robot_type.clone(), year]
            .into_iter()
            .flatten()
            .collect();
        write!(formatter, "({})", members.join(" "))
    }
}
