//! Fields of a document, which the process keeps until it ends.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex, PoisonError},
};

use super::{
    keywords::{Keywords, PATTERN_SIZE, leak},
    place::{Place, Result},
};
use crate::model::{
    field::{Field, Member, Properties},
    kind::{INDEXED_LENGTH, Kind},
};

/// The maximum length of the name of a field: that of names in databases.
const NAME_LIMIT: usize = 63;
/// The maximum length of the name of a field with an index, whose name has a prefix.
const INDEXED_NAME_LIMIT: usize = 40;
/// The maximum size of all fields that a process has read.
const MEMORY_LIMIT: usize = 16 * 1024 * 1024;

/// The message beyond it.
const FULL: &str = "this program has read too many different fields; restart it";

/// The fields of this process, and their size.
static FIELDS: LazyLock<Mutex<(HashMap<String, Field>, usize)>> = LazyLock::new(Mutex::default);

/// Fails if drafts have used their share of the memory. Without the rest, the process could not read a definition that
/// another process stores, and would fail to write.
pub(super) fn check_room_for_drafts() -> Result<()> {
    let fields = FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
    if fields.1 > MEMORY_LIMIT / 2 {
        return Place::root("").error(FULL);
    }
    Ok(())
}

/// The field with a name and the JSON of its keywords, which the process keeps until it ends: equal ones once.
pub(super) fn field(name: &str, json: &str, is_required: bool) -> Result<Field> {
    let place = Place::property(name);
    let key = format!("{name} {is_required} {json}");
    let mut fields = FIELDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(field) = fields.0.get(&key) {
        return Ok(*field);
    }
    let keywords = Keywords::read(place.members(json)?, place)?;
    let pattern_size = keywords.pattern.as_ref().map_or(0, |_| PATTERN_SIZE);
    let size = key.len() + pattern_size;
    if fields.1 + size > MEMORY_LIMIT {
        return place.error(FULL);
    }
    let properties = properties(name, is_required, &keywords, place)?;
    let field = Field(Box::leak(Box::new(properties)));
    fields.1 += size;
    fields.0.insert(key, field);
    Ok(field)
}

/// A built-in field with other properties, or a field of the owner. Keeps no text before all of them are checked.
fn properties(
    name: &str,
    is_required: bool,
    keywords: &Keywords,
    place: Place<'_>,
) -> Result<Properties> {
    let built_in = Field::built_in(name);
    if built_in.is_none() {
        check_name(name, place)?;
    }
    if keywords.index || keywords.unique == Some(true) {
        check_index(name, keywords, place)?;
    }
    let kind = keywords.kind(built_in.map_or(Member::Own, Field::member), place)?;
    let base = built_in.map_or_else(|| own_field(name, kind), |field| *field.0);
    let description = keywords.description.as_deref();
    Ok(Properties {
        kind,
        is_required,
        title: keywords.title.as_deref().map_or(base.title, leak),
        description: description.map_or(base.description, leak),
        is_unique: keywords.unique.unwrap_or(base.is_unique),
        is_indexed: keywords.index || base.is_indexed,
        is_searched: keywords.search,
        ..base
    })
}

/// A field of the owner that has no keywords.
fn own_field(name: &str, kind: Kind) -> Properties {
    let [from_name, to_name] = if kind.is_ordered() {
        ["from", "to"].map(|end| leak(format!("{name}_{end}")))
    } else {
        [""; 2]
    };
    let mut title = name.replace('_', " ");
    title[..1].make_ascii_uppercase();
    Properties {
        name: leak(name),
        title: leak(title),
        from_name,
        to_name,
        ..Properties::DEFAULT
    }
}

fn check_index(name: &str, keywords: &Keywords, place: Place<'_>) -> Result<()> {
    if name.len() > INDEXED_NAME_LIMIT {
        return place.error(format_args!(
            "unique and index need a name of at most {INDEXED_NAME_LIMIT} characters"
        ));
    }
    if keywords.max_length > Some(INDEXED_LENGTH) {
        return place.error(format_args!(
            "unique and index need a maxLength of at most {INDEXED_LENGTH}"
        ));
    }
    Ok(())
}

/// Whether a name has another meaning: it is a member of robots, or a parameter of queries.
pub(crate) fn is_reserved(name: &str) -> bool {
    match name {
        "id" | "revision" | "created_at" | "updated_at" | "updated_by" | "fields" | "limit"
        | "after" | "cursor" | "sort" | "count" | "containing" | "fold" | "format"
        | "spreadsheet" | "on_conflict" | "atomic" | "dry_run" | "q" | "by" | "match" | "wait"
        | "drop_values" | "columns" | "propose" | "choices" => true,
        _ => name.ends_with("_from") || name.ends_with("_to"),
    }
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
