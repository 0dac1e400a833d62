//! Definitions as JSON documents.

use std::{
    collections::HashMap,
    fmt::{self, Display},
    str::FromStr,
    sync::{LazyLock, Mutex, PoisonError},
};

use regex_lite::RegexBuilder;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::value::RawValue;

use super::{
    definition::Definition,
    field::{Field, Member, NAME_LENGTH_LIMIT, Properties},
    kind::{Format, Kind, Pattern},
    text::excerpt,
};

/// The maximum length of a document, in bytes.
const DOCUMENT_LIMIT: usize = 64 * 1024;
/// The maximum number of own fields.
const FIELD_LIMIT: usize = 64;
/// The maximum length of the name of a field: that of names in databases.
const NAME_LIMIT: usize = 63;
/// The maximum length of the name of a field with an index, whose name has a prefix.
const INDEXED_NAME_LIMIT: usize = 48;
/// The maximum length of texts in an index.
const INDEXED_LENGTH_LIMIT: usize = 500;
const TEXT_LENGTH_LIMIT: usize = 10_000;
const CHOICE_LIMIT: usize = 200;
const PATTERN_LIMIT: usize = 1000;
const TITLE_LIMIT: usize = 100;
const DESCRIPTION_LIMIT: usize = 1000;
/// The maximum size of all fields that a process has read, which it keeps until it ends.
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

/// Why a text is not a definition: the place in the document, what is wrong there, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct DefinitionError {
    place: String,
    message: String,
}

type Result<T, E = DefinitionError> = std::result::Result<T, E>;

/// A place in the document.
#[derive(Clone, Copy)]
struct Place<'a> {
    property: Option<&'a str>,
    keyword: &'a str,
}

impl<'a> Place<'a> {
    const fn root(keyword: &'a str) -> Self {
        Self {
            property: None,
            keyword,
        }
    }

    const fn with(self, keyword: &'a str) -> Self {
        Self { keyword, ..self }
    }

    fn error<T>(self, message: impl Display) -> Result<T> {
        let keyword = excerpt(self.keyword);
        let place = match self.property {
            Some(name) if keyword.is_empty() => format!("properties.{}", excerpt(name)),
            Some(name) => format!("properties.{}.{keyword}", excerpt(name)),
            None if keyword.is_empty() => "the definition".to_owned(),
            None => keyword.into_owned(),
        };
        Err(DefinitionError {
            place,
            message: message.to_string(),
        })
    }

    /// The value of a keyword.
    fn value<T: DeserializeOwned>(self, json: &RawValue, expected: &str) -> Result<T> {
        match serde_json::from_str(json.get()) {
            Ok(value) => Ok(value),
            Err(_) => self.error(format_args!("must be {expected}")),
        }
    }

    /// A text for people.
    fn text(self, json: &RawValue, limit: usize) -> Result<String> {
        let text: String = self.value(json, "a string")?;
        if text.trim().is_empty() || text.chars().count() > limit || text.contains('\0') {
            return self.error(format_args!("must have 1 to {limit} characters"));
        }
        Ok(text)
    }
}

/// The members of an object, in their order.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl Members {
    /// Fails if a member is repeated.
    fn each_once(self, place: Place<'_>) -> Result<Self> {
        for (index, (name, _)) in self.0.iter().enumerate() {
            if self.0[..index].iter().any(|(other, _)| other == name) {
                return place.with(name).error("is given twice; give it once");
            }
        }
        Ok(self)
    }
}

impl FromStr for Definition {
    type Err = DefinitionError;

