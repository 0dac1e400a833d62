//! What the columns of a file stand for.

use std::{
    collections::{HashMap, HashSet},
    fmt::Display,
    sync::Arc,
};

use super::heading::title_of;
use crate::model::{
    DateOrder, Definition, Field, Format, Member, Reading, TITLE_LIMIT, UNKNOWN_LIMIT, excerpt,
    listed, unknown,
};

/// The maximum number of columns that are reported because they are not stored.
const REPORT_LIMIT: usize = 100;

/// The maximum number of columns of a file, which bounds the memory that they need.
pub(super) const COLUMN_LIMIT: usize = 1000;

/// Which fields the columns of a CSV file, or the members of JSON records, stand for.
///
/// A heading stands for the field with this name or title, in any case and with blanks around it, unless it
/// is [mapped](Self::map) to another field or [left out](Self::ignore). `#3` names the third column of CSV.
///
/// ```
/// use robot_core::transfer::{Columns, FileFormat, Records};
/// use robot_core::Definition;
///
/// let columns = Columns::of(Definition::built_in().clone()).map("Built", "year").ignore("Notes");
/// let file = "NAME;Type;Built;Notes\nR2-D2;droid;1977;beeps\n";
/// let mut records = Records::new(file.as_bytes(), FileFormat::Csv).with_columns(columns.strict());
/// let record = records.next().ok_or("no record")??;
/// let year = record.values.map(|values| values.draft.year);
/// assert_eq!(year, Ok(Some(1977)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Columns {
    pub(super) definition: Arc<Definition>,
    /// What the caller has chosen for headings: the field, which may not exist yet, or to leave the column out.
    chosen: Vec<(String, Option<String>)>,
    /// The kinds of values that the caller has chosen for headings or fields.
    kinds: Vec<(String, String)>,
    /// How each column is read, unless a plan has found out more.
    pub(super) reading: Reading,
    /// The name of the field that finds the robot that a record changes.
    pub(super) key: Option<String>,
    leaves_out_ids: bool,
    pub(super) is_strict: bool,
    /// The columns that were found, by their headings.
    found: HashMap<String, Column>,
    /// How the columns of a plan are read, by their headings.
    readings: HashMap<String, Reading>,
    /// The unknown columns that were found, up to 100.
    pub(super) unknown: Vec<String>,
}

/// A column that was found.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) meaning: Meaning,
    pub(super) reading: Reading,
}

/// What a column stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Meaning {
    Field(Field),
    /// The field with this name, which does not exist yet.
    New(String),
    LeftOut,
    #[default]
    Unknown,
}

impl Meaning {
    pub(super) fn field(&self) -> Option<&Field> {
        match self {
            Self::Field(field) => Some(field),
            Self::New(_) | Self::LeftOut | Self::Unknown => None,
        }
    }
}

impl Columns {
    /// The columns of a catalogue with this definition. Other columns are ignored, and so are ids.
    #[must_use]
    pub fn of(definition: Arc<Definition>) -> Self {
        Self {
            definition,
            chosen: Vec::new(),
            kinds: Vec::new(),
            reading: Reading::default(),
            key: None,
            leaves_out_ids: false,
            is_strict: false,
            found: HashMap::new(),
            readings: HashMap::new(),
            unknown: Vec::new(),
        }
    }

    /// Makes a heading stand for the field with this name. It is unknown while there is no such field.
    #[must_use]
    pub fn map(mut self, heading: &str, field: &str) -> Self {
        self.chosen
            .push((heading.trim().to_owned(), Some(field.to_owned())));
        self
    }

    /// Leaves out a column.
    #[must_use]
    pub fn ignore(mut self, heading: &str) -> Self {
        self.chosen.push((heading.trim().to_owned(), None));
        self
    }

    /// Leaves out ids, whatever stands for them.
    pub(crate) fn ignore_ids(mut self) -> Self {
        self.leaves_out_ids = true;
        self
    }

    /// Chooses what a heading stands for, instead of what the caller has chosen.
    pub(super) fn choose(&mut self, heading: &str, field: Option<String>) {
        self.chosen.retain(|(other, _)| other != heading);
        self.chosen.push((heading.to_owned(), field));
    }

    /// The kinds of new fields, in a sentence: `text, number, integer, boolean, date, uri or choices`.
    #[must_use]
    pub fn kinds(conjunction: &str) -> String {
        let mut kinds = vec!["text", "number", "integer", "boolean"];
        kinds.extend(Format::NAMED.iter().map(|format| format.name));
        kinds.push("choices");
        listed(&kinds, conjunction)
    }

    /// Chooses the [kind](Self::kinds) of a new field for the column with a heading, or for the field with a name.
    #[must_use]
    pub fn kind(mut self, heading: &str, kind: &str) -> Self {
        self.kinds
            .push((heading.trim().to_owned(), kind.to_owned()));
        self
    }

    /// Makes a text stand for no value in each column.
    #[must_use]
    pub fn null(mut self, text: &str) -> Self {
        self.reading.nulls.push(text.to_owned());
        self
    }

