//! Fields of a document.

use std::borrow::Cow;

use super::{
    keywords::Keywords,
    location::{KeywordLocation, Result},
};
use crate::model::{
    field::{Field, Member, Properties},
    kind::{INDEXED_LENGTH, Kind},
};

/// The maximum length of the name of a field: that of names in databases.
const NAME_LIMIT: usize = 63;
/// The maximum length of the name of a field with an index, whose name has a prefix.
const INDEXED_NAME_LIMIT: usize = 40;
/// The field with a name and the JSON of its keywords: a built-in one with other properties, or one of the owner.
pub(super) fn field(name: &str, json: &str, is_required: bool) -> Result<Field> {
    let location = KeywordLocation::property(name);
    let keywords = Keywords::read(location.members(json)?, location)?;
    let built_in = Field::built_in(name);
    if built_in.is_none() {
        check_name(name, location)?;
    }
    if keywords.index || keywords.unique == Some(true) {
        check_index(name, &keywords, location)?;
    }
    let kind = keywords.kind(built_in.map_or(Member::Own, Field::member), location)?;
    let base = match built_in {
        Some(field) => field.properties().clone(),
        None => own_field(name, kind.clone()),
    };
    Ok(Field::defined(Properties {
        kind,
        is_required,
        title: keywords.title.map_or(base.title, Cow::Owned),
        description: keywords.description.map_or(base.description, Cow::Owned),
        is_unique: keywords.unique.unwrap_or(base.is_unique),
        is_indexed: keywords.index || base.is_indexed,
        is_searched: keywords.search,
        ..base
    }))
}

/// A field of the owner that has no keywords but those of its kind.
fn own_field(name: &str, kind: Kind) -> Properties {
    let mut title = name.replace('_', " ");
    title[..1].make_ascii_uppercase();
    Properties {
        name: name.to_owned().into(),
        title: title.into(),
        ..Properties::new(Member::Own, kind, [""; 3], "")
    }
}

fn check_index(name: &str, keywords: &Keywords, location: KeywordLocation<'_>) -> Result<()> {
    if name.len() > INDEXED_NAME_LIMIT {
        return location.error(format_args!(
            "unique and index need a name of at most {INDEXED_NAME_LIMIT} characters"
        ));
    }
    if keywords.max_length > Some(INDEXED_LENGTH) {
        return location.error(format_args!(
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
        | "spreadsheet" | "headings" | "on_conflict" | "atomic" | "dry_run" | "q" | "by"
        | "match" | "wait" | "every" | "drop_values" | "columns" | "propose" | "choices" => true,
        _ => {
            let ends = ["_from", "_to", "_not", "_contains"];
            ends.iter().any(|end| name.ends_with(end))
        }
    }
}

fn check_name(name: &str, location: KeywordLocation<'_>) -> Result<()> {
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        && name.len() <= NAME_LIMIT;
    if !is_name {
        return location.error(format_args!(
            "a name has 1 to {NAME_LIMIT} of the characters a to z, 0 to 9 and _, the first one a letter"
        ));
    }
    if is_reserved(name) {
        return location.error("this name has another meaning; choose another one");
    }
    Ok(())
}