    fn from_str(text: &str) -> Result<Self> {
        let root = Place::root("");
        if text.len() > DOCUMENT_LIMIT {
            return root.error(format_args!("must have at most {DOCUMENT_LIMIT} bytes"));
        }
        let members: Members = match serde_json::from_str(text) {
            Ok(members) => members,
            Err(error) => return root.error(format_args!("is not a JSON object: {error}")),
        };
        let (mut title, mut properties, mut required) = (None, Vec::new(), None);
        for (keyword, json) in members.each_once(root)?.0 {
            let place = Place::root(&keyword);
            match keyword.as_str() {
                "title" => title = Some(place.text(&json, TITLE_LIMIT)?),
                "properties" => {
                    let members: Members = place.value(&json, "an object")?;
                    properties = members.each_once(place)?.0;
                }
                "required" => {
                    let names: Vec<String> = place.value(&json, "an array of names")?;
                    required = Some(names);
                }
                "$schema" => {
                    let schema: String = place.value(&json, "a string")?;
                    if schema != SCHEMA {
                        return place.error(format_args!("must be {SCHEMA}, or missing"));
                    }
                }
                "type" if json.get() == "\"object\"" => {}
                _ => {
                    return place.error(
                        "is not a keyword here; the keywords are title, properties and required",
                    );
                }
            }
        }
        let required = Required::new(required, &properties)?;
        let mut fields = Field::SETTABLE.to_vec();
        for (name, json) in &properties {
            let place = Place {
                property: Some(name),
                keyword: "",
            };
            let members: Members = place.value(json, "an object with the keywords of the field")?;
            let members = members.each_once(place)?.0;
            let is_required = required.contains(name);
            match fields
                .iter()
                .position(|field| field.name() == name && !field.is_own())
            {
                Some(index) => {
                    fields[index] = refined(fields[index], members, place)?.intern(is_required)?
                }
                None => fields.push(own_field(name, members, place)?.intern(is_required)?),
            }
        }
        for field in fields.iter_mut().filter(|field| !field.is_own()) {
            let properties = NewField::of(*field);
            *field = properties.intern(required.contains(field.name()))?;
        }
        if fields.iter().filter(|field| field.is_own()).count() > FIELD_LIMIT {
            let message = format!("must have at most {FIELD_LIMIT} own fields");
            return Place::root("properties").error(message);
        }
        Ok(Self::new(title, fields))
    }
}

const SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

/// The names of the required fields.
struct Required(Vec<String>);

impl Required {
    /// Without the keyword, the built-in fields are required.
    fn new(names: Option<Vec<String>>, properties: &[(String, Box<RawValue>)]) -> Result<Self> {
        let built_in = Field::SETTABLE.iter().map(|field| field.name());
        let Some(names) = names else {
            return Ok(Self(built_in.map(str::to_owned).collect()));
        };
        let place = Place::root("required");
        for (index, name) in names.iter().enumerate() {
            let mut known = properties
                .iter()
                .map(|(name, _)| name.as_str())
                .chain(built_in.clone());
            if !known.any(|known| known == name) {
                return place.error(format_args!(
                    "has '{}', which is not a field",
                    excerpt(name)
                ));
            }
            if names[..index].contains(name) {
                return place.error(format_args!("has {name} twice; name it once"));
            }
        }
        if !names.iter().any(|name| name == Field::NAME.name()) {
            return place.error("must have name, which every robot needs");
        }
        Ok(Self(names))
    }

    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|required| required == name)
    }
}

/// What the document says about a field.
struct NewField {
    base: Properties,
    name: String,
    title: String,
    description: String,
    kind: NewKind,
    is_unique: bool,
    is_indexed: bool,
    is_searched: bool,
}

enum NewKind {
    Text {
        max_length: usize,
        format: NewFormat,
    },
    Choice(Vec<String>),
    Other(Kind),
}

enum NewFormat {
    Known(Format),
    Pattern(String),
}