    /// Sets the order of day and month in dates.
    #[must_use]
    pub fn dates(mut self, order: DateOrder) -> Self {
        self.reading.dates = Some(order);
        self
    }

    /// Rejects unknown columns: a CSV file as a whole, and each JSON record that has one.
    #[must_use]
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// The columns for an import of records that change the robots with their values of the field with this name. A
    /// column with ids is an unknown one, unless it is left out, or this field is the id.
    #[must_use]
    pub fn matching(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    /// Whether ids find robots.
    fn has_ids(&self) -> bool {
        self.key.as_deref() == Some(Field::ID.name())
    }

    /// The same choices for a catalogue with another definition.
    pub(super) fn redefined(self, definition: Arc<Definition>) -> Self {
        Self {
            definition,
            found: HashMap::new(),
            unknown: Vec::new(),
            ..self
        }
    }

    /// Sets how a column is read.
    pub(super) fn read(&mut self, heading: &str, reading: Reading) {
        self.readings.insert(heading.to_owned(), reading);
    }

    /// Whether the caller has chosen a field for a heading.
    pub(super) fn has_chosen(&self, heading: &str, field: &Field) -> bool {
        let mut chosen = self.chosen.iter();
        chosen
            .any(|(name, chosen)| name == heading.trim() && chosen.as_deref() == Some(field.name()))
    }

    /// The kind that was chosen for a heading, or for the field that it stands for.
    pub(super) fn chosen_kind(&self, heading: &str, field: &str) -> Option<&str> {
        let mut kinds = self.kinds.iter();
        let kind = kinds.find(|(name, _)| name == field || normalized(name) == normalized(heading));
        kind.map(|(_, kind)| kind.as_str())
    }

    /// The first name for which a kind was chosen and that is none of these.
    pub(super) fn kind_without(&self, known: impl Fn(&str) -> bool) -> Option<&str> {
        let mut kinds = self.kinds.iter().map(|(name, _)| name.as_str());
        kinds.find(|name| !known(name))
    }

    pub(super) fn report(&mut self, heading: &str) {
        let heading = heading.trim();
        if self.unknown.len() < REPORT_LIMIT && !self.unknown.iter().any(|one| one == heading) {
            self.unknown.push(heading.to_owned());
        }
    }

    pub(super) fn found(&self, heading: &str) -> Option<&Column> {
        self.found.get(heading)
    }

    /// Finds out what columns stand for, all of a header or those of a record.
    pub(super) fn find(&mut self, headings: &[&str]) -> Result<(), String> {
        let new: Vec<_> = (1..)
            .zip(headings)
            .filter(|(_, heading)| !self.found.contains_key(**heading))
            .collect();
        for (number, heading) in new {
            if self.found.len() >= COLUMN_LIMIT {
                return Err(format!("The file has more than {COLUMN_LIMIT} columns"));
            }
            let meaning = self.meaning(number, heading, headings)?;
            let reading = self.readings.get(heading.trim()).cloned();
            let reading = reading.unwrap_or_else(|| self.reading.clone());
            self.found
                .insert((*heading).to_owned(), Column { meaning, reading });
        }
        Ok(())
    }

    /// Finds the fields of a header's columns, or returns what is wrong with it.
    pub(super) fn read_header(&mut self, headings: &[&str]) -> Result<(), String> {
        self.find(headings)?;
        self.check_choices(headings)?;
        let mut fields = Vec::<(Field, &str)>::new();
        let mut unknown = Vec::new();
        for heading in headings {
            match self.found(heading).map(|column| &column.meaning) {
                Some(Meaning::Field(field)) => {
                    if let Some((_, other)) = fields.iter().find(|(one, _)| one == field) {
                        return Err(twice(field, other, heading));
                    }
                    fields.push((field.clone(), heading));
                }
                Some(Meaning::Unknown) if !heading.starts_with('#') => unknown.push(*heading),
                _ => {}
            }
        }
        if self.is_strict && !unknown.is_empty() {
            return Err(self.messages(&unknown).join("; "));
        }
        let definition = Arc::clone(&self.definition);
        let settable = definition.settable();
        let names = Field::names(settable);
        if fields.is_empty() {
            let has_header = headings.iter().any(|heading| !heading.starts_with('#'));
            return Err(if has_header {
                let headings = all(headings);
                format!("The first line names no field, but {headings}; the fields are {names}")
            } else {
                format!(
                    "No column stands for a field; say which one does, such as '#1=name'. The fields are {names}"
                )
            });
        }
        let has = |field: &Field| fields.iter().any(|(one, _)| one == field);
        let missing = settable
            .iter()
            .filter(|field| field.is_required() && self.key.is_none() && !has(field));
        let missing: Vec<_> = missing.map(Field::name).collect();
        for heading in &unknown {
            self.report(heading);
        }
        let key = self.key.as_deref();
        if let Some(key) = key.filter(|key| !fields.iter().any(|(field, _)| field.name() == *key)) {
            return Err(format!(
                "The header has no column for {key}, which finds the robots"
            ));
        }
        if !missing.is_empty() {
            return Err(format!(
                "Missing in the header: {}; the first line must name the columns, separated by \
                 commas: {names}",
                missing.join(", "),
            ));
        }
        Ok(())
    }

    /// Fails if a choice is for a column that the file does not have.
    pub(super) fn check_choices(&self, headings: &[&str]) -> Result<(), String> {
        let headings: Vec<_> = headings.iter().map(|heading| heading.trim()).collect();
        let numbers = (1..=headings.len()).map(|number| format!("#{number}"));
        let known = headings.iter().map(|heading| normalized(heading));
        let known: HashSet<_> = known.chain(numbers).collect();
        let mut chosen = self.chosen.iter().map(|(heading, _)| heading);
        match chosen.find(|heading| !known.contains(&normalized(heading))) {
            Some(heading) => Err(format!(
                "The file has no column '{}', but {}",
                excerpt(heading),
                all(&headings)
            )),
            None => Ok(()),
        }
    }

    /// What the caller has chosen for a column: by its exact heading or its number, or else by its heading in another
    /// case, unless that is the exact heading of another column.
    fn choice(
        &self,
        number: usize,
        heading: &str,
        all: &[&str],
    ) -> Result<Option<&Option<String>>, String> {
        let (heading, number) = (heading.trim(), format!("#{number}"));
        let is_exact = |name: &str| name == heading || name == number;
        let is_other = |name: &str| {
            all.iter().any(|other| other.trim() == name)
                || self.found.keys().any(|one| one.trim() == name)
        };
        let exact = self.chosen.iter().filter(|(name, _)| is_exact(name));
        let mut chosen: Vec<_> = exact.collect();
        if chosen.is_empty() {
            let normal = normalized(heading);
            let similar = self.chosen.iter();
            chosen
                .extend(similar.filter(|(name, _)| normalized(name) == normal && !is_other(name)));
        }
        let mut fields = chosen.iter().map(|(_, field)| field);
        let first = fields.next();
        match fields.find(|field| Some(*field) != first) {
            Some(_) => Err(format!(
                "The column '{}' is mapped twice, or mapped and left out; give one of them",
                excerpt(heading)
            )),
            None => Ok(first),
        }
    }

    fn meaning(&self, number: usize, heading: &str, all: &[&str]) -> Result<Meaning, String> {
        let field = match self.choice(number, heading, all)? {
            Some(None) => return Ok(Meaning::LeftOut),
            Some(Some(name)) if self.leaves_out_ids && name == Field::ID.name() => {
                return Ok(Meaning::LeftOut);
            }
            None if self.leaves_out_ids && normalized(heading) == Field::ID.name() => {
                return Ok(Meaning::LeftOut);
            }
            Some(Some(name)) => match self.definition.field(name) {
                Some(field) => Some(field),
                None => return Ok(Meaning::New(name.clone())),
            },
            None => self.field(heading),
        };
        Ok(match field.map(Field::member) {
            Some(Member::Revision) if !self.has_ids() => Meaning::LeftOut,
            _ => field.map_or(Meaning::Unknown, |field| Meaning::Field(field.clone())),
        })
    }

    /// The field that a heading names. An id is one of the file's own, unless it finds robots.
    fn field(&self, heading: &str) -> Option<&Field> {
        let heading: String = heading.trim().chars().take(TITLE_LIMIT).collect();
        let has_ids = self.has_ids();
        let fields = || {
            let all = self.definition.all().iter();
            all.filter(|field| has_ids || field.member() != Member::Id)
        };
        let normal = normalized(&heading);
        let exact = fields().find(|field| field.name() == heading || field.title() == heading);
        exact
            .or_else(|| fields().find(|field| field.name() == normal))
            .or_else(|| fields().find(|field| normalized(field.title()) == normal))
            .or_else(|| {
                let title = title_of(&heading)?;
                fields().find(|field| field.title() == title)
            })
    }

    /// Whether a heading stands for a field, or the caller has chosen what it stands for.
    pub(super) fn knows(&self, heading: &str) -> bool {
        let normal = normalized(heading);
        let mut chosen = self.chosen.iter();
        self.field(heading).is_some() || chosen.any(|(name, _)| normalized(name) == normal)
    }

    /// The messages about unknown columns, a few at most.
    pub(super) fn messages(&self, unknown_headings: &[&str]) -> Vec<String> {
        let settable = self.definition.settable().iter();
        let names: Vec<_> = settable.map(Field::name).collect();
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

/// The message about two columns for one field.
pub(super) fn twice(field: impl Display, one: &str, other: &str) -> String {
    let (one, other) = (excerpt(one.trim()), excerpt(other.trim()));
    if one == other {
        return format!("Two columns have the heading '{one}'; rename one of them in the file");
    }
    format!("The columns '{one}' and '{other}' both stand for {field}; leave one of them out")
}

/// The headings, for a message.
fn all(headings: &[&str]) -> String {
    let shown: Vec<_> = headings.iter().map(|heading| excerpt(heading)).collect();
    shown.join(", ")
}

/// A heading without blanks around it, in lower case: equal for headings of the same column.
pub(super) fn normalized(heading: &str) -> String {
    heading.trim().to_lowercase()
}
