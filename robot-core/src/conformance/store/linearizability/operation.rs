//! Operations of a history and their answers, as values that can be generated, compared and printed.

use crate::{
    catalogue::{
        Catalogue, CatalogueExt, Change, Cursor, Error, Extent, Filter, PageRequest, Position,
        Receipt,
    },
    model::{Draft, Revision, Robot, RobotId, ValidChanges, Violation},
};

/// One call. Drafts violate no rule except uniqueness: to report all violations, a catalogue reads
/// more than once, which is not atomic. For the same reason there are pages, but no searches over
/// several pages.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    Add(Draft),
    /// An update or a deletion expects a revision, or none.
    Update(RobotId, Option<Revision>, Draft),
    Delete(RobotId, Option<Revision>),
    Get(RobotId),
    Find(&'static str),
    /// In the order of the names.
    Page(Filter, Cursor, usize),
    /// The robots that have changed after a revision, in the order of the changes.
    Changed(i64),
}

/// What a call returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallResult {
    /// The robot that was added, or the robots that were read.
    Robots(Vec<Robot>),
    /// A robot was changed, and has this revision, or was deleted.
    Done(Option<Revision>),
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

    pub(super) fn is_read(&self) -> bool {
        matches!(
            self,
            Self::Get(_) | Self::Find(_) | Self::Page(..) | Self::Changed(_)
        )
    }

    pub(super) fn call(&self, catalogue: &dyn Catalogue) -> CallResult {
        let robots = |robot: Option<Robot>| robot.into_iter().collect();
        let done = |receipt: Receipt| CallResult::Done(receipt.revision);
        let result = match self.clone() {
            Self::Add(draft) => catalogue.add(draft).map(|robot| robots(Some(robot))),
            Self::Update(id, revision, draft) => {
                let changes = ValidChanges::new(draft).unwrap_or_else(|error| panic!("{error}"));
                catalogue
                    .apply(Change::Update(id, revision, changes))
                    .map(done)
            }
            Self::Delete(id, revision) => catalogue.apply(Change::Delete(id, revision)).map(done),
            Self::Get(id) => catalogue.get(id).map(robots),
            Self::Find(name) => catalogue.find(name).map(robots),
            Self::Page(filter, cursor, limit) => catalogue
                .page(PageRequest {
                    limit,
                    ..PageRequest::new(&filter, &cursor)
                })
                .map(|page| CallResult::Robots(page.items)),
            Self::Changed(after) => changed(catalogue, after),
        };
        result.unwrap_or_else(|error| self.error_answer(&error))
    }

    fn error_answer(&self, error: &Error) -> CallResult {
        match error {
            Error::Rejected(broken) if broken.iter().eq([&Violation::NAME_TAKEN]) => {
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
            Self::Update(id, ..) | Self::Delete(id, _) | Self::Get(id) => Some(*id),
            Self::Add(_) | Self::Find(_) | Self::Page(..) | Self::Changed(_) => None,
        }
    }
}

/// The robots that have changed after a revision, of a store that does not keep changes by its list.
fn changed(catalogue: &dyn Catalogue, after: i64) -> Result<CallResult, Error> {
    let now = match catalogue.position() {
        Err(Error::NoHistory) => {
            let mut robots = catalogue.list()?;
            robots.retain(|robot| robot.revision().get() > after);
            robots.sort_unstable_by_key(Robot::revision);
            return Ok(CallResult::Robots(robots));
        }
        now => now?,
    };
    let after = Position {
        revision: after,
        ..now
    };
    let changes = catalogue.changes(&after, Extent::Latest, 1000)?;
    Ok(changes
        .events
        .into_iter()
        .filter_map(|event| event.robot)
        .collect())
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

    /// Whether a change with this answer took no effect.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::NameTaken | Self::NotFound | Self::Stale)
    }
}

impl FromIterator<Robot> for CallResult {
    fn from_iter<I: IntoIterator<Item = Robot>>(robots: I) -> Self {
        Self::Robots(robots.into_iter().collect())
    }
}
