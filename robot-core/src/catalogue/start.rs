//! Where a list of changes starts: after a position, or where a person who has none wants it to start.

use std::str::FromStr;

use super::{
    error::{Error, Result},
    history::{Event, Extent, Position},
    store::Catalogue,
};
use crate::model::Timestamp;

/// Where changes of a catalogue are read from.
///
/// ```
/// use robot_core::{Catalogue, CatalogueExt, Draft, Extent, MemoryCatalogue, Start};
///
/// let catalogue = MemoryCatalogue::new();
/// for name in ["R2-D2", "C-3PO", "BB-8"] {
///     catalogue.add(Draft::new(name, "droid", 1977))?;
/// }
/// let start: Start = "last-2".parse()?;
/// let last = catalogue.changes(&start.find(&catalogue)?, Extent::Every, 10)?;
/// assert_eq!(last.events[0].robot.as_ref().map(|robot| robot.name()), Some("C-3PO"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// After a position.
    After(Position),
    /// At the first change that was made at this time or later, as far as changes are kept.
    At(Timestamp),
    /// Before the last changes: so many at most, as far as they are kept.
    Last(u32),
}

impl Start {
    /// The position where it is.
    ///
    /// # Errors
    /// Those of [`Catalogue::position`] and [`Catalogue::changes`].
    pub fn find<C: Catalogue + ?Sized>(self, catalogue: &C) -> Result<Position> {
        match self {
            Self::After(position) => Ok(position),
            Self::At(time) => search(catalogue, |event, _| event.at < Some(time)),
            Self::Last(count) => search(catalogue, |event, now| {
                event.revision.get() <= now - i64::from(count)
            }),
        }
    }
}

/// The last position in a catalogue before which, as far as changes are kept, all of them meet a condition, which is given
/// the present revision. Those that do are before those that do not.
fn search<C: Catalogue + ?Sized>(
    catalogue: &C,
    is_before: impl Fn(&Event, i64) -> bool,
) -> Result<Position> {
    let now = catalogue.position()?;
    // The position is one of these, both included.
    let (mut first, mut last) = (0, now.revision());
    let mut middle = first;
    while first < last {
        match catalogue.changes(&now.at(middle), Extent::Every, 1) {
            Err(Error::PositionGone) => first = middle + 1,
            Err(error) => return Err(error),
            Ok(changes) => match changes.events.first() {
                Some(event) if is_before(event, now.revision()) => {
                    first = event.revision.get().min(last);
                }
                _ => last = middle,
            },
        }
        middle = first + (last - first) / 2;
    }
    Ok(now.at(first))
}

/// A text is not a [`Start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be a position in the changes, a time, such as 2026-11-28 or 2026-11-28T09:30:00Z, or 'last-100' for the last \
     100 changes"
)]
pub struct ParseStartError;

impl FromStr for Start {
    type Err = ParseStartError;

    fn from_str(text: &str) -> Result<Self, ParseStartError> {
        if let Some(count) = text.strip_prefix("last-") {
            return count.parse().map(Self::Last).map_err(|_| ParseStartError);
        }
        let position = text.parse().map(Self::After);
        position.or_else(|_| text.parse().map(Self::At).map_err(|_| ParseStartError))
    }
}
