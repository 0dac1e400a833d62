//! Case: conditions for parts of values, and for other values.

use super::{
    Run,
    definitions::filter,
    lists::assert_listed,
    names, ok,
    own_fields::{add_each, define},
};
use crate::{
    catalogue::{Catalogue, CatalogueExt, Pages},
    conformance::{Case, cases},
    model::Robot,
};

pub(super) const CASES: &[Case<Run>] = cases![parts_and_other_values_choose_robots];

/// Robots with texts that have a special meaning in a query language.
const PARTS: &str = r#"{"maker": "ACME, Kateřina", "state": "good", "weight": 1}
    {"maker": "acme_1%", "state": "fair", "weight": 2}
    {"maker": "e\u0301Σ[x]*\\^"}
    {"weight": 1}
    {"maker": "ACME"}"#;

fn parts_and_other_values_choose_robots(catalogue: &dyn Catalogue) {
    for index in [false, true] {
        let own = format!(
            r#"{{"properties": {{"maker": {{"type": "string", "index": {index}}},
            "state": {{"enum": ["good", "fair"]}}, "weight": {{"type": "number"}}}}}}"#
        );
        let definition = define(catalogue, &own);
        if !index {
            add_each(catalogue, PARTS);
        }
        let robots = ok(catalogue.list());
        for (conditions, expected) in [
            ("maker_contains=acme", "a, b, e"),
            ("maker_contains=KATERINA", "a"),
            ("maker_contains=acme&maker_contains=1", "b"),
            ("maker_contains=_1%", "b"),
            ("maker_contains=%", "b"),
            ("maker_contains=.", ""),
            ("maker_contains=Éς[X]*\\^", "c"),
            ("maker_contains=\0", ""),
            ("maker_contains=\u{301}", "a, b, c, e"),
            ("maker_not=ACME", "a, b, c, d"),
            ("maker_not=ACME&maker_not=acme_1%", "a, c, d"),
            ("maker_not=", "a, b, c, e"),
            ("maker_not=&maker_not=ACME", "a, b, c"),
            ("maker_not=\0", "a, b, c, d, e"),
            ("maker=ACME&maker=&maker_not=ACME", "d"),
            ("maker_contains=acme&maker_not=ACME&name_not=b", "a"),
            ("state_not=good", "b, c, d, e"),
            ("weight_not=1", "b, c, e"),
            ("year_not=1977", ""),
            ("name_contains=A&type_not=virtual", "a"),
        ] {
            let filter = filter(&definition, conditions);
            let found = Pages::new(catalogue, filter.clone()).flat_map(ok);
            let found: Vec<Robot> = found.collect();
            assert_eq!(names(&found).join(", "), expected, "{conditions}");
            assert_eq!(ok(catalogue.count(&filter)), found.len() as u64);
            if conditions.contains('&') {
                assert_listed(catalogue, &robots, &filter);
            }
        }
    }
}
