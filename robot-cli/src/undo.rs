//! How changes are undone: the command for it, as a note for people and as members for programs.

use robot_core::{
    Catalogue, Position, REVERT_LIMIT, redact,
    transfer::{Outcome, Stored},
};
use serde_json::{Value, json};

use crate::{context::Context, terminal::note};

/// The positions before and after changes.
pub(crate) type Between = (Position, Position);

impl Context<'_> {
    /// A command line of this program for the same catalogue.
    pub(crate) fn call(&self, command: &str) -> String {
        let database = self.database_option.as_deref().map(|url| match url {
            // The URL has a password.
            url if redact(url) != url => " --database URL".to_owned(),
            url => format!(" --database {}", quoted(url)),
        });
        format!("robot-cli {command}{}", database.unwrap_or_default())
    }

    /// Says how changes are undone, of an author alone if others may have made changes between them.
    pub(crate) fn note_undo(&self, changes: &[Between], by: Option<&str>) {
        let by = by.map_or_else(String::new, |by| format!(" --by {}", quoted(by)));
        for (after, until) in changes {
            let command = format!("revert --after {after} --until {until}{by}");
            note(&format!("To undo this: {}", self.call(&command)));
        }
    }
}

/// The positions of an import, by which it is undone in steps.
pub(crate) struct ImportSteps<'a> {
    catalogue: &'a dyn Catalogue,
    /// Before the import, and after each step; empty if the catalogue keeps no history.
    positions: Vec<Position>,
    /// The number of changes.
    count: usize,
}

/// The number of changes in a step. An import has stored up to 1,024 more than it has reported, and a step has to be
/// within the limit.
const STEP: usize = REVERT_LIMIT - 2000;

impl<'a> ImportSteps<'a> {
    /// Begins before the first change.
    pub(crate) fn new(catalogue: &'a dyn Catalogue) -> Self {
        let positions = catalogue.position().into_iter().collect();
        Self {
            catalogue,
            positions,
            count: 0,
        }
    }

    /// Counts a change.
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        if let Ok(Stored::Added | Stored::Replaced) = outcome.result {
            self.count += 1;
            if self.count.is_multiple_of(STEP) {
                self.positions.extend(self.catalogue.position());
            }
        }
    }

    /// The steps, the last one first.
    pub(crate) fn finish(mut self) -> Vec<Between> {
        self.positions.extend(self.catalogue.position());
        let steps = self.positions.windows(2).rev();
        let steps = steps.filter(|step| step[0] != step[1]);
        steps
            .map(|step| (step[0].clone(), step[1].clone()))
            .collect()
    }
}

/// The member of a result by which its changes are undone.
pub(crate) fn member(changes: &[Between]) -> (&'static str, Value) {
    let changes = changes
        .iter()
        .map(|(after, until)| json!({"after": after, "until": until}));
    ("changes", changes.collect())
}

/// The cursor of an argument.
pub(crate) fn parse_cursor(text: &str) -> Result<Position, &'static str> {
    let cursor = text.parse();
    cursor.map_err(|_| "a cursor is what 'robot-cli changes' prints")
}

/// A place among the changes.
#[derive(Debug, Clone)]
pub(crate) enum Mark {
    Cursor(Position),
    /// After the change with this revision.
    Revision(i64),
}

impl Mark {
    pub(crate) fn position(self, catalogue: &dyn Catalogue) -> robot_core::Result<Position> {
        match self {
            Self::Cursor(position) => Ok(position),
            Self::Revision(revision) => Ok(catalogue.position()?.at(revision)),
        }
    }
}

pub(crate) fn parse_mark(text: &str) -> Result<Mark, &'static str> {
    match text.parse() {
        Ok(revision) => Ok(Mark::Revision(revision)),
        Err(_) => parse_cursor(text).map(Mark::Cursor),
    }
}

/// A word of a command line.
fn quoted(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "/:._@%+=,-".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted() {
        for (word, expected) in [
            ("sqlite:///a/b.db", "sqlite:///a/b.db"),
            ("Anna Lee", "'Anna Lee'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