impl NewField {
    fn of(field: Field) -> Self {
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
    fn intern(self, is_required: bool) -> Result<Field> {
        static FIELDS: LazyLock<Mutex<(HashMap<String, Field>, usize)>> =
            LazyLock::new(Mutex::default);

        let place = Place {
            property: Some(&self.name),
            keyword: "",
        };
        let borrowed = match &self.kind {
            NewKind::Text { max_length, format } => {
                let (format, pattern) = match format {
                    NewFormat::Known(format) => (*format, ""),
                    NewFormat::Pattern(pattern) => (Format::Any, pattern.as_str()),
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
        if fields.1 + key.len() > MEMORY_LIMIT {
            return place.error("this program has read too many different fields; restart it");
        }
        let kind = match self.kind {
            NewKind::Text { max_length, format } => Kind::Text {
                max_length,
                format: match format {
                    NewFormat::Known(format) => format,
                    NewFormat::Pattern(pattern) => match regex(&pattern) {
                        Ok(regex) => Format::Pattern(Pattern(Box::leak(Box::new(regex)))),
                        Err(message) => return place.with("pattern").error(message),
                    },
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
        fields.1 += key.len();
        fields.0.insert(key, field);
        Ok(field)
    }
}

fn leak(text: String) -> &'static str {
    text.leak()
}

/// A regular expression, which matches in linear time, and whose memory is limited.
fn regex(pattern: &str) -> Result<regex_lite::Regex, String> {
    let mut builder = RegexBuilder::new(pattern);
    let regex = builder.size_limit(1024 * 1024).nest_limit(50).build();
    regex.map_err(|error| format!("is not a regular expression that this program knows: {error}"))
}

/// A field of the owner.
fn own_field(
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
    if let (
        true,
        NewKind::Text {
            max_length: 501.., ..
        },
    ) = (is_indexed, &kind)
    {
        return place.error(format_args!(
            "unique and index need a maxLength of at most {INDEXED_LENGTH_LIMIT}"
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
    let is_reserved = RESERVED.contains(&name) || name.ends_with("_from") || name.ends_with("_to");
    if is_reserved {
        return place.error("this name has another meaning; choose another one");
    }
    Ok(())
}

/// The keywords of a field.
#[derive(Default)]
struct Keywords {
    kind: Option<String>,
    title: Option<String>,
    description: Option<String>,
    max_length: Option<usize>,
    pattern: Option<String>,
    format: Option<Format>,
    minimum: Option<serde_json::Number>,
    maximum: Option<serde_json::Number>,
    choices: Option<Vec<String>>,
    unique: bool,
    index: bool,
    search: bool,
    given: Vec<String>,
}

impl Keywords {
    fn read(members: Vec<(String, Box<RawValue>)>, place: Place<'_>) -> Result<Self> {
        let mut read = Self::default();
        for (keyword, json) in members {
            let place = place.with(&keyword);
            match keyword.as_str() {
                "type" => read.kind = Some(place.value(&json, KINDS)?),
                "title" => read.title = Some(place.text(&json, TITLE_LIMIT)?),
                "description" => read.description = Some(place.text(&json, DESCRIPTION_LIMIT)?),
                "maxLength" => {
                    let expected = format!("an integer from 1 to {TEXT_LENGTH_LIMIT}");
                    let length: usize = place.value(&json, &expected)?;
                    if !(1..=TEXT_LENGTH_LIMIT).contains(&length) {
                        return place.error(format_args!("must be {expected}"));
                    }
                    read.max_length = Some(length);
                }
                "pattern" => {
                    let pattern = place.text(&json, PATTERN_LIMIT)?;
                    if let Err(message) = regex(&pattern) {
                        return place.error(message);
                    }
                    read.pattern = Some(pattern);
                }
                "format" => {
                    let name: String = place.value(&json, FORMATS)?;
                    read.format = Some(match name.as_str() {
                        "date" => Format::Date,
                        "uri" => Format::Uri,
                        _ => return place.error(format_args!("must be {FORMATS}")),
                    });
                }
                "minimum" => read.minimum = Some(place.value(&json, "a number")?),
                "maximum" => read.maximum = Some(place.value(&json, "a number")?),
                "enum" => read.choices = Some(choices(&json, place)?),
                "unique" => read.unique = place.value(&json, "true or false")?,
                "index" => read.index = place.value(&json, "true or false")?,
                "search" => read.search = place.value(&json, "true or false")?,
                _ => {
                    return place.error(
                        "is not a keyword here; the keywords are type, enum, maxLength, pattern, format, \
                         minimum, maximum, unique, index, search, title and description",
                    );
                }
            }
            read.given.push(keyword);
        }
        Ok(read)
    }

    /// Fails if a keyword is given that others exclude.
    fn permit(&self, keywords: &[&str], place: Place<'_>) -> Result<()> {
        const ALWAYS: [&str; 6] = ["type", "title", "description", "unique", "index", "search"];
        let is_excluded = |given: &&String| {
            !keywords.contains(&given.as_str()) && !ALWAYS.contains(&given.as_str())
        };
        match self.given.iter().find(is_excluded) {
            Some(keyword) => place
                .with(keyword)
                .error("does not fit the type of the field; leave it out"),
            None => Ok(()),
        }
    }

    fn kind(&self, place: Place<'_>) -> Result<NewKind> {
        match (self.kind.as_deref(), &self.choices) {
            (None | Some("string"), Some(choices)) => {
                self.permit(&["enum"], place)?;
                Ok(NewKind::Choice(choices.clone()))
            }
            (Some("string"), None) => {
                self.permit(&["maxLength", "pattern", "format"], place)?;
                let max_length = self.max_length.unwrap_or(NAME_LENGTH_LIMIT);
                let format = match (&self.pattern, self.format) {
                    (Some(_), Some(_)) => {
                        return place
                            .with("pattern")
                            .error("excludes format; give one of them");
                    }
                    (Some(pattern), None) => NewFormat::Pattern(pattern.clone()),
                    (None, format) => NewFormat::Known(format.unwrap_or(Format::Any)),
                };
                Ok(NewKind::Text { max_length, format })
            }
            (Some("integer"), None) => self.integer(i64::MIN, i64::MAX, place).map(NewKind::Other),
            (Some("number"), None) => {
                self.permit(&["minimum", "maximum"], place)?;
                let limit = |given: &Option<serde_json::Number>, default| {
                    given
                        .as_ref()
                        .and_then(serde_json::Number::as_f64)
                        .unwrap_or(default)
                };
                let minimum = limit(&self.minimum, f64::MIN);
                let maximum = limit(&self.maximum, f64::MAX);
                ordered(minimum <= maximum, place)?;
                Ok(NewKind::Other(Kind::Number { minimum, maximum }))
            }
            (Some("boolean"), None) => {
                self.permit(&[], place)?;
                Ok(NewKind::Other(Kind::Boolean))
            }
            (None, None) => place.error(format_args!("needs a type ({KINDS}), or an enum")),
            _ => place
                .with("type")
                .error(format_args!("must be {KINDS}; an enum has strings")),
        }
    }

    fn integer(&self, minimum: i64, maximum: i64, place: Place<'_>) -> Result<Kind> {
        self.permit(&["minimum", "maximum"], place)?;
        let limit = |given: &Option<serde_json::Number>, default, keyword| match given {
            None => Ok(default),
            Some(number) => match number.as_i64() {
                Some(integer) => Ok(integer),
                None => place.with(keyword).error("must be an integer of 64 bits"),
            },
        };
        let minimum = limit(&self.minimum, minimum, "minimum")?;
        let maximum = limit(&self.maximum, maximum, "maximum")?;
        ordered(minimum <= maximum, place)?;
        Ok(Kind::Integer { minimum, maximum })
    }
}

const KINDS: &str = "string, integer, number or boolean";
const FORMATS: &str = "date or uri";

fn ordered(is_ordered: bool, place: Place<'_>) -> Result<()> {
    if is_ordered {
        return Ok(());
    }
    place
        .with("minimum")
        .error("must not be greater than maximum")
}

fn choices(json: &RawValue, place: Place<'_>) -> Result<Vec<String>> {
    let choices: Vec<String> = place.value(json, "an array of strings")?;
    if !(1..=CHOICE_LIMIT).contains(&choices.len()) {
        return place.error(format_args!("must have 1 to {CHOICE_LIMIT} choices"));
    }
    for (index, choice) in choices.iter().enumerate() {
        let is_text = (1..=NAME_LENGTH_LIMIT).contains(&choice.chars().count());
        if !is_text || choice.contains('\0') {
            return place.error(format_args!(
                "choices have 1 to {NAME_LENGTH_LIMIT} characters"
            ));
        }
        if choices[..index].contains(choice) {
            return place.error(format_args!("has '{}' twice", excerpt(choice)));
        }
    }
    Ok(choices)
}

/// A built-in field with other properties.
fn refined(
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

impl Serialize for Definition {
    /// The document, with all properties of all fields.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fields<'a>(&'a [Field]);

        impl Serialize for Fields<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|field| (field.name(), Property(*field))))
            }
        }

        let mut document = serializer.serialize_map(None)?;
        if let Some(title) = &self.title {
            document.serialize_entry("title", title)?;
        }
        document.serialize_entry("properties", &Fields(self.settable()))?;
        let required = self.settable().iter().filter(|field| field.is_required());
        document.serialize_entry("required", &required.collect::<Vec<_>>())?;
        document.end()
    }
}

/// The keywords of a field.
struct Property(Field);

impl Serialize for Property {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let field = self.0;
        let mut property = serializer.serialize_map(None)?;
        property.serialize_entry("type", field.json_type())?;
        match field.kind() {
            Kind::Text { max_length, format } => {
                property.serialize_entry("maxLength", &max_length)?;
                match format {
                    Format::Any => {}
                    Format::Date => property.serialize_entry("format", "date")?,
                    Format::Uri => property.serialize_entry("format", "uri")?,
                    Format::Pattern(pattern) => {
                        property.serialize_entry("pattern", pattern.as_str())?
                    }
                }
            }
            Kind::Choice(choices) => property.serialize_entry("enum", choices)?,
            Kind::Integer { minimum, maximum } => {
                if minimum > i64::MIN {
                    property.serialize_entry("minimum", &minimum)?;
                }
                if maximum < i64::MAX {
                    property.serialize_entry("maximum", &maximum)?;
                }
            }
            Kind::Number { minimum, maximum } => {
                if minimum > f64::MIN {
                    property.serialize_entry("minimum", &minimum)?;
                }
                if maximum < f64::MAX {
                    property.serialize_entry("maximum", &maximum)?;
                }
            }
            Kind::Id | Kind::Boolean => {}
        }
        let is_name = field == Field::NAME;
        if field.is_unique() || is_name {
            property.serialize_entry("unique", &field.is_unique())?;
        }
        if field.is_own() && field.0.is_indexed {
            property.serialize_entry("index", &true)?;
        }
        if field.is_searched() {
            property.serialize_entry("search", &true)?;
        }
        property.serialize_entry("title", field.title())?;
        if field.is_own() && !field.0.description.is_empty() {
            property.serialize_entry("description", field.0.description)?;
        }
        property.end()
    }
}

impl Field {
    /// The type of values in JSON.
    pub(crate) const fn json_type(self) -> &'static str {
        match self.kind() {
            Kind::Id | Kind::Text { .. } | Kind::Choice(_) => "string",
            Kind::Integer { .. } => "integer",
            Kind::Number { .. } => "number",
            Kind::Boolean => "boolean",
        }
    }
}

impl Display for Definition {
    /// The document, with an indent.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = serde_json::to_string_pretty(self).map_err(|_| fmt::Error)?;
        formatter.write_str(&document)
    }
}

impl Definition {
    /// The names of the fields in which two definitions differ, and `order` if only their order does.
    #[cfg(feature = "transfer")]
    pub(crate) fn differences(&self, other: &Self) -> Vec<&'static str> {
        let property = |definition: &Self, name| {
            let field = definition.field(name)?;
            Some((
                field.is_required(),
                serde_json::to_string(&Property(field)).ok(),
            ))
        };
        let all = self.settable().iter().chain(other.settable());
        let mut names: Vec<_> = all.map(|field| field.name()).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| property(self, name) != property(other, name));
        if names.is_empty() {
            names.push("the title or the order of the fields");
        }
        names
    }
}

