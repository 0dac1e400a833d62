//! What clients were told, and whether it was true.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    time::Instant,
};

use crate::{
    answers::{Told, robots},
    process::Server,
};

/// A robot that was written, as far as its writer knows. At first it is not there.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    pub(crate) id: Option<String>,
    /// Every name that it was to have.
    names: Vec<String>,
    /// The names that it may have now besides the one that it has for certain; `None` is that
    /// it is not there.
    may_have: Vec<Option<String>>,
    has: Option<String>,
}

/// What some clients were told.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) fates: Vec<Fate>,
    /// When a robot was added, and by which server.
    pub(crate) added: Vec<(Instant, usize)>,
    done: usize,
    refused: usize,
    unknown: usize,
}

impl Fate {
    /// Takes down what came of a wish for a name, or for not being there.
    pub(crate) fn is_told(&mut self, told: Told, wish: Option<&str>) {
        let wish = wish.map(str::to_owned);
        self.names.extend(wish.clone());
        match told {
            Told::Done => {
                self.may_have.clear();
                self.has = wish;
            }
            Told::Refused => {}
            Told::Unknown => self.may_have.push(wish),
        }
    }

    /// What is wrong with the robots that there are, by their names.
    fn objection(&self, ids: &HashMap<String, String>) -> Option<String> {
        let there: Vec<_> = self
            .names
            .iter()
            .filter(|name| ids.contains_key(*name))
            .collect();
        let has = there.first().copied();
        let is_possible = |name: &Option<String>| name.as_ref() == has;
        let is_right = there.len() <= 1
            && (is_possible(&self.has) || self.may_have.iter().any(is_possible))
            && has.is_none_or(|name| self.id.as_ref().is_none_or(|id| ids[name] == *id));
        (!is_right).then(|| format!("{there:?} are there, of {self:?}"))
    }
}

impl Record {
    pub(crate) fn count(&mut self, told: Told) {
        match told {
            Told::Done => self.done += 1,
            Told::Refused => self.refused += 1,
            Told::Unknown => self.unknown += 1,
        }
    }

    /// Whether every call was done.
    pub(crate) fn is_all_done(&self) -> bool {
        self.done > 0 && self.refused == 0 && self.unknown == 0
    }

    /// Whether no call was done.
    pub(crate) fn is_none_done(&self) -> bool {
        self.done == 0
    }

    /// Both records in one.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.fates.extend(other.fates);
        self.added.extend(other.added);
        self.done += other.done;
        self.refused += other.refused;
        self.unknown += other.unknown;
        self
    }

    /// Fails unless all that clients were told is true of what a server lists.
    pub(crate) fn is_true_of(&self, server: &Server) {
        let ids = robots(server);
        let objections = self.fates.iter().filter_map(|fate| fate.objection(&ids));
        let objections: Vec<_> = objections.take(10).collect();
        assert!(objections.is_empty(), "{self}: {objections:#?}");
        let given = self.fates.iter().filter_map(|fate| fate.id.as_ref());
        let mut seen = HashSet::new();
        for id in given {
            assert!(seen.insert(id), "the id {id} was given twice");
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            done,
            refused,
            unknown,
            ..
        } = self;
        write!(
            formatter,
            "{done} calls were done, {refused} refused, {unknown} unknown"
        )
    }
}
