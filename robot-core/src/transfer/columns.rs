//! What the columns of a file stand for.

use std::sync::Arc;

use crate::model::{Definition, Field, Member, excerpt, unknown};

/// The maximum number of columns that are reported because they are not stored.
const REPORT_LIMIT: usize = 100;

/// Which fields the columns of a CSV file, or the members of JSON records, stand for.
///
/// A heading stands for the field with this name or title, in any case and with blanks around it, unless it
/// is [mapped](Self::map) to another field or [left out](Self::ignore).
///
/// ```
/// use robot_core::transfer::{Columns, Format, Records};
/// use robot_core::Definition;
///
/// let columns = Columns::of(Definition::built_in().clone()).map("Built", "year").ignore("Notes");
/// let file = "NAME;Type;Built;Notes\nR2-D2;droid;1977;beeps\n";
/// let mut records = Records::new(file.as_bytes(), Format::Csv).with_columns(columns.strict());
/// let record = records.next().ok_or("no record")??;
/// assert_eq!(record.draft?.year, Some(1977));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    definition: Arc<Definition>,
    /// The folded names and titles of fields, names first.
    known: Vec<(String, Field)>,
    /// Folded headings, and the fields that they stand for; `None` if they are left out.
    chosen: Vec<(String, Option<String>)>,
    is_strict: bool,
    has_ids: bool,
    /// The unknown columns that were found.
    unknown: Vec<String>,
}

/// What a column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Field(Field),
    LeftOut,
    Unknown,
}

impl Columns {
    /// The columns of a catalogue with this definition. Other columns are ignored, and so are ids.
    #[must_use]
    pub fn of(definition: Arc<Definition>) -> Self {
        let all = || definition.all().iter().copied();
        let names = all().map(|field| (fold(field.name()), field));
        let titles = all().map(|field| (fold(field.title()), field));
        Self {
            known: names.chain(titles).collect(),
            definition,
            chosen: Vec::new(),
            is_strict: false,
            has_ids: false,
            unknown: Vec::new(),
        }
    }

    /// Makes a heading stand for the field with this name. It is unknown while there is no such field.
    #[must_use]
    pub fn map(mut self, heading: &str, field: &str) -> Self {
        self.choose(heading, Some(field.to_owned()));
        self
    }

    /// Leaves out a column.
    #[must_use]
    pub fn ignore(mut self, heading: &str) -> Self {
        self.choose(heading, None);
        self
    }

    pub(super) fn choose(&mut self, heading: &str, field: Option<String>) {
        let heading = fold(heading);
        self.chosen.retain(|(other, _)| *other != heading);
        self.chosen.push((heading, field));
    }

    /// Rejects unknown columns: a CSV file as a whole, and each JSON record that has one.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Reads the ids of records, for imports that match robots by them. Otherwise a column with ids is an
    /// unknown one.
    #[must_use]
    pub fn with_ids(mut self) -> Self {
        self.has_ids = true;
        self
    }

    /// The same choices for a catalogue with another definition.
    pub(super) fn redefined(self, definition: Definition) -> Self {
        let new = Self::of(Arc::new(definition));
        Self {
            definition: new.definition,
            known: new.known,
            ..self
        }
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    pub(super) fn is_strict(&self) -> bool {
        self.is_strict
    }

    /// Whether records may change robots, so that they need no required fields.
    pub(super) fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// The unknown columns that were found, up to 100.
    pub(super) fn unknown(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn report(&mut self, headings: &[&str]) {
        for heading in headings {
            let heading = excerpt(heading.trim());
            let is_new = !self.unknown.iter().any(|one| *one == heading);
            if is_new && self.unknown.len() < REPORT_LIMIT {
                self.unknown.push(heading.into_owned());
            }
        }
    }

    /// The name of the field that a heading is mapped to.
    pub(super) fn mapped(&self, heading: &str) -> Option<&str> {
        let folded = fold(heading);
        let mut chosen = self.chosen.iter();
        chosen.find(|(chosen, _)| *chosen == folded)?.1.as_deref()
    }

    pub(super) fn meaning(&self, heading: &str) -> Meaning {
        let folded = fold(heading);
        let mut chosen = self.chosen.iter();
        let field = match chosen.find(|(chosen, _)| *chosen == folded) {
            Some((_, None)) => return Meaning::LeftOut,
            Some((_, Some(name))) => self.definition.field(name),
            None => {
                let mut known = self.known.iter();
                known
                    .find(|(known, _)| *known == folded)
                    .map(|(_, field)| *field)
            }
        };
        match field {
            None => Meaning::Unknown,
            // Revisions are counted by each catalogue for itself.
            Some(field) if field.member() == Member::Revision => Meaning::LeftOut,
            Some(field) if field.member() == Member::Id && !self.has_ids => Meaning::Unknown,
            Some(field) => Meaning::Field(field),
        }
    }

    /// The messages about unknown columns.
    pub(super) fn messages(&self, unknown_headings: &[&str]) -> Vec<String> {
        let settable = self.definition.settable().iter();
        let names: Vec<_> = settable.map(|field| field.name()).collect();
        let message = |heading: &&str| match fold(heading).as_str() {
            "id" => ID_MESSAGE.to_owned(),
            _ => unknown(&excerpt(heading), "field", &names),
        };
        unknown_headings.iter().map(message).collect()
    }
}

const ID_MESSAGE: &str = "The catalogue assigns ids; give match=id to change the robots with these ids, \
                          match=name to change the robots with these names, or leave out the ids";

/// A heading, so that equal ones are equal texts.
fn fold(heading: &str) -> String {
    heading.trim().to_lowercase()
}
