//! What queries ask for: robots, fields and pages.

use std::{borrow::Cow, num::NonZeroUsize};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{behaviour::Behaviour, failure::Failure, parameters::Arguments};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Cursor, Filter, Place, Sort},
    model::{Definition, Field, Member, Value},
};

/// The characters that are encoded in a path or a query: all but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The maximum number of robots on a page.
const LIMIT_MAXIMUM: usize = 1000;

/// The maximum number of words that robots must have.
const WORD_LIMIT: usize = 16;

/// The robots that a query chooses.
pub(super) fn filter(arguments: &Arguments, definition: &Definition) -> Result<Filter, Failure> {
    let mut filter = Filter::from(arguments.text("containing").unwrap_or_default());
    for argument in &arguments.0 {
        let Some(condition) = argument.condition else {
            continue;
        };
        let field = condition.field;
        let value = condition
            .parse(&argument.value)
            .map_err(Failure::malformed)?;
        if filter.excludes(condition) {
            return Err(Failure::malformed(format!(
                "{field} excludes {field}_from and {field}_to; give either it or them"
            )));
        }
        filter = filter.and(condition, value);
    }
    let reversed = filter.fields.iter().find(|range| {
        let limits = range.from.as_ref().zip(range.to.as_ref());
        limits.is_some_and(|(from, to)| from.compare(to).is_gt())
    });
    if let Some(range) = reversed {
        let field = range.field;
        return Err(Failure::malformed(format!(
            "{field}_from must not be greater than {field}_to"
        )));
    }
    if arguments.flag("fold")? {
        filter = filter.folded();
    }
    if let Some(words) = arguments.text("q") {
        filter = filter.with_words(words, definition);
        if filter.words().len() > WORD_LIMIT {
            return Err(Failure::malformed(format!(
                "q must have at most {WORD_LIMIT} different words"
            )));
        }
    }
    Ok(filter)
}

/// Fails if a filter names a value that is no choice, and that no robot has.
pub(super) fn check_choices(catalogue: &dyn Catalogue, filter: &Filter) -> Result<(), Failure> {
    match catalogue.unknown_choice(filter)? {
        Some(message) => Err(Failure::malformed(message)),
        None => Ok(()),
    }
}

/// The fields that a query names, in its order.
pub(super) fn fields(
    arguments: &Arguments,
    definition: &Definition,
) -> Result<Option<Vec<Field>>, Failure> {
    arguments.parse("fields", |names| definition.list(names))
}

/// The fields of a robot in a reply: by default those of the contract, and all at `/v1`.
pub(super) fn view(
    named: Option<Vec<Field>>,
    definition: &Definition,
    behaviour: Behaviour,
) -> Cow<'static, [Field]> {
    match named {
        Some(fields) => fields.into(),
        None if behaviour.is_contract() => Field::DEFAULT_VIEW.into(),
        None => definition.all().to_vec().into(),
    }
}

/// The query of a list or of one page of it.
pub(super) struct ListQuery {
    /// The fields of each robot, in this order.
    pub(super) fields: Cow<'static, [Field]>,
    /// The maximum number of robots; makes the reply a single page.
    pub(super) limit: Option<NonZeroUsize>,
    /// Which robots, a text in the path included.
    pub(super) filter: Filter,
    /// Whether the reply has the number of all robots.
    pub(super) has_count: bool,
    /// The order, and where the list starts.
    pub(super) cursor: Cursor,
    /// The path of the next page, relative to that of this one.
    path: String,
    /// The parameters of the next page that say what a page is, as text.
    of_page: Vec<String>,
    /// The other parameters that the next page has, too; empty if the next page is found by `after`.
    kept: Vec<String>,
}

