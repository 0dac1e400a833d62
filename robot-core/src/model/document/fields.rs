//! Fields of a document, which the process keeps until it ends.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use regex_lite::{Regex, RegexBuilder};
use serde_json::value::RawValue;

use super::{
    keywords::Keywords,
    place::{Place, Result},
};
use crate::model::{
    field::{Field, Member, NAME_LENGTH_LIMIT, Properties},
    kind::{Format, INDEXED_LENGTH, Kind, Pattern},
};

/// The maximum length of the name of a field: that of names in databases.
const NAME_LIMIT: usize = 63;
/// The maximum length of the name of a field with an index, whose name has a prefix.
const INDEXED_NAME_LIMIT: usize = 40;
/// The maximum size of a compiled pattern. Greater, and a long text takes more than a tenth of a
/// second.
const PATTERN_SIZE: usize = 32 * 1024;
/// The maximum size of all fields that a process has read.
const MEMORY_LIMIT: usize = 16 * 1024 * 1024;

/// Names that have another meaning: members of robots, and parameters of queries.
pub(crate) const RESERVED: [&str; 23] = [
    "id",
    "revision",
    "created_at",
    "updated_at",
    "updated_by",
    "fields",
    "limit",
    "after",
    "cursor",
    "sort",
    "count",
    "containing",
    "fold",
    "format",
    "spreadsheet",
    "on_conflict",
    "atomic",
    "dry_run",
    "q",
    "by",
    "match",
    "wait",
    "drop_values",
];

/// What the document says about a field.
pub(super) struct NewField {
    base: Properties,
    pub(super) name: String,
    title: String,
    description: String,
    kind: NewKind,
    pub(super) is_unique: bool,
    pub(super) is_indexed: bool,
    is_searched: bool,
}

pub(super) enum NewKind {
    Text {
        max_length: usize,
        format: NewFormat,
    },
    Choice(Vec<String>),
    Other(Kind),
}

pub(super) enum NewFormat {
    Known(Format),
    Pattern(Regex),
}

impl NewField {
    pub(super) fn of(field: Field) -> Self {
        let properties = *field.0;
        Self {
            base: properties,
            name: properties.name.to_owned(),
            title: properties.title.to_owned(),
            description: properties.description.to_owned(),
            kind: match properties.kind {
                Kind::Text { max_length, format } => NewKind::Text {
                    max_length,
                    format: NewFormat::Known(format),
                },
                Kind::Choice(choices) => {
                    NewKind::Choice(choices.iter().map(|&one| one.to_owned()).collect())
                }
                kind => NewKind::Other(kind),
            },
            is_unique: properties.is_unique,
            is_indexed: properties.is_indexed,
            is_searched: properties.is_searched,
        }
    }

    /// The field, which the process keeps until it ends: equal ones once.
    pub(super) fn intern(self, is_required: bool) -> Result<Field> {
        static FIELDS: LazyLock<Mutex<(HashMap<String, Field>, usize)>> =
            LazyLock::new(Mutex::default);

        let place = Place {
            property: Some(&self.name),
            keyword: "",
        };
        let mut pattern_size = 0;
        let borrowed = match &self.kind {
            NewKind::Text { max_length, format } => {
                let (format, pattern) = match format {
                    NewFormat::Known(format) => (*format, ""),
                    NewFormat::Pattern(regex) => {
                        pattern_size = PATTERN_SIZE;
                        (Format::Any, regex.as_str())
                    }
                };
                format!("text {max_length} {format:?} {pattern:?}")
            }
            NewKind::Choice(choices) => format!("choice {choices:?}"),
            NewKind::Other(kind) => format!("{kind:?}"),
        };
        let Self {
            name,
            title,
            description,
            ..
        } = &self;
        let flags = [
            is_required,
            self.is_unique,
            self.is_indexed,
            self.is_searched,
        ];
        let key = format!("{name} {title:?} {description:?} {borrowed} {flags:?}");
        let mut fields = FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(field) = fields.0.get(&key) {
            return Ok(*field);
        }
        let size = key.len() + pattern_size;
        if fields.1 + size > MEMORY_LIMIT {
            return place.error("this program has read too many different fields; restart it");
        }
        let kind = match self.kind {
            NewKind::Text { max_length, format } => Kind::Text {
                max_length,
                format: match format {
                    NewFormat::Known(format) => format,
                    NewFormat::Pattern(regex) => {
                        Format::Pattern(Pattern(Box::leak(Box::new(regex))))
                    }
                },
            },
            NewKind::Choice(choices) => {
                let choices: Vec<&'static str> = choices.into_iter().map(leak).collect();
                Kind::Choice(choices.leak())
            }
            NewKind::Other(kind) => kind,
        };
        let [from_name, to_name] = match self.base.member {
            Member::Own if kind.is_ordered() => {
                ["from", "to"].map(|end| leak(format!("{}_{end}", self.name)))
            }
            _ => [self.base.from_name, self.base.to_name],
        };
        let field = Field(Box::leak(Box::new(Properties {
            name: leak(self.name),
            title: leak(self.title),
            description: leak(self.description),
            kind,
            is_required,
            is_unique: self.is_unique,
            is_indexed: self.is_indexed,
            is_searched: self.is_searched,
            from_name,
            to_name,
            ..self.base
        })));
        fields.1 += size;
        fields.0.insert(key, field);
        Ok(field)
    }
}

