//! Links from a page of a list to the next one.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{filter, page::ListQuery};
use crate::{
    catalogue::{Cursor, Place},
    model::{Field, Member, Value},
};

/// The characters that are encoded in a path or a query: all but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

impl ListQuery {
    /// The reference to the page of the same list at this place.
    pub(in crate::http) fn next(&self, end: &Cursor) -> String {
        let mut path = Cow::from("robots");
        let mut of_list = filter::parameters(&self.filter);
        if self.is_search {
            let text = &self.filter.containing;
            // Clients remove the segments "." and ".." from the path of a link, even if they are encoded.
            if matches!(text.as_str(), "" | "." | "..") {
                path = "../../robots".into();
            } else {
                path = encoded(text).into();
                of_list.retain(|(name, _)| name != "containing");
            }
        }
        if self.has_count {
            of_list.push(("count".into(), true.to_string()));
        }
        of_list.extend(
            self.sort
                .iter()
                .map(|sort| ("sort".into(), sort.to_string())),
        );
        let field = &end.sort().field;
        let by_unique_name = field.member() == Member::Name && field.is_unique();
        let place = match end.place() {
            Some(Place {
                value: Some(Value::Text(name)),
                ..
            }) if of_list.is_empty() && by_unique_name => ("after".into(), name.to_string()),
            _ => ("cursor".into(), end.to_string()),
        };
        let mut parameters = Vec::new();
        let fields = self.fields.iter();
        parameters.extend(fields.map(|fields| format!("fields={}", Field::names(fields))));
        parameters.extend(self.limit.map(|limit| format!("limit={limit}")));
        let others = of_list.iter().chain([&place]);
        parameters.extend(others.map(|(name, value)| format!("{name}={}", encoded(value))));
        format!("{path}?{}", parameters.join("&"))
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;
    use crate::{
        catalogue::Filter,
        http::{
            behaviour::Behaviour,
            failure::Failure,
            parameters::{LIST, Parameters, ROBOT, SEARCH},
        },
        model::Definition,
    };

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
        assert_eq!(query.fields, Some(vec![Field::YEAR, Field::ID]));
        assert_eq!(query.limit, Some(10));
        assert_eq!(query.cursor, Cursor::after_name("a+b cé"));
        assert_eq!(query.filter, Filter::all());
        let query = self::query(&ROBOT, "limit=x&after=%FF").unwrap();
        assert_eq!((query.limit, query.cursor), (None, Cursor::default()));
        assert_eq!(query.fields, None);
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
            "fields has '{}…', which is not a field; the fields are id,name,type,year,revision,created_at,updated_at,updated_by",
            "é".repeat(40)
        );
        assert_eq!(messages(list(&format!("fields={long}"))), [message]);
    }

    #[test]
    fn first_invalid_parameter_is_reported() {
        for (query, message) in [
            (
                "limit=x&fields=z",
                "fields has 'z', which is not a field; the fields are id,name,type,year,revision,created_at,updated_at,updated_by",
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

    const OWN: &str = r#"{"properties": {
        "maker": {"type": "string", "search": true},
        "state": {"enum": ["new", "as new"]},
        "built": {"type": "string", "format": "date"},
        "mass": {"type": "number"},
        "lent": {"type": "boolean"}
    }}"#;

    proptest! {
        /// A link has what its page has read.
        #[test]
        fn written_query_is_read_as_the_same(
            given in vec((select(NAMES), select(VALUES)), 0..6),
            text in select(&["", ".", "..", "a/é", "R2"][..]),
            is_search: bool,
        ) {
            let definition: Definition = OWN.parse().unwrap();
            let known = if is_search { &SEARCH } else { &LIST };
            let read = |text: &str| {
                let arguments = known.read(text, &definition, false)?;
                ListQuery::read(&arguments, &definition, Behaviour::C)
            };
            let given = given.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
            let Ok(mut query) = read(&given.collect::<Vec<_>>().join("&")) else {
                return Ok(());
            };
            let filter = query.filter.clone();
            if is_search {
                query = query.containing(text);
            }
            let end = Cursor::after_name("é&=+%").sorted(query.cursor.sort().clone());
            prop_assume!(end.sort().field == Field::NAME);
            let link = query.next(&end);
            let next = read(link.split_once('?').unwrap().1).unwrap();
            prop_assert_eq!(&next.filter.clone().containing(""), &filter.containing(""));
            prop_assert_eq!(next.cursor, end);
            prop_assert_eq!(next.fields, query.fields);
            prop_assert_eq!((next.limit, next.has_count), (query.limit, query.has_count));
        }
    }

    const NAMES: &[&str] = &[
        "containing",
        "fold",
        "q",
        "fields",
        "limit",
        "sort",
        "count",
        "id",
        "name",
        "type",
        "year",
        "year_from",
        "year_to",
        "maker",
        "maker_not",
        "maker_contains",
        "name_contains",
        "state",
        "state_not",
        "built",
        "built_from",
        "mass_to",
        "lent",
    ];

    const VALUES: &[&str] = &[
        "",
        "true",
        "false",
        "1",
        "1977",
        "0",
        "-1.5",
        "name",
        "-name",
        "name,year",
        "droid",
        "as new",
        "2020-05-31",
        "a b&c=+%é",
        "É b",
    ];
}
