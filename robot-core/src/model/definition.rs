//! The definition of a catalogue: the fields of its robots, described once.
//!
//! Validation, JSON, CSV, filters, orders, the description of the HTTP API, the command line and the
//! web page follow from it. The owner of a catalogue refines the built-in fields, and adds fields.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU64, Ordering},
};

use serde::{Deserialize, Serialize};

use super::{
    field::{Field, Member},
    kind::{INDEXED_LENGTH, Kind, listed},
    revision::Revision,
    text::excerpt,
};

/// The definition of a catalogue. As text, and in JSON, it is a document in the vocabulary of JSON Schema
/// 2020-12.
///
/// ```
/// use robot_core::{Definition, Draft};
///
/// let definition: Definition = r#"{
///     "properties": {
///         "type": {"enum": ["vase", "coin"]},
///         "maker": {"type": "string", "maxLength": 200, "index": true}
///     },
///     "required": ["name", "type"]
/// }"#
/// .parse()?;
/// let mut draft = Draft { name: Some("Owl".into()), ..Draft::default() };
/// draft.set("type", "coin");
/// draft.set("maker", "Athens");
/// let coin = definition.validate(draft)?;
/// assert_eq!((coin.robot_type(), coin.year()), (Some("coin"), None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Definition {
    pub(super) title: Option<String>,
    pub(super) noun: Option<Noun>,
    /// The id, the fields that clients can set, and the revision.
    all: Vec<Field>,
    in_order_of_messages: Vec<Field>,
    created_view: Vec<Field>,
    revision: Revision,
    identity: DefinitionIdentity,
}

/// What the owner calls the robots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Noun {
    pub(super) one: String,
    pub(super) many: String,
}

/// Which definition of this process has checked values: clones of it, and of nothing else, have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DefinitionIdentity(u64);

static NEXT: AtomicU64 = AtomicU64::new(0);

static BUILT_IN: LazyLock<Arc<Definition>> = LazyLock::new(Arc::default);

impl Default for Definition {
    /// The definition of the contract.
    fn default() -> Self {
        Self::new(None, None, Field::SETTABLE)
    }
}

impl Definition {
    pub(super) fn new(title: Option<String>, noun: Option<Noun>, settable: &[Field]) -> Self {
        let mut in_order_of_messages = settable.to_vec();
        // Stable: own fields stay in their order.
        in_order_of_messages.sort_by_key(Field::member);
        Self {
            title,
            noun,
            all: [&[Field::ID], settable, &[Field::REVISION]].concat(),
            in_order_of_messages,
            created_view: [settable, &[Field::ID]].concat(),
            revision: Revision::FIRST,
            identity: DefinitionIdentity(NEXT.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// The definition of the contract: name, type and year.
    #[must_use]
    pub fn built_in() -> &'static Arc<Self> {
        &BUILT_IN
    }

    /// The title of the catalogue, for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the owner calls a robot, for people: `robot`, unless the definition has a noun.
    #[must_use]
    pub fn one(&self) -> &str {
        self.noun.as_ref().map_or("robot", |noun| &noun.one)
    }

    /// What the owner calls the robots, for people: `robots`, unless the definition has a noun.
    #[must_use]
    pub fn many(&self) -> &str {
        self.noun.as_ref().map_or("robots", |noun| &noun.many)
    }

    /// A message for people, with what the owner calls the robots: except in quotes, and in a list of choices.
    ///
    /// ```
    /// let definition: robot_core::Definition = r#"{"noun": {"one": "vase", "many": "vases"}}"#.parse()?;
    /// assert_eq!(definition.worded("No robot has the id 7"), "No vase has the id 7");
    /// # Ok::<(), robot_core::DefinitionError>(())
    /// ```
    #[must_use]
    pub fn worded(&self, message: &str) -> String {
        let nouns = ["robot", "robots"];
        let is_noun = |text: &str| text.split(' ').any(|word| nouns.contains(&word));
        let mut fields = self.all().iter().map(Field::name);
        let is_ambiguous = is_noun(self.one()) || is_noun(self.many()) || fields.any(is_noun);
        if self.noun.is_none() || is_ambiguous {
            return message.to_owned();
        }
        // What follows are choices, or names of columns or fields.
        let lists = [
            "one of: ",
            "list: ",
            " have: ",
            "no field, but ",
            "fields are ",
        ];
        let end = lists
            .into_iter()
            .filter_map(|list| message.find(list))
            .min();
        let (text, choices) = message.split_at(end.unwrap_or(message.len()));
        let separators = [' ', ',', ';', '.', ':', '?', ')', '\n'];
        let mut is_quoted = false;
        let words = text.split_inclusive([' ', '\n']).flat_map(|piece| {
            let word = piece.trim_end_matches(separators);
            is_quoted |= word.starts_with('\'');
            let worded = match word {
                "robot" if !is_quoted => self.one(),
                "robots" if !is_quoted => self.many(),
                _ => word,
            };
            is_quoted &= !word.ends_with('\'');
            [worded, &piece[word.len()..]]
        });
        words.chain([choices]).collect()
    }

    /// The number of this state of the definition in its catalogue: 1 for the first one.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The definition with the revision that a store has given to it.
    #[must_use]
    pub fn with_revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    pub(super) fn identity(&self) -> DefinitionIdentity {
        self.identity
    }

    /// All fields: the id, those that clients can set, and the revision.
    #[must_use]
    pub fn all(&self) -> &[Field] {
        &self.all
    }

    /// The fields of a robot in files and tables, unless others are chosen: all but the revision.
    #[must_use]
    pub fn default_fields(&self) -> &[Field] {
        self.all.split_last().map_or(&[], |(_, fields)| fields)
    }

    /// The fields that clients can set.
    #[must_use]
    pub fn settable(&self) -> &[Field] {
        self.default_fields().get(1..).unwrap_or_default()
    }

    /// The built-in fields that its robots do not have.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &Field> {
        let built_in = Field::SETTABLE.iter();
        built_in.filter(|field| self.field(field.name()).is_none())
    }

    /// The fields that the owner has added.
    pub fn own(&self) -> impl Iterator<Item = &Field> {
        self.settable().iter().filter(|field| field.is_own())
    }

    /// The fields that clients can set, in the order of messages about them.
    pub(crate) fn in_order_of_messages(&self) -> &[Field] {
        &self.in_order_of_messages
    }

    /// The fields of a robot in the reply to its creation.
    pub(crate) fn created_view(&self) -> &[Field] {
        &self.created_view
    }

    /// The field with this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.all.iter().find(|field| field.name() == name)
    }

