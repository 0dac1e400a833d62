//! Cases: searches that ignore case and diacritics.

use super::{Run, add, add_all, draft, lists::assert_listed, names, ok};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Filter, Pages},
    conformance::{Case, cases},
    model::{Draft, Field, Robot, fold},
};

pub(super) const CASES: &[Case<Run>] = cases![
    folded_search_ignores_case_and_diacritics,
    folded_search_compares_other_characters,
    folded_search_has_no_wildcards,
    folded_search_of_any_part_is_complete,
    folded_search_finds_the_latest_names,
    folded_searches_are_filtered_paged_and_counted,
];

/// Asserts that a folded search finds exactly these names, in any order.
#[track_caller]
fn assert_found(catalogue: &dyn Catalogue, text: &str, expected: &[&str]) {
    let filter = Filter::from(text).folded();
    let found: Vec<Robot> = Pages::new(catalogue, filter.clone()).flat_map(ok).collect();
    let mut expected = expected.to_owned();
    expected.sort_unstable();
    assert_eq!(names(&found), expected, "folded search for {text:?}");
    assert_eq!(ok(catalogue.count(&filter)), expected.len() as u64);
}

/// Texts, and all names that a folded search for each of the texts finds.
const EQUAL: &[(&str, &str)] = &[
    (
        "katerina|KATERINA|kateřina|KATEŘINA|kater\u{30c}ina",
        "Kateřina|katerina|KATERINA 2|Kater\u{30c}ina 3",
    ),
    (
        "angstrom|ÅNGSTRÖM|\u{212b}ngstro\u{308}m",
        "Ångström|A\u{30a}NGSTRO\u{308}M|\u{212b}ngstrom 2",
    ),
    ("istanbul|İSTANBUL|Istanbul", "İstanbul|istanbul 2"),
    ("ǆungla|ǅungla|ǄUNGLA", "ǅungla|Ǆungla 2|ǆungla 3"),
    ("σίσυφος|ΣΊΣΥΦΟΣ|σισυφοσ", "Σίσυφος|ΣΊΣΥΦΟΣ|ΣΙΣΥΦΟΣ 2"),
    ("елка|Ёлка|ЁЛКА|Е\u{308}ЛКА", "Ёлка|елка 2|ЁЛКА 3"),
    ("жук|ЖУК", "Жук|ЖУК 2"),
    ("й|И", "й 1|И 2|и\u{306} 3"),
    ("straße|STRAẞE|ſtraße", "Straße|STRAẞE 2"),
    ("kelvin|\u{212a}elvin", "\u{212a}elvin|KELVIN 2"),
    (
        "vie\u{323}\u{302}t|VIỆT|viet",
        "Việt|viet 2|Vie\u{302}\u{323}t 3",
    ),
    ("ｆｕｌｌ|ＦＵＬＬ", "Ｆｕｌｌ"),
    ("երևան|ԵՐևԱՆ", "Երևան"),
    ("ᲗᲑᲘᲚᲘᲡᲘ|თბილისი", "თბილისი"),
    ("ꭰꭱꭲ|ᎠᎡᎢ", "ᎠᎡᎢ 1|ꭰꭱꭲ 2"),
    ("𐐨𐐩𐐪|𐐀𐐁𐐂", "𐐀𐐁𐐂 1|𐐨𐐩𐐪 2"),
    ("ŁÓDŹ|łodz", "Łódź"),
];

fn folded_search_ignores_case_and_diacritics(catalogue: &dyn Catalogue) {
    for (_, found) in EQUAL {
        add_all(catalogue, found.split('|'));
    }
    for (texts, found) in EQUAL {
        let found: Vec<_> = found.split('|').collect();
        for text in texts.split('|') {
            assert_found(catalogue, text, &found);
        }
    }
}

fn folded_search_compares_other_characters(catalogue: &dyn Catalogue) {
    let all: Vec<_> = "ss|ß|ﬁ|fi|Ⅻ|ⅻ|XII|ı|i|ａ|a|한글|한|ᄒ|ガ|カ|カ\u{3099}|ｶ|أ|ا|²|2|æ|ae|o|ø|\
                       кй\u{488}|か\u{301}"
        .split('|')
        .collect();
    add_all(catalogue, &all);
    // Each text, and the names that it finds.
    let found = "SS:ss ẞ:ß FI:fi Ⅻ:Ⅻ|ⅻ xii:XII ı:ı Ａ:ａ 한:한글|한 ᄒ:ᄒ ガ:ガ カ:カ|カ\u{3099} \
                 カ\u{3099}:カ\u{3099} أ:أ ا:ا 2:2 AE:ae Æ:æ Ø:ø КИ\u{488}:кй\u{488} か:か\u{301}";
    for (text, found) in found.split(' ').filter_map(|pair| pair.split_once(':')) {
        assert_found(catalogue, text, &found.split('|').collect::<Vec<_>>());
    }
    // Every name contains a text that consists of diacritics.
    for text in ["\u{301}", "\u{301}\u{fe20}", ""] {
        assert_found(catalogue, text, &all);
    }
    assert_found(catalogue, "a\0", &[]);
    // The same texts without folding.
    super::assert_found(catalogue, "SS", &[]);
    super::assert_found(catalogue, "\u{301}", &["か\u{301}"]);
    super::assert_found(catalogue, "XII", &["XII"]);
}

