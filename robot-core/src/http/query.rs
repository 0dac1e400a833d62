//! The queries of the routes, as values.

use std::{mem, num::NonZeroUsize};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{
    behaviour::Behaviour,
    failure::Failure,
    parameters::{EXPORT, Message, Parameter, Parameters, SEARCH, Value, limit, parameters},
};
use crate::{
    catalogue::{Comparison, Condition, Cursor, Filter, Place, Sort},
    model::{Definition, Field, Member, Value as FieldValue},
    transfer::{Format, RobotWriter},
};

/// The characters that are encoded in a path or a query: all but the unreserved ones of RFC 3986.
pub(super) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The maximum number of words that robots must have.
const WORD_LIMIT: usize = 16;

/// The parameters of a `GET`. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// The fields of each robot, in this order.
    pub(super) fields: Option<Vec<Field>>,
    /// The maximum number of robots; makes the reply a single page.
    pub(super) limit: Option<NonZeroUsize>,
    /// The fields of each robot if the query names none; empty for those of the contract.
    pub(super) defaults: Vec<Field>,
    /// Whether everything is checked, and nothing stored.
    pub(super) is_dry_run: bool,
    /// Which robots, a text in the path included.
    pub(super) filter: Filter,
    /// The order, and where the list starts.
    pub(super) cursor: Cursor,
    /// The field by whose values a summary counts.
    pub(super) by: Option<Field>,
    /// The format of an export, and whether spreadsheets open it.
    format: Option<Format>,
    spreadsheet: bool,
    /// Whether the reply has the number of all robots.
    pub(super) count: bool,
    /// The text in the path of the next page, encoded; `None` for that of a list.
    pub(super) searched: Option<String>,
    /// The parameters that the next page has, too, as text; empty if the next page is found by `after`.
    pub(super) kept: Vec<String>,
}

/// The parameters that exclude each other, before they are combined.
#[derive(Default)]
struct Parts {
    after: Option<String>,
    cursor: Option<Cursor>,
    sort: Option<Sort>,
}

impl Query {
    /// The query, with what the behaviour has for parameters that are missing.
    pub(super) fn with_defaults(mut self, behaviour: Behaviour, definition: &Definition) -> Self {
        if !behaviour.is_contract() {
            self.defaults = definition.all().to_vec();
        }
        self.limit = self.limit.or(behaviour.default_limit());
        self
    }

    /// Parses the query of a search for a text.
    pub(super) fn of_search(
        text: &str,
        query: &str,
        definition: &Definition,
    ) -> Result<Self, Failure> {
        let mut read = Self::read(query, definition, &SEARCH)?;
        match text {
            "" => {}
            // Clients remove these segments from the path of a link, even if they are encoded.
            "." | ".." => read.kept.push(format!("containing={text}")),
            _ => read.searched = Some(utf8_percent_encode(text, ENCODED).to_string()),
        }
        read.filter = read.filter.containing(text);
        Ok(read)
    }

    /// Parses the query of an export: the fields, the filter, and the format with its options.
    pub(super) fn of_export(
        query: &str,
        definition: &Definition,
    ) -> Result<(Self, RobotWriter), Failure> {
        let read = Self::read(query, definition, &EXPORT)?;
        let format = read.format.unwrap_or(Format::Ndjson);
        let writer = RobotWriter::new(format);
        match (read.spreadsheet, format) {
            (false, _) => Ok((read, writer)),
            (true, Format::Csv) => Ok((read, writer.for_spreadsheets())),
            (true, Format::Json | Format::Ndjson) => Err(Failure::Malformed(vec![
                "spreadsheet=true needs format=csv".into(),
            ])),
        }
    }

    pub(super) fn fields(&self) -> &[Field] {
        match (&self.fields, &*self.defaults) {
            (Some(fields), _) => fields,
            (None, []) => Field::DEFAULT_VIEW,
            (None, defaults) => defaults,
        }
    }

    /// Parses a query. Parameters that are not known are ignored.
    pub(super) fn read(
        query: &str,
        definition: &Definition,
        known: &Parameters,
    ) -> Result<Self, Failure> {
        let (mut read, mut parts) = (Self::default(), Parts::default());
        parameters(query, definition, known, |parameter, value| {
            read.take(&mut parts, definition, parameter, value)
        })?;
        read.combine(parts, definition)
    }