fn leak(text: String) -> &'static str {
    text.leak()
}

/// A regular expression, which matches in linear time, and whose memory is limited.
pub(super) fn regex(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.size_limit(PATTERN_SIZE).nest_limit(50).build();
    regex.map_err(|error| {
        format!("is too large, or no regular expression that this program knows: {error}")
    })
}

/// A field of the owner.
pub(super) fn own_field(
    name: &str,
    members: Vec<(String, Box<RawValue>)>,
    place: Place<'_>,
) -> Result<NewField> {
    check_name(name, place)?;
    let keywords = Keywords::read(members, place)?;
    let kind = keywords.kind(place)?;
    let is_indexed = keywords.index || keywords.unique;
    if is_indexed && name.len() > INDEXED_NAME_LIMIT {
        return place.error(format_args!(
            "unique and index need a name of at most {INDEXED_NAME_LIMIT} characters"
        ));
    }
    let is_long = matches!(kind, NewKind::Text { max_length, .. } if max_length > INDEXED_LENGTH);
    if is_indexed && is_long {
        return place.error(format_args!(
            "unique and index need a maxLength of at most {INDEXED_LENGTH}"
        ));
    }
    if keywords.search && matches!(kind, NewKind::Other(_)) {
        return place.with("search").error("needs a field of texts");
    }
    let mut title = name.replace('_', " ");
    title[..1].make_ascii_uppercase();
    Ok(NewField {
        base: Properties::DEFAULT,
        name: name.to_owned(),
        title: keywords.title.unwrap_or(title),
        description: keywords.description.unwrap_or_default(),
        kind,
        is_unique: keywords.unique,
        is_indexed: keywords.index,
        is_searched: keywords.search,
    })
}

/// Whether a name has another meaning.
pub(crate) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || name.ends_with("_from") || name.ends_with("_to")
}

fn check_name(name: &str, place: Place<'_>) -> Result<()> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && name.len() <= NAME_LIMIT;
    if !is_name {
        return place.error(format_args!(
            "a name has 1 to {NAME_LIMIT} of the characters a to z, 0 to 9 and _, the first one a letter"
        ));
    }
    if is_reserved(name) {
        return place.error("this name has another meaning; choose another one");
    }
    Ok(())
}

/// A built-in field with other properties.
pub(super) fn refined(
    field: Field,
    members: Vec<(String, Box<RawValue>)>,
    place: Place<'_>,
) -> Result<NewField> {
    let keywords = Keywords::read(members, place)?;
    let mut refined = NewField::of(field);
    let (kind, permitted): (_, &[_]) = match field.member() {
        Member::Name => (
            "string",
            &["type", "title", "description", "maxLength", "unique"],
        ),
        Member::Type => ("string", &["type", "title", "description", "enum"]),
        _ => (
            "integer",
            &["type", "title", "description", "minimum", "maximum"],
        ),
    };
    if let Some(keyword) = keywords
        .given
        .iter()
        .find(|given| !permitted.contains(&given.as_str()))
    {
        let permitted = permitted.join(", ");
        return place.with(keyword).error(format_args!(
            "cannot be given for {field}, which permits {permitted}"
        ));
    }
    if keywords.kind.as_deref().is_some_and(|given| given != kind) {
        return place
            .with("type")
            .error(format_args!("must be {kind}, or missing"));
    }
    if keywords
        .max_length
        .is_some_and(|length| length != NAME_LENGTH_LIMIT)
    {
        return place
            .with("maxLength")
            .error(format_args!("must be {NAME_LENGTH_LIMIT}, or missing"));
    }
    refined.title = keywords.title.clone().unwrap_or(refined.title);
    refined.description = keywords.description.clone().unwrap_or(refined.description);
    if keywords.given.iter().any(|given| given == "unique") {
        refined.is_unique = keywords.unique;
    }
    if let Some(choices) = &keywords.choices {
        refined.kind = NewKind::Choice(choices.clone());
    } else if let Kind::Integer { minimum, maximum } = field.kind() {
        refined.kind = NewKind::Other(keywords.integer(minimum, maximum, place)?);
    }
    Ok(refined)
}