impl ListQuery {
    pub(super) fn read(
        arguments: &Arguments,
        definition: &Definition,
        behaviour: Behaviour,
    ) -> Result<Self, Failure> {
        let named = fields(arguments, definition)?;
        let limit = arguments.parse("limit", limit)?;
        let limit = limit.or(behaviour.default_limit());
        let names = named.as_deref().map(Field::names);
        let names = names.map(|names| format!("fields={names}"));
        let of_page = names
            .into_iter()
            .chain(limit.map(|limit| format!("limit={limit}")));
        let kept = arguments.0.iter().filter(|argument| {
            !["fields", "limit", "after", "cursor"].contains(&argument.name)
                && (argument.name, &*argument.value) != ("fold", "false")
        });
        let kept = kept.map(|argument| {
            let value = utf8_percent_encode(&argument.value, ENCODED);
            format!("{}={value}", argument.name)
        });
        let mut kept: Vec<_> = kept.collect();

        let by_name = Sort {
            field: definition.field(Field::NAME.name()).unwrap_or(Field::NAME),
            ..Sort::default()
        };
        let given = arguments.parse("sort", |text| Sort::parse(text, definition))?;
        let sort = given.unwrap_or(by_name);
        let cursor = arguments.parse("cursor", |text| Cursor::parse(text, definition))?;
        let cursor = match (arguments.text("after"), cursor) {
            (Some(_), Some(_)) => Err("after and cursor exclude each other; give one of them"),
            (Some(_), None) if sort != Sort::default() => {
                Err("after needs the order of the names; use cursor, as in the header Link")
            }
            // The definition decides whether the next page can start after a name, too.
            (Some(after), None) => Ok(Cursor::after_name(after).sorted(by_name)),
            (None, Some(cursor)) if cursor.sort() != sort => {
                Err("cursor belongs to another sort; give the sort of the page that it comes from")
            }
            (None, Some(cursor)) => {
                if given.is_none() {
                    // So that the next page has a cursor, too.
                    kept.push(format!("sort={sort}"));
                }
                Ok(cursor)
            }
            (None, None) => Ok(Cursor::start(sort)),
        };
        Ok(Self {
            fields: view(named, definition, behaviour),
            limit,
            filter: filter(arguments, definition)?,
            has_count: arguments.flag("count")?,
            cursor: cursor.map_err(Failure::malformed)?,
            path: "robots".to_owned(),
            of_page: of_page.collect(),
            kept,
        })
    }

    /// The query of a search for the robots whose name contains a text.
    pub(super) fn containing(mut self, text: &str) -> Self {
        // Clients remove the segments "." and ".." from the path of a link, even if they are encoded.
        self.path = match text {
            "" | "." | ".." => "../../robots".to_owned(),
            _ => utf8_percent_encode(text, ENCODED).to_string(),
        };
        if matches!(text, "." | "..") {
            self.kept.push(format!("containing={text}"));
        }
        self.filter = self.filter.containing(text);
        self
    }

    /// The reference to the page at this place.
    pub(super) fn next(&self, end: &Cursor) -> String {
        let field = end.sort().field;
        let by_unique_name = field.member() == Member::Name && field.is_unique();
        let place = match end.place() {
            Some(Place {
                value: Some(Value::Text(name)),
                ..
            }) if self.kept.is_empty() && by_unique_name => {
                format!("after={}", utf8_percent_encode(name, ENCODED))
            }
            _ => format!("cursor={}", utf8_percent_encode(&end.to_string(), ENCODED)),
        };
        let parameters = [&*self.of_page, &*self.kept, &[place]].concat().join("&");
        format!("{}?{parameters}", self.path)
    }
}