    fn take(
        &mut self,
        parts: &mut Parts,
        definition: &Definition,
        parameter: Parameter,
        value: String,
    ) -> Result<(), Message> {
        let (name, is_true) = (parameter.name, value == "true");
        let text = format!("{name}={}", utf8_percent_encode(&value, ENCODED));
        match name {
            "fields" => {
                self.fields = Some(definition.list(&value)?);
            }
            "limit" => self.limit = Some(limit(&value)?),
            "after" => parts.after = Some(value),
            "cursor" => {
                let cursor = Cursor::parse(&value, definition);
                parts.cursor = Some(cursor.map_err(|error| error.to_string())?);
            }
            "sort" => {
                let sort = Sort::parse(&value, definition);
                parts.sort = Some(sort.map_err(|error| error.to_string())?);
            }
            "dry_run" => self.is_dry_run = is_true,
            "count" => self.count = is_true,
            "format" => self.format = Format::of_name(&value),
            "spreadsheet" => self.spreadsheet = is_true,
            "q" => {
                self.filter = mem::take(&mut self.filter).with_words(&value, definition);
                if self.filter.words().len() > WORD_LIMIT {
                    return Err(format!("q must have at most {WORD_LIMIT} different words").into());
                }
            }
            "by" => self.by = Some(countable(&value, definition)?),
            "fold" if !is_true => return Ok(()),
            "fold" => self.filter = mem::take(&mut self.filter).folded(),
            _ => match parameter.value {
                Value::Condition(condition) => {
                    let field = condition.field();
                    let parsed = condition.parse(&value)?;
                    let range = self.filter.of_field(field);
                    let given = range.map_or(&[][..], |range| &range.any_of);
                    if given.contains(&parsed) {
                        return Ok(());
                    }
                    let limit = condition.value_limit();
                    if given.len() >= limit {
                        let message = format!("{name} must have at most {limit} different values");
                        return Err(message.into());
                    }
                    if is_excluded(&self.filter, condition) {
                        let message = format!(
                            "{field} excludes {field}_from and {field}_to; give either it or them"
                        );
                        return Err(message.into());
                    }
                    self.filter = mem::take(&mut self.filter).and(condition, parsed);
                }
                _ => self.filter = mem::take(&mut self.filter).containing(value),
            },
        }
        let is_of_page = ["fields", "limit", "after", "cursor"].contains(&name);
        if !is_of_page {
            self.kept.push(text);
        }
        Ok(())
    }

    fn combine(mut self, parts: Parts, definition: &Definition) -> Result<Self, Failure> {
        let Parts {
            after,
            cursor,
            sort,
        } = parts;
        let by_name = Sort {
            field: definition.field(Field::NAME.name()).unwrap_or(Field::NAME),
            ..Sort::default()
        };
        let sort_or_default = sort.unwrap_or(by_name);
        let contradiction = match (&after, &cursor) {
            (Some(_), Some(_)) => Some("after and cursor exclude each other; give one of them"),
            (Some(_), None) if sort_or_default != Sort::default() => {
                Some("after needs the order of the names; use cursor, as in the header Link")
            }
            (None, Some(cursor)) if cursor.sort() != sort_or_default => {
                Some("cursor belongs to another sort; give the sort of the page that it comes from")
            }
            _ => None,
        };
        let reversed = self.filter.fields().iter().find(|range| {
            let limits = range.from.as_ref().zip(range.to.as_ref());
            limits.is_some_and(|(from, to)| from.compare(to).is_gt())
        });
        let reversed = reversed.map(|range| {
            let field = range.field;
            format!("{field}_from must not be greater than {field}_to").into()
        });
        if let Some(message) = contradiction.map(Message::from).or(reversed) {
            return Err(Failure::Malformed(vec![message.into()]));
        }
        if cursor.is_some() && sort.is_none() {
            // So that the next page has a cursor, too.
            self.kept.push(format!("sort={sort_or_default}"));
        }
        self.cursor = match after {
            // The definition decides whether the next page can start after a name, too.
            Some(after) => Cursor::after_name(after).sorted(by_name),
            None => cursor.unwrap_or(Cursor::start(sort_or_default)),
        };
        Ok(self)
    }

