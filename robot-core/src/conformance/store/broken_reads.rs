//! What lists and searches of a [`BrokenStore`] find.

use super::{
    broken_bugs::Bug,
    broken_store::{BrokenStore, lock},
};
use crate::{
    catalogue::{Cursor, Direction, Filter, Place, SortKey},
    model::{Field, Robot, fold},
};

impl BrokenStore {
    fn matches(&self, name: &str, filter: &Filter) -> bool {
        let containing = filter.get_containing();
        if filter.is_folded() {
            return self.matches_folded(name, containing);
        }
        match self.bug {
            Bug::SearchIgnoresCase => name.to_lowercase().contains(&containing.to_lowercase()),
            Bug::SearchFindsPrefixes => name.starts_with(containing),
            Bug::SearchHasWildcards => name.contains(&containing.replace('%', "")),
            Bug::SearchEndsAtNul => {
                name.contains(containing.split('\0').next().unwrap_or_default())
            }
            _ => name.contains(containing),
        }
    }

    fn matches_folded(&self, name: &str, containing: &str) -> bool {
        let (name, text) = match self.bug {
            Bug::FoldIgnored => (name.to_owned(), containing.to_owned()),
            Bug::FoldKeepsDiacritics => (name.to_lowercase(), containing.to_lowercase()),
            Bug::FoldIsFull => {
                let full = |text| fold(text).replace('ß', "ss");
                (full(name), full(containing))
            }
            _ => (fold(name).into_owned(), fold(containing).into_owned()),
        };
        match self.bug {
            Bug::FoldedSearchHasWildcards => text.split('%').all(|part| name.contains(part)),
            _ => name.contains(&text),
        }
    }

    /// All matching robots in order.
    pub(super) fn found(&self, filter: &Filter, cursor: &Cursor) -> Vec<Robot> {
        let robots = lock(&self.robots);
        let mut found = robots.all.clone();
        let containing = filter.get_containing();
        if !containing.is_empty() {
            found.extend_from_slice(&robots.ghosts);
            found.retain(|robot| !robots.unindexed.contains(&robot.id()));
        }
        let others = self.without_text(filter);
        found.retain(|robot| self.matches(robot.name(), filter) && others.matches(robot));
        let sort = cursor.sort();
        match self.bug {
            Bug::OrderById => found.sort_by_key(Robot::id),
            Bug::OrderIgnoresCase => found.sort_by_key(|robot| robot.name().to_lowercase()),
            Bug::OrderOfYearsOnly if sort.key == SortKey::Year => {
                found.sort_by(|one, other| one.name().cmp(other.name()));
                found.sort_by_key(Robot::year);
                if sort.direction == Direction::Descending {
                    found.reverse();
                }
            }
            _ => found.sort_by(|one, other| sort.compare(one, other)),
        }
        if filter.is_folded() {
            match self.bug {
                Bug::FoldedSearchReadsOneChunk => found.truncate(60),
                Bug::FoldedSearchIgnoresOrder => found.sort_by_key(Robot::id),
                _ => {}
            }
        }
        match (self.bug, cursor.place()) {
            (Bug::AfterIsInclusive, Place::Name(Some(after))) => {
                found.retain(|robot| robot.name() >= after.as_str());
            }
            (Bug::AfterIgnoredInSearch, _) if !containing.is_empty() => {}
            (Bug::AfterMustExist, Place::Name(Some(after))) => {
                let before = found.iter().position(|robot| robot.name() == after);
                found.drain(..before.map_or(0, |before| before + 1));
            }
            (Bug::CursorIgnoresTies, Place::Year(Some((after, _)))) => {
                found.retain(|robot| match sort.direction {
                    Direction::Ascending => robot.year() > *after,
                    Direction::Descending => robot.year() < *after,
                });
            }
            _ => found.retain(|robot| cursor.precedes(robot)),
        }
        found
    }

    /// The conditions besides the text.
    fn without_text(&self, filter: &Filter) -> Filter {
        let mut others = filter.clone().containing("");
        match self.bug {
            Bug::TypesIgnored => {
                for robot_type in Field::TYPE.choices() {
                    others = others.of_type(*robot_type);
                }
            }
            Bug::LastYearIgnored => {
                let first = others.get_first_year().unwrap_or(0);
                others = others.years(first..);
            }
            Bug::LastYearIsExclusive => {
                let first = others.get_first_year().unwrap_or(0);
                let last = others.get_last_year();
                others = others.years(first..last.unwrap_or(i64::MAX));
            }
            _ => {}
        }
        others
    }
}