    /// All fields that a reader may name: also the times and the author of the last change.
    pub fn readable(&self) -> impl Iterator<Item = &Field> {
        let is_free = |field: &&Field| self.field(field.name()).is_none();
        self.all.iter().chain(Field::AUDIT.iter().filter(is_free))
    }

    /// Whether every robot has a value of a field. Those that were stored by an earlier definition may have none.
    pub(crate) fn all_have(&self, field: &Field) -> bool {
        let is_first = self.revision == Revision::FIRST;
        matches!(field.member(), Member::Id | Member::Name) || is_first && field.is_required()
    }

    /// Whether no two robots have the same name.
    #[must_use]
    pub fn has_unique_names(&self) -> bool {
        self.field(Field::NAME.name()).is_none_or(Field::is_unique)
    }

    /// The fields whose values are unique, besides the id: in the order of messages about them.
    pub fn unique(&self) -> impl Iterator<Item = &Field> {
        let fields = self.in_order_of_messages.iter();
        fields.filter(|field| field.is_unique())
    }

    /// Whether names are unique, and nothing else is.
    pub(crate) fn has_only_unique_names(&self) -> bool {
        self.unique().map(Field::member).eq([Member::Name])
    }

    /// The fields that lists can be sorted by: not texts of more than 500 characters, which links to the next
    /// page would contain.
    pub fn sortable(&self) -> impl Iterator<Item = &Field> {
        let is_sortable = |field: &&Field| match field.kind() {
            Kind::Text { max_length, .. } => *max_length <= INDEXED_LENGTH,
            Kind::Choice(_) => field.is_own(),
            _ => true,
        };
        let settable = self.settable().iter().filter(is_sortable);
        let (built_in, own): (Vec<_>, Vec<_>) = settable.partition(|field| !field.is_own());
        let built_in = built_in.into_iter().chain(self.all.first());
        let times = self
            .readable()
            .filter(|field| *field.kind() == Kind::Timestamp);
        built_in.chain(own).chain(times)
    }

    /// The fields by whose values robots are counted: choices, true and false, and times, by their years.
    pub fn countable(&self) -> impl Iterator<Item = &Field> {
        let is_countable =
            |kind: &Kind| kind.is_time() || matches!(kind, Kind::Choice(_) | Kind::Boolean);
        let fields = self.settable().iter();
        fields.filter(move |field| is_countable(field.kind()))
    }

    /// The names of the required fields, in a sentence: `name, type and year`.
    pub(crate) fn required_names(&self) -> String {
        let required = self.settable().iter().filter(|field| field.is_required());
        listed(&required.map(Field::name).collect::<Vec<_>>(), "and")
    }

    /// Parses field names separated by commas; `*` stands for [`all`](Self::all).
    ///
    /// # Errors
    /// A name is not that of a field, or is repeated: a message for people.
    ///
    /// ```
    /// use robot_core::{Definition, Field};
    ///
    /// let definition = Definition::built_in();
    /// assert_eq!(definition.list("name,year")?, [Field::NAME, Field::YEAR]);
    /// assert_eq!(definition.list("*")?, Field::ALL);
    /// assert!(definition.list("name,colour").is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn list(&self, text: &str) -> Result<Vec<Field>, String> {
        if text == "*" {
            return Ok(self.all.clone());
        }
        let mut fields = Vec::new();
        for name in text.split(',') {
            let field = self.readable().find(|field| field.name() == name);
            let field = field.ok_or_else(|| {
                let known: Vec<_> = self.readable().map(Field::name).collect();
                let (name, known) = (excerpt(name), known.join(","));
                format!("fields has '{name}', which is not a field; the fields are {known}")
            })?;
            if fields.contains(field) {
                return Err(format!("fields has '{field}' twice; name it once"));
            }
            fields.push(field.clone());
        }
        Ok(fields)
    }
}