    /// The path, below a prefix, and the query of the page at this place.
    pub(super) fn next(&self, end: &Cursor, prefix: &str) -> String {
        let path = match &self.searched {
            Some(text) => format!("{prefix}/robots/search/{text}"),
            None => format!("{prefix}/robots"),
        };
        let fields = self.fields.as_deref().map(Field::names);
        let fields = fields.map(|names| format!("fields={names}"));
        let limit = self.limit.map(|limit| format!("limit={limit}"));
        let field = end.sort().field;
        let by_unique_name = field.member() == Member::Name && field.is_unique();
        let place = match end.place() {
            Some(Place {
                value: Some(FieldValue::Text(name)),
                ..
            }) if self.kept.is_empty() && by_unique_name => {
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
        format!("{path}?{}", parameters.join("&"))
    }
}

fn countable(name: &str, definition: &Definition) -> Result<Field, Message> {
    let fields: Vec<_> = definition.countable().collect();
    let found = fields.iter().copied().find(|field| field.name() == name);
    found.ok_or_else(|| format!("by must be one of: {}", Field::names(&fields)).into())
}

/// Whether a filter has a condition that excludes this one: a value and a range do.
fn is_excluded(filter: &Filter, condition: Condition) -> bool {
    let Some(range) = filter.of_field(condition.field()) else {
        return false;
    };
    match condition.comparison() {
        Comparison::Is => range.from.is_some() || range.to.is_some(),
        Comparison::From => range.from.is_some() || !range.any_of.is_empty(),
        Comparison::To => range.to.is_some() || !range.any_of.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::parameters::{LIST, ROBOT};

    fn list(query: &str) -> Result<Query, Failure> {
        Query::read(query, Definition::built_in(), &LIST)
    }

    fn search(text: &str, query: &str) -> Result<Query, Failure> {
        Query::of_search(text, query, Definition::built_in())
    }

    fn messages(query: Result<Query, Failure>) -> Vec<String> {
        query.unwrap_err().messages()
    }

    #[test]
    fn known_parameters_are_parsed_and_others_ignored() {
        let query = list("x=1&fields=year,id&limit=10&after=a%2Bb+c%C3%A9&&=").ok();
        assert_eq!(
            query,
            Some(Query {
                fields: Some(vec![Field::YEAR, Field::ID]),
                limit: NonZeroUsize::new(10),
                cursor: Cursor::after_name("a+b cé"),
                ..Query::default()
            })
        );
        assert_eq!(list("").ok(), Some(Query::default()));
        assert_eq!(
            Query::read("limit=x&after=%FF", Definition::built_in(), &ROBOT).ok(),
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
            let failure = list(query).err();
            assert!(matches!(failure, Some(Failure::Malformed(_))), "{query}");
        }
    }

    #[test]
    fn long_value_is_abbreviated_in_the_message() {
        let long = "é".repeat(1000);
        let message = format!(
            "fields has '{}…', which is not a field; the fields are id,name,type,year,revision",
            "é".repeat(40)
        );
        let query = Query::read(&format!("fields={long}"), Definition::built_in(), &ROBOT);
        assert_eq!(messages(query), [message]);
    }

    #[test]
    fn repeated_parameters_are_reported_once() {
        let query = "limit=x&fields=z&".repeat(1000);
        assert_eq!(
            messages(list(&query)),
            [
                "limit must be an integer from 1 to 1000",
                "fields has 'z', which is not a field; the fields are id,name,type,year,revision",
                "limit is given twice; give it once",
                "fields is given twice; give it once",
            ]
        );
        assert_eq!(
            messages(list(&"type=x&".repeat(1000))),
            ["type must be one of: droid, mechanical, virtual"]
        );
    }

    #[test]
    fn next_page_keeps_fields_and_limit() {
        let query = list("limit=2&fields=name,year").unwrap_or_default();
        let end = Cursor::after_name("a b&c=+%é");
        let next = query.next(&end, "/api");
        let expected = "fields=name,year&limit=2&after=a%20b%26c%3D%2B%25%C3%A9";
        assert_eq!(next, format!("/api/robots?{expected}"));
        let read = list(expected);
        assert_eq!(read.ok().map(|query| query.cursor), Some(end));
    }

    #[test]
    fn next_page_of_a_filter_has_a_cursor() {
        let text =
            "type=droid&type=virtual&type=droid&year_from=1970&name=R2-D2&sort=-year&limit=2";
        let query = list(text).unwrap_or_default();
        let end: Cursor = "-year:1977:12".parse().unwrap_or_default();
        let expected = "limit=2&type=droid&type=virtual&year_from=1970&name=R2-D2&sort=-year\
                        &cursor=-year%3A1977%3A12";
        assert_eq!(query.next(&end, "/api"), format!("/api/robots?{expected}"));
        let read = list(expected).unwrap_or_default();
        assert_eq!((read.filter, read.cursor), (query.filter, end));
    }

    #[test]
    fn next_page_of_a_search_keeps_fold() {
        let query = search("a/é", "limit=2&fold=true").unwrap_or_default();
        assert_eq!(query.filter, Filter::from("a/é").folded());
        let next = query.next(&Cursor::after_name("é"), "/api");
        let expected = "limit=2&fold=true&cursor=name%3A%C3%A9";
        assert_eq!(next, format!("/api/robots/search/a%2F%C3%A9?{expected}"));
        let read = search("a/é", expected);
        assert_eq!(read.ok().map(|next| next.filter), Some(query.filter));
        let query = search("a", "fold=false").unwrap_or_default();
        assert!(!query.filter.is_folded());
    }

    #[test]
    fn next_page_of_a_search_for_dots_is_a_list() {
        for text in [".", ".."] {
            let query = search(text, "limit=2").unwrap_or_default();
            let parameters = format!("limit=2&containing={text}&cursor=name%3Aa");
            let next = query.next(&Cursor::after_name("a"), "/api");
            assert_eq!(next, format!("/api/robots?{parameters}"));
            let read = list(&parameters);
            assert_eq!(read.ok().map(|next| next.filter), Some(query.filter));
        }
    }
}
