//! What the columns of a file stand for.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use super::outcome::OnConflict;
use crate::model::{Definition, Field, Member, TITLE_LIMIT, UNKNOWN_LIMIT, excerpt, unknown};

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
/// let year = record.values.map(|values| values.draft.year);
/// assert_eq!(year, Ok(Some(1977)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    pub(super) definition: Arc<Definition>,
    /// The fields by their normalized names and titles.
    fields: HashMap<String, Field>,
    /// Normalized headings that are mapped to a field, which may not exist yet, or left out.
    chosen: HashMap<String, Option<String>>,
    pub(super) on_conflict: OnConflict,
    pub(super) is_strict: bool,
    /// The unknown columns that were found, up to 100.
    pub(super) unknown: Vec<String>,
}

/// What a column stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Field(Field),
    LeftOut,
    Unknown,
}

impl Meaning {
    pub(super) fn field(self) -> Option<Field> {
        match self {
            Self::Field(field) => Some(field),
            Self::LeftOut | Self::Unknown => None,
        }
    }
}

impl Columns {
    /// The columns of a catalogue with this definition. Other columns are ignored, and so are ids.
    #[must_use]
    pub fn of(definition: Arc<Definition>) -> Self {
        let all = || definition.all().iter().copied();
        let titles = all().map(|field| (normalized(field.title()), field));
        let names = all().map(|field| (normalized(field.name()), field));
        Self {
            fields: titles.chain(names).collect(),
            definition,
            chosen: HashMap::new(),
            on_conflict: OnConflict::default(),
            is_strict: false,
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
        self.chosen.insert(normalized(heading), field);
    }

    /// Rejects unknown columns: a CSV file as a whole, and each JSON record that has one.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// The columns for an import that does this with records of robots that exist. A column with ids is an
    /// unknown one, unless it is left out, or records are [matched by ids](OnConflict::MatchId).
    #[must_use]
    pub fn matching(mut self, on_conflict: OnConflict) -> Self {
        self.on_conflict = on_conflict;
        self
    }

    /// The same choices for a catalogue with another definition.
    pub(super) fn redefined(self, definition: Definition) -> Self {
        Self {
            chosen: self.chosen,
            on_conflict: self.on_conflict,
            is_strict: self.is_strict,
            unknown: self.unknown,
            ..Self::of(Arc::new(definition))
        }
    }

    /// Whether records may change robots, so that they need no required fields.
    pub(super) fn has_ids(&self) -> bool {
        self.on_conflict == OnConflict::MatchId
    }

    pub(super) fn report(&mut self, headings: &[&str]) {
        for heading in headings {
            let heading: String = heading.trim().chars().take(TITLE_LIMIT).collect();
            if self.unknown.len() < REPORT_LIMIT && !self.unknown.contains(&heading) {
                self.unknown.push(heading);
            }
        }
    }

    /// The name of the field that a heading is mapped to.
    pub(super) fn mapped(&self, heading: &str) -> Option<&str> {
        self.chosen.get(&normalized(heading))?.as_deref()
    }

    /// Finds the fields of a header's columns, or returns what is wrong with it.
    pub(super) fn read_header(&mut self, headings: &[String]) -> Result<(), String> {
        let (mut found, mut unknown) = (Vec::new(), Vec::new());
        let headings: Vec<_> = headings
            .iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        for heading in &headings {
            match self.meaning(heading) {
                Meaning::Field(field) if found.contains(&field) => {
                    return Err(format!(
                        "Several columns stand for {field}; map one of them, and leave out the others"
                    ));
                }
                Meaning::Field(field) => found.push(field),
                Meaning::Unknown => unknown.push(heading.as_str()),
                Meaning::LeftOut => {}
            }
        }
        let all = || {
            let shown: Vec<_> = headings.iter().map(|heading| excerpt(heading)).collect();
            shown.join(", ")
        };
        let normal: HashSet<_> = headings.iter().map(|heading| normalized(heading)).collect();
        let mut mapped = self.chosen.iter().filter(|(_, field)| field.is_some());
        if let Some((heading, _)) = mapped.find(|(heading, _)| !normal.contains(*heading)) {
            return Err(format!(
                "The header has no column '{heading}', but {}",
                all()
            ));
        }
        if self.is_strict && !unknown.is_empty() {
            return Err(self.messages(&unknown).join("; "));
        }
        let settable = self.definition.settable();
        let names = Field::names(settable);
        if found.is_empty() {
            return Err(format!(
                "The first line names no field, but {}; the fields are {names}",
                all()
            ));
        }
        let missing = settable
            .iter()
            .filter(|field| field.is_required() && !self.has_ids() && !found.contains(field));
        let missing: Vec<_> = missing.map(|field| field.name()).collect();
        self.report(&unknown);
        if !missing.is_empty() {
            return Err(format!(
                "Missing in the header: {}; the first line must name the columns, separated by \
                 commas: {names}",
                missing.join(", "),
            ));
        }
        Ok(())
    }

    pub(super) fn meaning(&self, heading: &str) -> Meaning {
        let heading = normalized(heading);
        let field = match self.chosen.get(&heading) {
            Some(None) => return Meaning::LeftOut,
            Some(Some(name)) => self.definition.field(name),
            None => self.fields.get(&heading).copied(),
        };
        match field.map(Field::member) {
            // Revisions are counted by each catalogue for itself.
            Some(Member::Revision) => Meaning::LeftOut,
            Some(Member::Id) if !self.has_ids() => Meaning::Unknown,
            _ => field.map_or(Meaning::Unknown, Meaning::Field),
        }
    }

    /// The messages about unknown columns, a few at most.
    pub(super) fn messages(&self, unknown_headings: &[&str]) -> Vec<String> {
        let settable = self.definition.settable().iter();
        let names: Vec<_> = settable.map(|field| field.name()).collect();
        let message = |heading: &&str| match normalized(heading).as_str() {
            "id" => ID_MESSAGE.to_owned(),
            _ => unknown(heading, "field", &names),
        };
        let reported = unknown_headings.iter().take(UNKNOWN_LIMIT);
        reported.map(message).collect()
    }
}

const ID_MESSAGE: &str = "The catalogue assigns ids; match the robots with these ids, or those with these \
                          names, or leave out the ids";

/// A heading without blanks around it, in lower case: equal for headings of the same column.
pub(super) fn normalized(heading: &str) -> String {
    heading.trim().to_lowercase()
}
