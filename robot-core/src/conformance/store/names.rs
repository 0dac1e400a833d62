//! Cases: names are stored, ordered, found and searched by their bytes.

use super::{Run, add, add_all, assert_found, assert_rejected, draft, get, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt},
    conformance::{Case, cases},
    model::{NAME_LENGTH_LIMIT, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    names_are_compared_by_bytes,
    names_are_ordered_and_searched_by_bytes,
    names_of_maximum_length_are_stored,
    find_matches_the_exact_name,
    search_matches_parts_of_names,
    search_finds_the_latest_names,
];

/// Names that are easily confused, misordered or altered, separated by `|`.
const DIFFICULT_NAMES: &str = concat!(
    " |  | x|x|x |x  |\t|\n|\r\n|X|%|_|\\|\\%|*|?|[x]|'|''|\"|`|;|--|/|//|a/b|&|<b>|+|%20|%2F|",
    "NULL|null|0|1|01|1.0|true|é|e\u{301}|É|ß|ss|ﬁ|fi|i|I|ı|İ|Å|\u{212b}|ａ|a|\u{7f}|\u{80}|",
    "\u{1}|\u{1b}[31m|\u{200b}|\u{feff}|\u{fffd}|\u{ffff}|\u{10000}|\u{10ffff}|🤖|🤖🤖|👩‍🚀|日本|",
    "עברית|\u{202e}abc",
);

/// These names, in the order of their bytes.
pub(super) fn difficult_names() -> Vec<&'static str> {
    let mut names: Vec<_> = DIFFICULT_NAMES.split('|').collect();
    names.sort_unstable();
    names
}

fn names_are_compared_by_bytes(catalogue: &dyn Catalogue) {
    for name in difficult_names() {
        let robot = add(catalogue, name);
        assert_eq!(robot.name(), name);
        assert_eq!(ok(catalogue.find(name)), Some(robot.clone()), "{name:?}");
        assert_eq!(get(catalogue, robot.id()), Some(robot), "{name:?}");
    }
    for name in difficult_names() {
        assert_rejected(catalogue.add(draft(name)), &[Violation::NAME_TAKEN]);
    }
}

fn names_are_ordered_and_searched_by_bytes(catalogue: &dyn Catalogue) {
    add_all(catalogue, DIFFICULT_NAMES.split('|'));
    for part in difficult_names().into_iter().chain([""]) {
        let mut expected = difficult_names();
        expected.retain(|name| name.contains(part));
        assert_found(catalogue, part, &expected);
    }
}

fn names_of_maximum_length_are_stored(catalogue: &dyn Catalogue) {
    for character in ["a", "é", "日", "🤖"] {
        let name = character.repeat(NAME_LENGTH_LIMIT);
        let robot = add(catalogue, &name);
        assert_eq!(get(catalogue, robot.id()), Some(robot));
        assert_rejected(
            catalogue.add(draft(&format!("{name}{character}"))),
            &[Violation::new(
                "name",
                "The name must be at most 255 characters long",
            )],
        );
        // It differs in the last character only.
        let mut other = character.repeat(NAME_LENGTH_LIMIT - 1);
        other.push('z');
        add(catalogue, &other);
        assert_found(catalogue, &name, &[&name]);
    }
}

fn find_matches_the_exact_name(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(ok(catalogue.find("R2-D2")), Some(robot));
    let long = "R".repeat(100_000);
    let others = "r2-d2|R2-D2 | R2-D2|R2|R2-D_|%||R2-D2\0|\0";
    for name in others.split('|').chain([long.as_str()]) {
        assert_eq!(ok(catalogue.find(name)), None, "{name:?}");
    }
}

fn search_matches_parts_of_names(catalogue: &dyn Catalogue) {
    let all = "2|BB-8|D2|R2-D2|Robby|Straße|e\u{301}|robby|x2-D2x|É|é";
    add_all(catalogue, all.split('|'));
    let long = "a".repeat(100_000);
    for (part, found) in [
        ("2-D2", "R2-D2|x2-D2x"),
        ("D2", "D2|R2-D2|x2-D2x"),
        ("2", "2|D2|R2-D2|x2-D2x"),
        ("BB", "BB-8"),
        ("8", "BB-8"),
        ("robby", "robby"),
        ("é", "é"),
        ("e", "Straße|e\u{301}"),
        ("\u{301}", "e\u{301}"),
        ("", all),
        ("OBB", ""),
        ("SS", ""),
        ("2 ", ""),
        ("\0", ""),
        ("2\0", ""),
        ("\u{0}2", ""),
        (&long, ""),
        ("' OR 1=1 --", ""),
    ] {
        let found: Vec<_> = found.split_terminator('|').collect();
        assert_found(catalogue, part, &found);
    }
}

fn search_finds_the_latest_names(catalogue: &dyn Catalogue) {
    add(catalogue, "kept 2-D2");
    let renamed = add(catalogue, "old 2-D2").id();
    let deleted = add(catalogue, "gone 2-D2").id();
    ok(catalogue.replace(renamed, draft("new 2-D2")));
    ok(catalogue.delete(deleted));
    // One, two, three and more characters, which a store may look up in different ways.
    for part in ["2", "-D", "2-D", "2-D2"] {
        assert_found(catalogue, part, &["kept 2-D2", "new 2-D2"]);
    }
    for part in ["old", "ol", "gone", "go", "gone 2-D2"] {
        assert_found(catalogue, part, &[]);
    }
    assert_found(catalogue, "new", &["new 2-D2"]);
    // Under the same name, and under the id that it had.
    add(catalogue, "gone 2-D2");
    ok(catalogue.replace(renamed, draft("old 2-D2")));
    assert_found(catalogue, "2-D2", &["gone 2-D2", "kept 2-D2", "old 2-D2"]);
}
