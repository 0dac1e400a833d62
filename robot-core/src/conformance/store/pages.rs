//! Cases: pages are ordered, complete, and start after any text.

use super::{Run, add_all, names, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Cursor, Filter, PageRequest, Pages},
    conformance::{Case, cases},
    model::{Entry, Robot},
};

pub(super) const CASES: &[Case<Run>] = cases![
    pages_are_ordered_and_complete,
    pages_start_after_any_text,
    pages_of_a_search_contain_only_matches,
    changes_between_pages_keep_paging_correct,
    entries_have_the_ids_and_names_of_pages,
    pages_of_any_size_are_returned,
];

/// 25 names in order, `n00` to `n24`.
fn twenty_five() -> Vec<String> {
    (0..25).map(|number| format!("n{number:02}")).collect()
}

fn page_names(
    catalogue: &dyn Catalogue,
    containing: &str,
    after: &str,
    limit: usize,
) -> Vec<String> {
    let page = ok(catalogue.page(PageRequest {
        filter: &Filter::from(containing),
        cursor: &Cursor::after_name(after),
        limit,
    }));
    page.iter().map(|robot| robot.name().to_owned()).collect()
}

fn pages_are_ordered_and_complete(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five().iter().rev());
    for size in [1, 7, 24, 25, 26, 1000] {
        // In a store that repeats robots, the pages do not end.
        let pages = Pages::new(catalogue, "").page_size(size).take(100);
        let pages: Vec<Vec<Robot>> = pages.map(ok).collect();
        let (last, full) = pages.split_last().unwrap_or_else(|| panic!("no pages"));
        assert!(full.iter().all(|page| page.len() == size));
        assert!((1..=size).contains(&last.len()));
        assert_eq!(names(&pages.concat()), twenty_five(), "pages of {size}");
    }
}

fn pages_start_after_any_text(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    for (after, first) in [
        ("", Some("n00")),
        ("a", Some("n00")),
        ("n00", Some("n01")),
        ("n00\0", Some("n01")),
        ("n0", Some("n00")),
        ("n055", Some("n06")),
        ("N99", Some("n00")),
        ("n24", None),
        ("z", None),
        ("🤖", None),
    ] {
        let page = page_names(catalogue, "", after, 1);
        assert_eq!(page.first().map(String::as_str), first, "after {after:?}");
    }
    assert_eq!(page_names(catalogue, "", "n22", 10), ["n23", "n24"]);
}

fn pages_of_a_search_contain_only_matches(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    assert_eq!(page_names(catalogue, "5", "", 2), ["n05", "n15"]);
    assert_eq!(page_names(catalogue, "5", "n05", 2), ["n15"]);
    assert_eq!(page_names(catalogue, "n1", "n14", 3), ["n15", "n16", "n17"]);
    assert_eq!(page_names(catalogue, "5", "n15", 2), [""; 0]);
}

fn changes_between_pages_keep_paging_correct(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    let mut pages = Pages::new(catalogue, "").page_size(10);
    let mut seen = Vec::new();
    let mut next = |seen: &mut Vec<String>| {
        let page = pages.next().map(ok).unwrap_or_default();
        seen.extend(page.iter().map(|robot| robot.name().to_owned()));
    };
    next(&mut seen);
    // The last robot of the page is deleted, and new ones are added before and after it.
    let last = ok(catalogue.find("n09")).unwrap_or_else(|| panic!("n09 is missing"));
    ok(catalogue.delete(last.id()));
    add_all(catalogue, ["n05x", "n09x", "n30"]);
    next(&mut seen);
    next(&mut seen);
    let mut expected = twenty_five();
    expected.insert(10, "n09x".to_owned());
    expected.push("n30".to_owned());
    assert_eq!(seen, expected);
}

fn entries_have_the_ids_and_names_of_pages(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    for containing in ["", "1", "n1", "n12", "x12"] {
        for after in ["", "n05", "n12", "z"] {
            let request = PageRequest {
                filter: &Filter::from(containing),
                cursor: &Cursor::after_name(after),
                limit: 7,
            };
            let page = ok(catalogue.page(request)).into_iter();
            let entries: Vec<Entry> = page.map(Entry::from).collect();
            assert_eq!(ok(catalogue.entries(request)), entries, "{request:?}");
        }
    }
    let pages = Pages::new(catalogue, "1").page_size(4).entries();
    let names: Vec<String> = pages
        .flat_map(ok)
        .map(|entry| entry.name().to_owned())
        .collect();
    let expected = twenty_five().into_iter().filter(|name| name.contains('1'));
    assert!(names.into_iter().eq(expected));
}

fn pages_of_any_size_are_returned(catalogue: &dyn Catalogue) {
    add_all(catalogue, twenty_five());
    for (limit, expected) in [
        (0, 0),
        (24, 24),
        (25, 25),
        (usize::MAX / 2, 25),
        (usize::MAX, 25),
    ] {
        for containing in ["", "n"] {
            let request = PageRequest {
                filter: &Filter::from(containing),
                cursor: &Cursor::default(),
                limit,
            };
            assert_eq!(ok(catalogue.page(request)).len(), expected, "{request:?}");
            assert_eq!(
                ok(catalogue.entries(request)).len(),
                expected,
                "{request:?}"
            );
        }
    }
}
