//! `?limit=` and `?after=`, and lists longer than one page of the store.

use super::{Answer, Case, Session, assert_answer, assert_failure, names};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    limit_returns_the_first_page,
    next_links_lead_through_all_pages,
    next_link_keeps_search_and_fields,
    after_accepts_any_name,
    invalid_limit_or_after_returns_400,
    long_list_is_complete,
    list_of_long_names_is_complete,
];

/// The target of the link to the next page, relative to the target of this one.
pub(super) fn link(target: &str, answer: &Answer) -> Option<String> {
    let link = answer.header("link")?;
    let mut reference = link
        .strip_prefix('<')
        .and_then(|link| link.strip_suffix(">; rel=\"next\""))
        .unwrap_or_else(|| panic!("the Link {link}"));
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let mut folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    while let Some(above) = reference.strip_prefix("../") {
        reference = above;
        folder = folder.rsplit_once('/').map_or(folder, |(folder, _)| folder);
    }
    Some(format!("{folder}/{reference}"))
}

/// The names on all pages of a list, and the targets of the links between them.
pub(super) fn follow_links(
    session: &Session<'_>,
    list: &str,
    limit: usize,
) -> (Vec<String>, Vec<String>) {
    let (mut found, mut links) = (Vec::new(), Vec::new());
    let mut next = Some(format!("{list}limit={limit}"));
    while let Some(target) = next {
        let answer = session.get(&target);
        let page = names(&answer);
        assert!((1..=limit).contains(&page.len()), "{target}: {page:?}");
        found.extend(page);
        next = link(&target, &answer);
        links.extend(next.clone());
    }
    (found, links)
}

fn add_five(session: &Session<'_>) {
    for name in ["a&b", "c d", "e+f", "g%h", "i🤖"] {
        session.add(name);
    }
}

fn limit_returns_the_first_page(session: &Session<'_>) {
    add_five(session);
    let answer = session.get("/api/robots?limit=2");
    assert_eq!(names(&answer), ["a&b", "c d"]);
    assert!(link("/api/robots", &answer).is_some());
    for limit in [5, 6, 1000] {
        let answer = session.get(&format!("/api/robots?limit={limit}"));
        assert_eq!(names(&answer).len(), 5);
        assert_eq!(answer.header("link"), None);
    }
    let answer = session.get("/api/robots/search/nothing?limit=1");
    assert_answer(&answer, 200, "[]");
    assert_eq!(answer.header("link"), None);
}

fn next_links_lead_through_all_pages(session: &Session<'_>) {
    add_five(session);
    for limit in 1..=5 {
        let (found, _) = follow_links(session, "/api/robots?", limit);
        assert_eq!(
            found,
            ["a&b", "c d", "e+f", "g%h", "i🤖"],
            "pages of {limit}"
        );
    }
}

fn next_link_keeps_search_and_fields(session: &Session<'_>) {
    for name in ["x/1", "x/2", "y", "x/3"] {
        session.add(name);
    }
    let answer = session.get("/api/robots/search/x%2F?limit=2&fields=name");
    assert_answer(&answer, 200, r#"[{"name":"x/1"},{"name":"x/2"}]"#);
    let next = link("/api/robots/search/x", &answer).unwrap_or_default();
    session.get_is(&next, r#"[{"name":"x/3"}]"#);
}

fn after_accepts_any_name(session: &Session<'_>) {
    add_five(session);
    let lists = "
        ?after=c+d -> e+f|g%h|i🤖
        ?after=c%20d -> e+f|g%h|i🤖
        ?after=e%2Bf -> g%h|i🤖
        ?after=b -> c d|e+f|g%h|i🤖
        ?after= -> a&b|c d|e+f|g%h|i🤖
        ?after=i%F0%9F%A4%96 ->
        ?after=zzz ->
        ?after=c&limit=1 -> c d
        /search/%2B?after=a -> e+f";
    session.assert_lists("/api/robots", lists);
}

fn invalid_limit_or_after_returns_400(session: &Session<'_>) {
    let queries = "limit= limit=0 limit=1001 limit=-1 limit=+1 limit=1.0 limit=x \
                   limit=99999999999999999999 limit=1&limit=1 after=%FF after=a&after=b";
    for query in queries.split(' ') {
        for path in ["", "/search/x"] {
            assert_failure(&session.get(&format!("/api/robots{path}?{query}")), 400);
        }
    }
}

fn long_list_is_complete(session: &Session<'_>) {
    let expected = session.add_many(2100);
    assert_eq!(session.names("/api/robots"), expected);
    assert_eq!(session.names("/api/robots/search/RX"), expected);
    assert_eq!(session.names("/api/robots?after=RX-0099"), expected[100..]);
    assert_eq!(
        session.names("/api/robots/search/-20"),
        expected[2000..2100]
    );
}

fn list_of_long_names_is_complete(session: &Session<'_>) {
    // Escaping makes each six times as long.
    let long = "<".repeat(250);
    let expected: Vec<_> = (0..600)
        .map(|number| format!("{number:04} {long}"))
        .collect();
    session.add_all(&expected);
    assert_eq!(session.names("/api/robots"), expected);
    assert_eq!(session.names("/api/robots/search/%3C%3C%3C"), expected);
    let page = session.names("/api/robots?limit=500");
    assert_eq!(page, expected[..500]);
    assert_eq!(session.names("/api/robots?fields=name,year"), expected);
}