fn folded_search_has_no_wildcards(catalogue: &dyn Catalogue) {
    let difficult: Vec<_> =
        "100% Ü|100x Ü|A_B Ü|AxB Ü|a\\b Ü|a'b Ü|a\"b Ü|A*B Ü|A-B Ü|A B Ü|% Ü|_ Ü|\
                             \\ Ü|\\% Ü|[x] Ü"
            .split('|')
            .collect();
    add_all(catalogue, &difficult);
    for (text, found) in [
        ("100% u", &["100% Ü"][..]),
        ("a_b", &["A_B Ü"]),
        ("A_B U", &["A_B Ü"]),
        ("A\\B u", &["a\\b Ü"]),
        ("A'B", &["a'b Ü"]),
        ("A'B u", &["a'b Ü"]),
        ("a\"B u", &["a\"b Ü"]),
        ("a*b", &["A*B Ü"]),
        ("A-b U", &["A-B Ü"]),
        ("a B ü", &["A B Ü"]),
        ("% ü", &["100% Ü", "% Ü", "\\% Ü"]),
        ("_ ü", &["_ Ü"]),
        ("\\ U", &["\\ Ü"]),
        ("\\%", &["\\% Ü"]),
        ("[X] u", &["[x] Ü"]),
        ("ü", &difficult),
    ] {
        assert_found(catalogue, text, found);
    }
}

/// Every part of some names, of one character and of more.
fn folded_search_of_any_part_is_complete(catalogue: &dyn Catalogue) {
    let all = [
        "Kateřina-Ångström 3",
        "ΆΊΣυς 'x'",
        "Щёлк% _\\",
        "Łódź 한글カガ",
        "ᎠᏰ 𐐀𐐨 \"q\"",
        "A\u{301}\u{327}b\u{20dd}C أب",
    ];
    add_all(catalogue, all);
    for name in all {
        let name: Vec<char> = name.chars().collect();
        for part in [1, 2, 3, 5]
            .map(|length| name.windows(length))
            .into_iter()
            .flatten()
        {
            let part: String = part.iter().collect();
            // Some letters in the other case.
            let part = part.replace('k', "K").replace('n', "Ñ").replace('υ', "Υ");
            let filter = Filter::from(part).folded();
            let found: Vec<Robot> = Pages::new(catalogue, filter.clone()).flat_map(ok).collect();
            let mut expected = ok(catalogue.list());
            expected.retain(|robot| fold(robot.name()).contains(&*fold(&filter.containing)));
            assert_eq!(names(&found), names(&expected), "{filter:?}");
        }
    }
}

fn folded_search_finds_the_latest_names(catalogue: &dyn Catalogue) {
    let robot = add(catalogue, "Kateřina");
    let other = add(catalogue, "Zuzana");
    assert_found(catalogue, "KATERINA", &["Kateřina"]);
    ok(catalogue.replace(robot.id(), draft("Ludmila")));
    ok(catalogue.replace(other.id(), draft("KATERÍNA")));
    assert_found(catalogue, "kateřina", &["KATERÍNA"]);
    assert_found(catalogue, "LUDmila", &["Ludmila"]);
    assert_found(catalogue, "zuz", &[]);
    ok(catalogue.delete(other.id()));
    assert_found(catalogue, "katerina", &[]);
    add(catalogue, "katerina");
    assert_found(catalogue, "katerina", &["katerina"]);
}

fn folded_searches_are_filtered_paged_and_counted(catalogue: &dyn Catalogue) {
    let types = ["droid", "mechanical", "virtual"];
    let prefixes = ["Ä", "a", "A\u{308}", "B", "Ć"];
    // More than a store reads at once, and in another order than that of the names.
    let robots: Vec<Robot> = (0..300_usize)
        .map(|number| {
            let number = number * 187 % 300;
            let name = format!("{}-{number:03} Ünit", prefixes[number % 5]);
            let year = 1900 + i64::try_from(number % 37).unwrap_or_default();
            ok(catalogue.add(Draft::new(name, types[number % 3], year)))
        })
        .collect();
    let folded = |text: &str| Filter::from(text).folded();
    for filter in [
        folded("A-"),
        folded("ä-00"),
        folded("ć-29"),
        folded("UNIT"),
        folded("9 u"),
        folded("none"),
        folded("\u{308}"),
        folded("a-").with(Field::TYPE, "virtual"),
        folded("UNIT")
            .with(Field::TYPE, "droid")
            .at_least(Field::YEAR, 1910)
            .at_most(Field::YEAR, 1919),
        folded("0 ünit").at_least(Field::YEAR, 1930),
        folded("b-").with(Field::NAME, "B-003 Ünit"),
        folded("c-").with(Field::NAME, "B-003 Ünit"),
    ] {
        assert_listed(catalogue, &robots, &filter);
    }
}