impl PartialEq for Definition {
    /// Whether the documents are the same.
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_string(self).ok() == serde_json::to_string(other).ok()
    }
}

impl Eq for Definition {}

#[cfg(test)]
mod tests {
    use super::*;

    const MUSEUM: &str = r#"{"title": "Exhibits",
        "properties": {
            "name": {"unique": false},
            "type": {"enum": ["painting", "vase", "coin"]},
            "year": {"minimum": -5000},
            "accession": {"type": "string", "pattern": "^[0-9]{4}\\.[0-9]+$", "unique": true},
            "maker": {"type": "string", "maxLength": 200, "title": "Maker", "index": true, "search": true},
            "weight": {"type": "number", "minimum": 0},
            "rooms": {"type": "integer", "minimum": 1, "maximum": 99},
            "acquired": {"type": "string", "format": "date"},
            "on_display": {"type": "boolean"},
            "condition": {"enum": ["good", "fair", "poor"]}},
        "required": ["name", "type", "accession"]}"#;

    #[test]
    fn document_is_equal_after_a_round_trip() {
        let museum: Definition = MUSEUM.parse().unwrap();
        let names = "name,type,year,accession,maker,weight,rooms,acquired,on_display,condition";
        assert_eq!(Field::names(museum.settable()), names);
        assert!(!museum.has_unique_names());
        assert_eq!(museum.field("on_display").unwrap().title(), "On display");
        let again: Definition = museum.to_string().parse().unwrap();
        assert_eq!(again.to_string(), museum.to_string());
        let fields = |one: &Definition| {
            one.all()
                .iter()
                .map(|field| std::ptr::from_ref(field.0))
                .collect::<Vec<_>>()
        };
        assert_eq!(fields(&again), fields(&museum));
    }

    #[test]
    fn empty_document_is_the_built_in_definition() {
        assert_eq!(
            "{}".parse::<Definition>().unwrap(),
            **Definition::built_in()
        );
    }

    #[test]
    fn invalid_documents_are_refused_with_the_place() {
        let field =
            |name: &str, keywords: &str| format!(r#"{{"properties":{{"{name}":{keywords}}}}}"#);
        let many = |count| {
            (0..count)
                .map(|number| format!("\"c{number}\""))
                .collect::<Vec<_>>()
                .join(",")
        };
        let fields = (0..65)
            .map(|number| format!(r#""f{number}":{{"type":"boolean"}}"#))
            .collect::<Vec<_>>()
            .join(",");
        for (document, place) in [
            ("[]".to_owned(), "the definition: "),
            (" ".repeat(70_000), "the definition: "),
            (r#"{"title":""}"#.to_owned(), "title: "),
            (r#"{"colour":1}"#.to_owned(), "colour: "),
            (r#"{"title":"a","title":"b"}"#.to_owned(), "title: "),
            (format!(r#"{{"properties":{{{fields}}}}}"#), "properties: "),
            (r#"{"required":["type"]}"#.to_owned(), "required: "),
            (r#"{"required":["name","maker"]}"#.to_owned(), "required: "),
            (
                field("__proto__", r#"{"type":"string"}"#),
                "properties.__proto__: ",
            ),
            (field("id", r#"{"type":"string"}"#), "properties.id: "),
            (
                field("year_from", r#"{"type":"string"}"#),
                "properties.year_from: ",
            ),
            (
                field(&"a".repeat(64), r#"{"type":"string"}"#),
                "properties.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…: ",
            ),
            (field("maker", "{}"), "properties.maker: "),
            (
                field("maker", r#"{"type":"text"}"#),
                "properties.maker.type: ",
            ),
            (
                field("maker", r#"{"type":"string","maxlength":2}"#),
                "properties.maker.maxlength: ",
            ),
            (
                field("maker", r#"{"type":"string","maxLength":20000}"#),
                "properties.maker.maxLength: ",
            ),
            (
                field("maker", r#"{"type":"string","maxLength":600,"index":true}"#),
                "properties.maker: ",
            ),
            (
                field("maker", r#"{"type":"string","minimum":2}"#),
                "properties.maker.minimum: ",
            ),
            (
                field("maker", r#"{"type":"string","pattern":"("}"#),
                "properties.maker.pattern: ",
            ),
            (
                field(
                    "maker",
                    r#"{"type":"string","pattern":"(((a{100}){100}){100}){100}"}"#,
                ),
                "properties.maker.pattern: ",
            ),
            (
                field("rooms", r#"{"type":"integer","minimum":0.5}"#),
                "properties.rooms.minimum: ",
            ),
            (
                field("rooms", r#"{"type":"integer","minimum":5,"maximum":4}"#),
                "properties.rooms.minimum: ",
            ),
            (
                field("rooms", r#"{"type":"integer","search":true}"#),
                "properties.rooms.search: ",
            ),
            (field("state", r#"{"enum":[]}"#), "properties.state.enum: "),
            (
                field("state", r#"{"enum":["a","a"]}"#),
                "properties.state.enum: ",
            ),
            (
                field("state", &format!(r#"{{"enum":[{}]}}"#, many(5_000))),
                "properties.state.enum: ",
            ),
            (
                field("name", r#"{"maxLength":10}"#),
                "properties.name.maxLength: ",
            ),
            (
                field("year", r#"{"type":"number"}"#),
                "properties.year.type: ",
            ),
            (
                field("type", r#"{"unique":true}"#),
                "properties.type.unique: ",
            ),
        ] {
            let error = document.parse::<Definition>().unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
