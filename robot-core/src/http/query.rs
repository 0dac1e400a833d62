//! Query parameters: `fields`, `limit`, `after`; `format`, `on_conflict`, `dry_run`, `spreadsheet`.

use std::{borrow::Cow, num::NonZeroUsize};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use super::failure::Failure;
use crate::{
    model::Field,
    transfer::{AfterFailure, DryRun, Format, ImportOptions, OnConflict, RobotWriter},
};

/// The characters that are encoded in a path or a query: all but the unreserved ones of RFC 3986.
pub(super) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The maximum number of robots on a page.
const LIMIT_MAXIMUM: usize = 1000;

/// The parameters of a `GET`. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The fields of each robot, in this order.
    pub(super) fields: Option<Vec<Field>>,
    /// The maximum number of robots; makes the reply a single page.
    pub(super) limit: Option<NonZeroUsize>,
    /// Only robots whose name comes after this one.
    pub(super) after: Option<String>,
}

impl Query {
    /// Parses the query of a list or a search. Unknown parameters are ignored.
    pub(super) fn of_list(query: &str) -> Result<Self, Failure> {
        Self::read(query, &["fields", "limit", "after"])
    }

    /// Parses the query of a single robot.
    pub(super) fn of_robot(query: &str) -> Result<Self, Failure> {
        Self::read(query, &["fields"])
    }

    /// Parses the query of an export: the fields, and the format with its options.
    pub(super) fn of_export(query: &str) -> Result<(Self, RobotWriter), Failure> {
        let (mut read, mut format, mut spreadsheet) = (Self::default(), Format::Ndjson, false);
        parameters(
            query,
            &["fields", "format", "spreadsheet"],
            |name, value| {
                match name {
                    "format" => format = named_format(&value)?,
                    "spreadsheet" => spreadsheet = flag("spreadsheet", &value)?,
                    _ => read.take(name, value)?,
                }
                Ok(())
            },
        )?;
        let writer = RobotWriter::new(format);
        match (spreadsheet, format) {
            (false, _) => Ok((read, writer)),
            (true, Format::Csv) => Ok((read, writer.for_spreadsheets())),
            (true, Format::Json | Format::Ndjson) => Err(Failure::Malformed(vec![
                "spreadsheet=true needs format=csv".into(),
            ])),
        }
    }

