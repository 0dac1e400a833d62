//! The parameters of queries. [`LIST`] and the other constants name them.

use std::{borrow::Cow, mem, num::NonZeroUsize, ops::Bound};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

use strsim::damerau_levenshtein;

use super::failure::Failure;
use crate::{
    catalogue::{Cursor, Filter, ParseCursorError, ParseSortError, Place, Sort},
    model::{Field, RobotType, excerpt},
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

/// The parameters that choose robots.
const FILTER: [&str; 5] = ["type", "year", "year_from", "year_to", "name"];

/// The parameters of a list or a search.
pub(super) const LIST: &[&str] = &[
    "fields", "limit", "after", "cursor", "sort", "count", FILTER[0], FILTER[1], FILTER[2],
    FILTER[3], FILTER[4],
];

/// The parameters of a single robot.
pub(super) const ROBOT: &[&str] = &["fields"];

/// The parameters of a summary.
pub(super) const SUMMARY: &[&str] = &FILTER;

/// The parameters of an export.
pub(super) const EXPORT: &[&str] = &[
    "fields",
    "format",
    "spreadsheet",
    FILTER[0],
    FILTER[1],
    FILTER[2],
    FILTER[3],
    FILTER[4],
];

/// The parameters of an import.
pub(super) const IMPORT: &[&str] = &["format", "on_conflict", "dry_run"];

/// The parameters of a `GET`. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The fields of each robot, in this order.
    pub(super) fields: Option<Vec<Field>>,
    /// The maximum number of robots; makes the reply a single page.
    pub(super) limit: Option<NonZeroUsize>,
    /// Which robots, apart from a text in the path.
    pub(super) filter: Filter,
    /// The order, and where the list starts.
    pub(super) cursor: Cursor,
    /// Whether the reply has the number of all robots.
    pub(super) count: bool,
    /// The parameters that the next page has, too, as text; empty if the next page is found by `after`.
    kept: Vec<String>,
}

/// The parameters that exclude each other, before they are combined.
#[derive(Default)]
struct Parts {
    after: Option<String>,
    cursor: Option<Cursor>,
    sort: Option<Sort>,
    year: Option<i64>,
    year_from: Option<i64>,
    year_to: Option<i64>,
}

impl Query {
    /// Parses the query of a list or a search. Unknown parameters are ignored.
    pub(super) fn of_list(query: &str) -> Result<Self, Failure> {
        Self::read(query, LIST)
    }

    /// Parses the query of a single robot.
    pub(super) fn of_robot(query: &str) -> Result<Self, Failure> {
        Self::read(query, ROBOT)
    }

    /// Parses the query of a summary.
    pub(super) fn of_summary(query: &str) -> Result<Self, Failure> {
        Self::read(query, SUMMARY)
    }

