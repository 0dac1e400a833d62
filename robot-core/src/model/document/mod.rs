//! Definitions as JSON documents.

mod edit;
mod fields;
mod keywords;
mod location;
mod write;

use std::str::FromStr;

pub(super) use self::write::Property;
pub use self::{edit::DefinitionDraft, location::DefinitionError};
use self::{
    fields::field,
    location::{KeywordLocation, Result},
};
pub(crate) use self::{
    fields::is_reserved,
    keywords::{CHOICE_LIMIT, TITLE_LIMIT},
};
use super::{
    definition::{Definition, Noun},
    field::Field,
    members::Members,
    text::excerpt,
};

/// The schema of a built-in field that the robots of a catalogue do not have.
const LEFT_OUT: &str = "false";
/// The maximum length of a document, in bytes.
const DOCUMENT_LIMIT: usize = 64 * 1024;
/// The maximum length of a noun.
const NOUN_LIMIT: usize = 60;
/// The maximum number of own fields.
const FIELD_LIMIT: usize = 64;
/// The maximum number of own fields with an index. Databases limit the number of indexes of a table.
const INDEX_LIMIT: usize = 28;

impl FromStr for Definition {
    type Err = DefinitionError;

    fn from_str(text: &str) -> Result<Self> {
        let root = KeywordLocation::root("");
        if text.len() > DOCUMENT_LIMIT {
            return root.error(format_args!("must have at most {DOCUMENT_LIMIT} bytes"));
        }
        let members = root.members(text)?;
        let (mut title, mut noun, mut properties) = (None, None, Members::default());
        let mut required: Option<Vec<String>> = None;
        for (keyword, json) in members.0 {
            let location = KeywordLocation::root(&keyword);
            match &*keyword {
                "title" => title = Some(location.text(json, TITLE_LIMIT)?),
                "noun" => noun = Some(read_noun(json, location)?),
                "properties" => properties = location.members(json)?,
                "required" => required = Some(location.value(json, "an array of names")?),
                "$schema" => {
                    let schema: String = location.value(json, "a string")?;
                    if schema != SCHEMA {
                        return location.error(format_args!("must be {SCHEMA}, or missing"));
                    }
                }
                "type" if json == "\"object\"" => {}
                _ => {
                    return location.error(
                        "is not a keyword here; the keywords are title, noun, properties and required",
                    );
                }
            }
        }
        let built_ins = Field::SETTABLE.iter().map(Field::name);
        let built_ins = built_ins
            .filter(|name| *name == Field::NAME.name() || properties.get(name) != Some(LEFT_OUT));
        let own = properties.0.iter().map(|(name, _)| &**name);
        let own = own.filter(|name| Field::built_in(name).is_none());
        let names: Vec<_> = built_ins.clone().chain(own).collect();
        if names.len() > built_ins.clone().count() + FIELD_LIMIT {
            let message = format!("must have at most {FIELD_LIMIT} own fields");
            return KeywordLocation::root("properties").error(message);
        }
        let required = required.unwrap_or_else(|| built_ins.map(str::to_owned).collect());
        check_required(&required, &names)?;
        let (mut fields, mut indexes) = (Vec::new(), 0);
        for name in names {
            let json = properties.get(name).unwrap_or("{}");
            let field = field(name, json, required.iter().any(|required| required == name))?;
            indexes += usize::from(field.is_own() && field.is_indexed());
            if indexes > INDEX_LIMIT {
                return KeywordLocation::property(name).error(format_args!(
                    "at most {INDEX_LIMIT} fields can be unique or have an index; leave both out here"
                ));
            }
            fields.push(field);
        }
        Ok(Self::new(title, noun, &fields))
    }
}

const SCHEMA: &str = "https://json-schema.org/draft/2020-12/schema";

fn read_noun(json: &str, location: KeywordLocation<'_>) -> Result<Noun> {
    let noun: Noun = location.value(json, r#"such as {"one": "vase", "many": "vases"}"#)?;
    let is_text = |text: &String| {
        let length = text.trim().chars().count();
        (1..=NOUN_LIMIT).contains(&length) && !text.contains(char::is_control)
    };
    if !is_text(&noun.one) || !is_text(&noun.many) {
        return location.error(format_args!(
            "must have texts of 1 to {NOUN_LIMIT} characters"
        ));
    }
    Ok(noun)
}

/// Checks the names of the required fields.
fn check_required(required: &[String], names: &[&str]) -> Result<()> {
    let location = KeywordLocation::root("required");
    for (index, name) in required.iter().enumerate() {
        if !names.contains(&name.as_str()) {
            let name = excerpt(name);
            return location.error(format_args!("has '{name}', which is not a field"));
        }
        if required[..index].contains(name) {
            return location.error(format_args!("has {name} twice; name it once"));
        }
    }
    if !required.iter().any(|name| name == Field::NAME.name()) {
        return location.error("must have name, which every robot needs");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUSEUM: &str = r#"{"title": "Exhibits", "noun": {"one": "exhibit", "many": "exhibits"},
        "properties": {
            "name": {"unique": false, "description": "As in the inventory."},
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
        assert!(museum.to_string().contains("As in the inventory."));
        let again: Definition = museum.to_string().parse().unwrap();
        assert_eq!(again.to_string(), museum.to_string());
        assert_eq!(again.all(), museum.all());
        let other: Definition = MUSEUM.replace("poor", "bad").parse().unwrap();
        let differs = |field: &&Field| other.field(field.name()) != Some(*field);
        let differ: Vec<_> = museum.all().iter().filter(differs).collect();
        assert_eq!(differ, [museum.field("condition").unwrap()]);
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
        for (document, location) in [
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
                field("maker", r#"{"type":"string","pattern":"(a?){6000}b"}"#),
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
            assert!(error.starts_with(location), "{error}");
        }
    }

    #[test]
    fn nouns_and_left_out_fields_are_checked() {
        for (document, location) in [
            (r#"{"noun":{"one":"vase"}}"#, "noun: "),
            (r#"{"noun":{"one":"vase","many":""}}"#, "noun: "),
            (r#"{"properties":{"name":false}}"#, "properties.name: "),
            (
                r#"{"properties":{"year":false},"required":["name","year"]}"#,
                "required: ",
            ),
        ] {
            let error = document.parse::<Definition>().unwrap_err().to_string();
            assert!(error.starts_with(location), "{error}");
        }
        let definition: Definition = r#"{"properties":{"type":false}}"#.parse().unwrap();
        assert_eq!(Field::names(definition.settable()), "name,year");
        assert_eq!(definition.to_string().parse(), Ok(definition));
    }

    #[test]
    fn number_of_indexes_is_limited() {
        let parse = |count| {
            let field = |number| format!(r#""i{number}":{{"type":"boolean","index":true}}"#);
            let fields: Vec<_> = (0..count).map(field).collect();
            format!(r#"{{"properties":{{{}}}}}"#, fields.join(",")).parse::<Definition>()
        };
        assert!(parse(28).is_ok());
        let error = parse(29).unwrap_err().to_string();
        assert!(error.starts_with("properties.i28: "), "{error}");
    }
}
