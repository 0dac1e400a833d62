//! Tests of the queries.

use std::num::NonZeroUsize;

use super::{failure::Failure, query::Query};
use crate::{
    catalogue::{Cursor, Filter},
    model::Field,
};

#[test]
fn known_parameters_are_parsed_and_others_ignored() {
    let query = Query::of_list("x=1&fields=year,id&limit=10&after=a%2Bb+c%C3%A9&&=").ok();
    assert_eq!(
        query,
        Some(Query {
            fields: Some(vec![Field::YEAR, Field::ID]),
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
        "fields has '{}…', which is not a field; the fields are id,name,type,year,revision",
        "é".repeat(40)
    );
    let failure = Query::of_robot(&format!("fields={long}")).err();
    assert_eq!(failure, Some(Failure::Malformed(vec![message.into()])));
}

#[test]
fn repeated_parameters_are_reported_once() {
    let query = "limit=x&fields=z&".repeat(1000);
    assert_eq!(
        Query::of_list(&query).err(),
        Some(Failure::Malformed(vec![
            "limit must be an integer from 1 to 1000".into(),
            "fields has 'z', which is not a field; the fields are id,name,type,year,revision"
                .into(),
            "limit is given twice; give it once".into(),
            "fields is given twice; give it once".into(),
        ]))
    );
    assert_eq!(
        Query::of_list(&"type=x&".repeat(1000)).err(),
        Some(Failure::Malformed(vec![
            "type must be one of: droid, mechanical, virtual".into()
        ]))
    );
}

#[test]
fn next_page_keeps_fields_and_limit() {
    let query = Query::of_list("limit=2&fields=name,year").unwrap_or_default();
    let end = Cursor::after_name("a b&c=+%é");
    let next = query.next(&end);
    let expected = "fields=name,year&limit=2&after=a%20b%26c%3D%2B%25%C3%A9";
    assert_eq!(next, format!("/api/robots?{expected}"));
    let read = Query::of_list(expected);
    assert_eq!(read.map(|query| query.cursor), Ok(end));
}

#[test]
fn next_page_of_a_filter_has_a_cursor() {
    let text = "type=droid&type=virtual&type=droid&year_from=1970&name=R2-D2&sort=-year&limit=2";
    let query = Query::of_list(text).unwrap_or_default();
    let end: Cursor = "-year:1977:12".parse().unwrap_or_default();
    let expected = "limit=2&type=droid&type=virtual&year_from=1970&name=R2-D2&sort=-year\
                    &cursor=-year%3A1977%3A12";
    assert_eq!(query.next(&end), format!("/api/robots?{expected}"));
    let read = Query::of_list(expected).unwrap_or_default();
    assert_eq!((read.filter, read.cursor), (query.filter, end));
}

#[test]
fn next_page_of_a_search_keeps_fold() {
    let query = Query::of_search("a/é", "limit=2&fold=true").unwrap_or_default();
    assert_eq!(query.filter, Filter::from("a/é").folded());
    let next = query.next(&Cursor::after_name("é"));
    let expected = "limit=2&fold=true&cursor=name%3A%C3%A9";
    assert_eq!(next, format!("/api/robots/search/a%2F%C3%A9?{expected}"));
    let read = Query::of_search("a/é", expected);
    assert_eq!(read.map(|next| next.filter), Ok(query.filter));
    let query = Query::of_search("a", "fold=false").unwrap_or_default();
    assert!(!query.filter.is_folded());
}

#[test]
fn next_page_of_a_search_for_dots_is_a_list() {
    for text in [".", ".."] {
        let query = Query::of_search(text, "limit=2").unwrap_or_default();
        let parameters = format!("limit=2&containing={text}&cursor=name%3Aa");
        let next = query.next(&Cursor::after_name("a"));
        assert_eq!(next, format!("/api/robots?{parameters}"));
        let read = Query::of_list(&parameters);
        assert_eq!(read.map(|next| next.filter), Ok(query.filter));
    }
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
