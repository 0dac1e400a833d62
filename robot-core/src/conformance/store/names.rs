//! Names: kept, ordered, found and searched by their bytes.

use super::{Run, add, add_all, assert_found, assert_rejected, draft, get, good};
use crate::catalogue::CatalogueExt;
use crate::{
    catalogue::Catalogue,
    conformance::{Case, cases},
    model::{NAME_LENGTH_LIMIT, Violation},
};

pub(super) const CASES: &[Case<Run>] = cases![
    names_differ_when_their_bytes_do,
    names_are_ordered_by_bytes,
    the_longest_names_are_kept,
    a_name_is_found_exactly,
    a_search_finds_parts_anywhere,
    a_search_has_no_wildcards,
    a_search_compares_bytes,
    a_search_for_what_no_name_contains_finds_nothing,
];

/// Names that careless stores confuse, misorder or mangle.
const DIFFICULT_NAMES: &[&str] = &[
    " ",
    "  ",
    " x",
    "x",
    "x ",
    "x  ",
    "\t",
    "\n",
    "\r\n",
    "X",
    "%",
    "_",
    "\\",
    "\\%",
    "*",
    "?",
    "[x]",
    "'",
    "''",
    "\"",
    "`",
    ";",
    "--",
    "/",
    "//",
    "a/b",
    "&",
    "<b>",
    "+",
    "%20",
    "%2F",
    "NULL",
    "null",
    "0",
    "1",
    "01",
    "1.0",
    "true",
    "é",
    "e\u{301}",
    "É",
    "ß",
    "ss",
    "ﬁ",
    "fi",
    "i",
    "I",
    "ı",
    "İ",
    "Å",
    "\u{212b}",
    "ａ",
    "a",
    "\u{7f}",
    "\u{80}",
    "\u{1}",
    "\u{1b}[31m",
    "\u{200b}",
    "\u{feff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "🤖",
    "🤖🤖",
    "👩‍🚀",
    "日本",
    "עברית",
    "\u{202e}abc",
];

fn names_differ_when_their_bytes_do(catalogue: &dyn Catalogue) {
    for name in DIFFICULT_NAMES {
        let robot = add(catalogue, name);
        assert_eq!(robot.name(), *name);
        assert_eq!(good(catalogue.find(name)), Some(robot.clone()), "{name:?}");
        assert_eq!(get(catalogue, robot.id()), Some(robot), "{name:?}");
    }
    for name in DIFFICULT_NAMES {
        assert_rejected(catalogue.add(draft(name)), &[Violation::NameTaken]);
    }
}

fn names_are_ordered_by_bytes(catalogue: &dyn Catalogue) {
    add_all(catalogue, DIFFICULT_NAMES);
    let mut sorted = DIFFICULT_NAMES.to_vec();
    sorted.sort_unstable_by_key(|name| name.as_bytes());
    assert_found(catalogue, "", &sorted);
}

fn the_longest_names_are_kept(catalogue: &dyn Catalogue) {
    for character in ["a", "é", "日", "🤖"] {
        let name = character.repeat(NAME_LENGTH_LIMIT);
        let robot = add(catalogue, &name);
        assert_eq!(get(catalogue, robot.id()), Some(robot));
        assert_rejected(
            catalogue.add(draft(&format!("{name}{character}"))),
            &[Violation::NameTooLong],
        );
        // They differ in the last character alone.
        let mut other = character.repeat(NAME_LENGTH_LIMIT - 1);
        other.push('z');
        add(catalogue, &other);
        assert_found(catalogue, &name, &[&name]);
    }
}

fn a_name_is_found_exactly(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "R2-D2");
    assert_eq!(good(catalogue.find("R2-D2")), Some(robot));
    for name in [
        "r2-d2", "R2-D2 ", " R2-D2", "R2", "R2-D_", "%", "", "R2-D2\0", "\0",
    ] {
        assert_eq!(good(catalogue.find(name)), None, "{name:?}");
    }
    let long = "R".repeat(100_000);
    assert_eq!(good(catalogue.find(&long)), None);
}

fn a_search_finds_parts_anywhere(catalogue: &dyn Catalogue) {
    add_all(catalogue, ["R2-D2", "BB-8", "D2", "2", "x2-D2x"]);
    assert_found(catalogue, "2-D2", &["R2-D2", "x2-D2x"]);
    assert_found(catalogue, "D2", &["D2", "R2-D2", "x2-D2x"]);
    assert_found(catalogue, "2", &["2", "D2", "R2-D2", "x2-D2x"]);
    assert_found(catalogue, "BB", &["BB-8"]);
    assert_found(catalogue, "8", &["BB-8"]);
    assert_found(catalogue, "", &["2", "BB-8", "D2", "R2-D2", "x2-D2x"]);
}

fn a_search_has_no_wildcards(catalogue: &dyn Catalogue) {
    add_all(catalogue, DIFFICULT_NAMES);
    let mut sorted = DIFFICULT_NAMES.to_vec();
    sorted.sort_unstable();
    for part in DIFFICULT_NAMES {
        let expected: Vec<_> = sorted
            .iter()
            .copied()
            .filter(|name| name.contains(part))
            .collect();
        assert_found(catalogue, part, &expected);
    }
}

fn a_search_compares_bytes(catalogue: &dyn Catalogue) {
    add_all(
        catalogue,
        ["Robby", "robby", "É", "e\u{301}", "é", "Straße", "STRASSE"],
    );
    assert_found(catalogue, "robby", &["robby"]);
    assert_found(catalogue, "OBB", &[]);
    assert_found(catalogue, "é", &["é"]);
    assert_found(catalogue, "e", &["Straße", "e\u{301}"]);
    assert_found(catalogue, "\u{301}", &["e\u{301}"]);
    assert_found(catalogue, "SS", &["STRASSE"]);
}

fn a_search_for_what_no_name_contains_finds_nothing(catalogue: &dyn Catalogue) {
    add_all(catalogue, ["a", "ab"]);
    let long = "a".repeat(100_000);
    for part in ["b ", "ba", "\0", "a\0", "\0a", long.as_str(), "' OR 1=1 --"] {
        assert_found(catalogue, part, &[]);
    }
}