    /// Parses the query of an export: the fields, the filter, and the format with its options.
    pub(super) fn of_export(query: &str) -> Result<(Self, RobotWriter), Failure> {
        let (mut format, mut spreadsheet) = (Format::Ndjson, false);
        let read = Self::read_with(query, EXPORT, |name, value| {
            match name {
                "format" => format = named_format(value)?,
                "spreadsheet" => spreadsheet = flag("spreadsheet", value)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
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
        Self::read_with(query, known, |_, _| Ok(false))
    }

    /// Passes each parameter to `take_other` first, which returns whether it has taken it.
    fn read_with(
        query: &str,
        known: &[&'static str],
        mut take_other: impl FnMut(&'static str, &str) -> Result<bool, Message>,
    ) -> Result<Self, Failure> {
        let (mut read, mut parts) = (Self::default(), Parts::default());
        parameters(query, known, |name, value| {
            if take_other(name, &value)? {
                return Ok(());
            }
            read.take(&mut parts, name, value)
        })?;
        read.combine(parts)
    }

    fn take(
        &mut self,
        parts: &mut Parts,
        name: &'static str,
        value: String,
    ) -> Result<(), Message> {
        let text = format!("{name}={}", utf8_percent_encode(&value, ENCODED));
        match name {
            "fields" => {
                let fields = Field::list(&value).map_err(|error| error.to_string())?;
                self.fields = Some(fields);
                return Ok(());
            }
            "limit" => {
                self.limit = Some(limit(&value)?);
                return Ok(());
            }
            "after" => {
                parts.after = Some(value);
                return Ok(());
            }
            "cursor" => {
                let cursor = value
                    .parse()
                    .map_err(|error: ParseCursorError| error.to_string());
                parts.cursor = Some(cursor?);
                return Ok(());
            }
            "sort" => {
                let sort = value
                    .parse()
                    .map_err(|error: ParseSortError| error.to_string());
                parts.sort = Some(sort?);
            }
            "count" => self.count = flag("count", &value)?,
            "type" => {
                let known = RobotType::from_name(&value)
                    .ok_or_else(|| format!("type must be one of: {}", RobotType::names()))?;
                self.filter = mem::take(&mut self.filter).of_type(known);
            }
            "year" => parts.year = Some(year(name, &value)?),
            "year_from" => parts.year_from = Some(year(name, &value)?),
            "year_to" => parts.year_to = Some(year(name, &value)?),
            _ => self.filter = mem::take(&mut self.filter).named(value),
        }
        self.kept.push(text);
        Ok(())
    }

    fn combine(mut self, parts: Parts) -> Result<Self, Failure> {
        let Parts {
            after,
            cursor,
            sort,
            year,
            year_from,
            year_to,
        } = parts;
        let sort_or_default = sort.unwrap_or_default();
        let contradiction = match (&after, &cursor) {
            (Some(_), Some(_)) => Some("after and cursor exclude each other; give one of them"),
            (Some(_), None) if sort_or_default != Sort::default() => {
                Some("after needs the order of the names; use cursor, as in the header Link")
            }
            (None, Some(cursor)) if cursor.sort() != sort_or_default => {
                Some("cursor belongs to another sort; give the sort of the page that it comes from")
            }
            _ if year.is_some() && (year_from.is_some() || year_to.is_some()) => {
                Some("year excludes year_from and year_to; give either it or them")
            }
            _ if year_from.zip(year_to).is_some_and(|(from, to)| from > to) => {
                Some("year_from must not be greater than year_to")
            }
            _ => None,
        };
        if let Some(message) = contradiction {
            return Err(Failure::Malformed(vec![message.into()]));
        }
        if cursor.is_some() {
            // As a rule, the link that it comes from has a sort. Without one, its next has a cursor, too.
            self.kept
                .extend(sort.is_none().then(|| format!("sort={sort_or_default}")));
        }
        self.cursor = match after {
            Some(after) => Cursor::after_name(after),
            None => cursor.unwrap_or(Cursor::start(sort_or_default)),
        };
        let years = (
            year_from.or(year).map_or(Bound::Unbounded, Bound::Included),
            year_to.or(year).map_or(Bound::Unbounded, Bound::Included),
        );
        self.filter = self.filter.years(years);
        Ok(self)
    }

    /// The query of the page at this place.
    pub(super) fn next(&self, end: &Cursor) -> String {
        let fields = self.fields.as_ref().map(|fields| {
            let names: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
            format!("fields={}", names.join(","))
        });
        let limit = self.limit.map(|limit| format!("limit={limit}"));
        let place = match end.place() {
            Place::Name(Some(name)) if self.kept.is_empty() => {
                format!("after={}", utf8_percent_encode(name, ENCODED))
            }
            _ => format!("cursor={}", utf8_percent_encode(&end.to_string(), ENCODED)),
        };
        let kept = self.kept.iter().cloned();
        let parameters: Vec<_> = fields
            .into_iter()
            .chain(limit)
            .chain(kept)
            .chain([place])
            .collect();
        parameters.join("&")
    }
}

/// Checks that all parameters of a query are known, for clients that want it.
pub(super) fn check_known(query: &str, known: &[&str]) -> Result<(), Failure> {
    let mut messages: Vec<Message> = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, _) = parameter.split_once('=').unwrap_or((parameter, ""));
        let name = decode(name).unwrap_or_else(|| name.to_owned());
        if known.contains(&name.as_str()) {
            continue;
        }
        let nearest = known
            .iter()
            .min_by_key(|known| damerau_levenshtein(known, &name));
        let hint = match nearest {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => "there are none".to_owned(),
        };
        let message = format!("'{}' is not a parameter; {hint}", excerpt(&name)).into();
        // A repetition is reported once, to limit the size of the answer.
        if messages.len() < UNKNOWN_LIMIT && !messages.contains(&message) {
            messages.push(message);
        }
    }
    if messages.is_empty() {
        Ok(())
    } else {
        Err(Failure::Malformed(messages))
    }
}

/// The maximum number of unknown parameters that a reply names.
const UNKNOWN_LIMIT: usize = 10;

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
        let times = taken.iter().filter(|taken| **taken == name).count();
        match times {
            // A robot may have any of the types.
            _ if times == 0 || name == "type" => {
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
    parameters(query, IMPORT, |name, value| {
        match name {
            "format" => format = Some(named_format(&value)?),
            "on_conflict" => options.on_conflict = on_conflict(&value)?,
            _ => options.dry_run = dry_run(&value)?,
        }
        Ok(())
    })?;
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

fn year(name: &str, value: &str) -> Result<i64, Message> {
    Some(value)
        .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| format!("{name} must be an integer from 0 to {}", i64::MAX).into())
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
                cursor: Cursor::after_name("a+b cé"),
                ..Query::default()
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
        let end = Cursor::after_name("a b&c=+%é");
        let next = query.next(&end);
        assert_eq!(
            next,
            "fields=name,year&limit=2&after=a%20b%26c%3D%2B%25%C3%A9"
        );
        assert_eq!(Query::of_list(&next).map(|query| query.cursor), Ok(end));
    }

    #[test]
    fn next_page_of_a_filter_has_a_cursor() {
        let text = "type=droid&type=virtual&year_from=1970&name=R2-D2&sort=-year&limit=2";
        let query = Query::of_list(text).unwrap_or_default();
        let end: Cursor = "-year:1977:12".parse().unwrap_or_default();
        let next = query.next(&end);
        assert_eq!(
            next,
            "limit=2&type=droid&type=virtual&year_from=1970&name=R2-D2&sort=-year\
             &cursor=-year%3A1977%3A12"
        );
        let read = Query::of_list(&next).unwrap_or_default();
        assert_eq!((read.filter, read.cursor), (query.filter, end));
    }

    #[test]
    fn contradictions_are_rejected() {
        for query in [
            "type=Droid",
            "type=droid&type=",
            "year=1977x",
            "year=-1",
            "year=9223372036854775808",
            "year=1977&year=1977",
            "year=1977&year_from=1970",
            "year_from=1978&year_to=1977",
            "sort=price",
            "sort=",
            "cursor=",
            "cursor=x",
            "cursor=name:a%00b",
            "cursor=year:1977:1",
            "cursor=year:1977&sort=year",
            "cursor=id:0&sort=id",
            "cursor=name:a&after=a",
            "after=a&sort=-name",
            "count=yes",
        ] {
            let failure = Query::of_list(query).err();
            assert!(matches!(failure, Some(Failure::Malformed(_))), "{query}");
        }
    }

    #[test]
    fn unknown_parameters_are_named_with_the_nearest_known_one() {
        assert_eq!(check_known("limit=1&&type=x", LIST), Ok(()));
        assert_eq!(
            check_known("limt=1&limt=2&%66ields=id", LIST),
            Err(Failure::Malformed(vec![
                "'limt' is not a parameter; did you mean limit?".into()
            ]))
        );
    }
}