    fn read(query: &str, known: &[&'static str]) -> Result<Self, Failure> {
        let mut read = Self::default();
        parameters(query, known, |name, value| read.take(name, value))?;
        Ok(read)
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), Message> {
        match name {
            "fields" => {
                let fields = Field::list(&value).map_err(|error| error.to_string())?;
                self.fields = Some(fields);
            }
            "limit" => self.limit = Some(limit(&value)?),
            _ => self.after = Some(value),
        }
        Ok(())
    }

    /// The query of the page after the robot with this name.
    pub(super) fn next(&self, last: &str) -> String {
        let fields = self.fields.as_ref().map(|fields| {
            let names: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
            format!("fields={}", names.join(","))
        });
        let limit = self.limit.map(|limit| format!("limit={limit}"));
        let after = format!("after={}", utf8_percent_encode(last, ENCODED));
        let parameters: Vec<_> = fields.into_iter().chain(limit).chain([after]).collect();
        parameters.join("&")
    }
}

/// The message about an invalid parameter.
type Message = Cow<'static, str>;

/// Passes each known parameter to `take` once. Unknown parameters are ignored.
fn parameters(
    query: &str,
    known: &[&'static str],
    mut take: impl FnMut(&'static str, String) -> Result<(), Message>,
) -> Result<(), Failure> {
    let mut messages = Vec::new();
    let mut taken = Vec::new();
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_default();
        let Some(name) = known.iter().copied().find(|known| *known == name) else {
            continue;
        };
        // A repetition is reported once, however often it occurs, to limit the size of the answer.
        match taken.iter().filter(|taken| **taken == name).count() {
            0 => {
                let value = decode(value).ok_or_else(|| format!("{name} is not UTF-8").into());
                messages.extend(value.and_then(|value| take(name, value)).err());
            }
            1 => messages.push(format!("{name} is given twice; give it once").into()),
            _ => continue,
        }
        taken.push(name);
    }
    if messages.is_empty() {
        Ok(())
    } else {
        Err(Failure::Malformed(messages))
    }
}

/// Parses the query of an import: the format and the options.
pub(super) fn of_import(query: &str) -> Result<(Option<Format>, ImportOptions), Failure> {
    let mut format = None;
    let mut options = ImportOptions::default().after_failure(AfterFailure::Continue);
    parameters(
        query,
        &["format", "on_conflict", "dry_run"],
        |name, value| {
            match name {
                "format" => format = Some(named_format(&value)?),
                "on_conflict" => options.on_conflict = on_conflict(&value)?,
                _ => options.dry_run = dry_run(&value)?,
            }
            Ok(())
        },
    )?;
    Ok((format, options))
}

fn named_format(value: &str) -> Result<Format, Message> {
    let format = value.parse();
    format.map_err(|_| "format must be csv, json or ndjson".into())
}

fn on_conflict(value: &str) -> Result<OnConflict, Message> {
    match value {
        "fail" => Ok(OnConflict::Fail),
        "skip" => Ok(OnConflict::Skip),
        "replace" => Ok(OnConflict::Replace),
        _ => Err("on_conflict must be fail, skip or replace".into()),
    }
}

fn dry_run(value: &str) -> Result<DryRun, Message> {
    Ok(if flag("dry_run", value)? {
        DryRun::Yes
    } else {
        DryRun::No
    })
}

fn flag(name: &str, value: &str) -> Result<bool, Message> {
    let flag = value.parse();
    flag.map_err(|_| format!("{name} must be true or false").into())
}

/// A name or value, decoded as in forms (`+` is a space); `None` if it is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    let decoded = percent_decode(spaced.as_bytes()).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

fn limit(value: &str) -> Result<NonZeroUsize, Message> {
    Some(value)
        .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .filter(|limit: &NonZeroUsize| limit.get() <= LIMIT_MAXIMUM)
        .ok_or_else(|| format!("limit must be an integer from 1 to {LIMIT_MAXIMUM}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_parameters_are_parsed_and_others_ignored() {
        let query = Query::of_list("x=1&fields=year,id&limit=10&after=a%2Bb+c%C3%A9&&=").ok();
        assert_eq!(
            query,
            Some(Query {
                fields: Some(vec![Field::Year, Field::Id]),
                limit: NonZeroUsize::new(10),
                after: Some("a+b cé".to_owned()),
            })
        );
        assert_eq!(Query::of_list("").ok(), Some(Query::default()));
        assert_eq!(
            Query::of_robot("limit=x&after=%FF").ok(),
            Some(Query::default())
        );
    }

    #[test]
    fn invalid_parameters_are_rejected() {
        for query in [
            "fields=",
            "fields",
            "fields=id,",
            "fields=ID",
            "fields=id,id",
            "fields=id&fields=id",
            "limit=",
            "limit=0",
            "limit=1001",
            "limit=-1",
            "limit=+1",
            "limit=1.5",
            "limit=%31x",
            "limit=1&limit=1",
            "after=%FF",
            "after=a&after=b",
            "limit=99999999999999999999999",
        ] {
            let failure = Query::of_list(query).err();
            assert!(matches!(failure, Some(Failure::Malformed(_))), "{query}");
        }
    }

    #[test]
    fn long_value_is_abbreviated_in_the_message() {
        let long = "é".repeat(1000);
        let message = format!(
            "fields has '{}…', which is not a field; the fields are id,name,type,year",
            "é".repeat(40)
        );
        assert_eq!(
            Query::of_robot(&format!("fields={long}")).err(),
            Some(Failure::Malformed(vec![message.into()]))
        );
    }

    #[test]
    fn repeated_parameters_are_reported_once() {
        let query = "limit=x&fields=z&".repeat(1000);
        assert_eq!(
            Query::of_list(&query).err(),
            Some(Failure::Malformed(vec![
                "limit must be an integer from 1 to 1000".into(),
                "fields has 'z', which is not a field; the fields are id,name,type,year".into(),
                "limit is given twice; give it once".into(),
                "fields is given twice; give it once".into(),
            ]))
        );
    }

    #[test]
    fn next_page_keeps_fields_and_limit() {
        let query = Query::of_list("limit=2&fields=name,year").unwrap_or_default();
        let next = query.next("a b&c=+%é");
        assert_eq!(
            next,
            "fields=name,year&limit=2&after=a%20b%26c%3D%2B%25%C3%A9"
        );
        assert_eq!(
            Query::of_list(&next).ok().and_then(|query| query.after),
            Some("a b&c=+%é".to_owned())
        );
    }
}