fn limit(value: &str) -> Result<NonZeroUsize, String> {
    Some(value)
        .filter(|value| value.bytes().all(|byte| byte.is_ascii_digit()))
        .and_then(|value| value.parse().ok())
        .filter(|limit: &NonZeroUsize| limit.get() <= LIMIT_MAXIMUM)
        .ok_or_else(|| format!("limit must be an integer from 1 to {LIMIT_MAXIMUM}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::parameters::{LIST, Parameters, ROBOT, SEARCH};

    fn query(known: &Parameters, query: &str) -> Result<ListQuery, Failure> {
        let definition = Definition::built_in();
        let arguments = known.read(query, definition, false)?;
        ListQuery::read(&arguments, definition, Behaviour::A)
    }

    fn list(text: &str) -> Result<ListQuery, Failure> {
        query(&LIST, text)
    }

    fn search(name: &str, text: &str) -> ListQuery {
        query(&SEARCH, text).unwrap().containing(name)
    }

    fn messages(query: Result<ListQuery, Failure>) -> Vec<String> {
        query.err().unwrap().messages()
    }

    #[test]
    fn known_parameters_are_parsed_and_others_ignored() {
        let query = list("x=1&fields=year,id&limit=10&after=a%2Bb+c%C3%A9&&=").unwrap();
        assert_eq!(*query.fields, [Field::YEAR, Field::ID]);
        assert_eq!(query.limit, NonZeroUsize::new(10));
        assert_eq!(query.cursor, Cursor::after_name("a+b cé"));
        assert_eq!(query.filter, Filter::all());
        let query = self::query(&ROBOT, "limit=x&after=%FF").unwrap();
        assert_eq!((query.limit, query.cursor), (None, Cursor::default()));
        assert_eq!(*query.fields, *Field::DEFAULT_VIEW);
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
        assert_eq!(messages(list(&format!("fields={long}"))), [message]);
    }

    #[test]
    fn first_invalid_parameter_is_reported() {
        for (query, message) in [
            (
                "limit=x&fields=z",
                "fields has 'z', which is not a field; the fields are id,name,type,year,revision",
            ),
            ("limit=x&limit=x", "limit is given twice; give it once"),
        ] {
            assert_eq!(messages(list(query)), [message]);
        }
    }

    #[test]
    fn next_page_keeps_fields_and_limit() {
        let query = list("limit=2&fields=name,year").unwrap();
        let end = Cursor::after_name("a b&c=+%é");
        let next = query.next(&end);
        let expected = "fields=name,year&limit=2&after=a%20b%26c%3D%2B%25%C3%A9";
        assert_eq!(next, format!("robots?{expected}"));
        let read = list(expected);
        assert_eq!(read.ok().map(|query| query.cursor), Some(end));
    }

    #[test]
    fn next_page_of_a_filter_has_a_cursor() {
        let text =
            "type=droid&type=virtual&type=droid&year_from=1970&name=R2-D2&sort=-year&limit=2";
        let query = list(text).unwrap();
        let end: Cursor = "-year:1977:12".parse().unwrap_or_default();
        let expected = "limit=2&type=droid&type=virtual&year_from=1970&name=R2-D2&sort=-year\
                        &cursor=-year%3A1977%3A12";
        assert_eq!(query.next(&end), format!("robots?{expected}"));
        let read = list(expected).unwrap();
        assert_eq!((read.filter, read.cursor), (query.filter, end));
    }

    #[test]
    fn next_page_of_a_search_keeps_fold() {
        let query = search("a/é", "limit=2&fold=true");
        assert_eq!(query.filter, Filter::from("a/é").folded());
        let next = query.next(&Cursor::after_name("é"));
        let expected = "limit=2&fold=true&cursor=name%3A%C3%A9";
        assert_eq!(next, format!("a%2F%C3%A9?{expected}"));
        assert_eq!(search("a/é", expected).filter, query.filter);
        let query = search("a", "fold=false");
        assert!(!query.filter.is_folded);
    }

    #[test]
    fn next_page_of_a_search_for_dots_is_a_list() {
        for text in [".", ".."] {
            let query = search(text, "limit=2");
            let parameters = format!("limit=2&containing={text}&cursor=name%3Aa");
            let next = query.next(&Cursor::after_name("a"));
            assert_eq!(next, format!("../../robots?{parameters}"));
            let read = list(&parameters);
            assert_eq!(read.ok().map(|next| next.filter), Some(query.filter));
        }
    }
}
