//! Tests of filters, orders, limits, counts and `summary`.

use robot_core::Draft;

use crate::sandbox::Sandbox;

/// Four robots, of which two have the same year.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("add Maria --type mechanical --year 1977");
    sandbox
}

fn names(sandbox: &Sandbox, arguments: &str) -> String {
    let csv = sandbox.stdout(&format!("{arguments} --format csv"));
    let rows = csv.lines().skip(1);
    let names: Vec<_> = rows.map(|row| row.split(',').nth(1).unwrap()).collect();
    names.join(", ")
}

#[test]
fn filters_and_orders_choose_robots() {
    let sandbox = sandbox();
    sandbox.stdout("add Kateřina --type droid --year 2001");
    sandbox.stdout(["add", "KATERINA 2", "--type=virtual", "--year=2002"]);
    for (arguments, expected) in [
        ("list --type virtual --year-to 1968", "HAL 9000"),
        ("search 9 --type virtual --type droid", "HAL 9000"),
        ("list --year-from 0 --limit 2", "Bender, HAL 9000"),
        ("export --year-to 1968", "HAL 9000"),
        ("export --sort=-year --limit 2", "Bender, KATERINA 2"),
        ("list --sort=-name --limit 2", "R2-D2, Maria"),
        ("list --sort -id --limit 1", "KATERINA 2"),
        ("search a --sort id", "Maria, Kateřina"),
        ("search katerina --ignore-case", "KATERINA 2, Kateřina"),
        ("search ka --ignore-case --type droid", "Kateřina"),
        ("search  --ignore-case --year-to 1", "HAL 9000"),
        ("search KATE", "KATERINA 2"),
        ("export --containing hal --ignore-case", "HAL 9000"),
        ("export --containing hal", ""),
        ("list --where name=HAL", ""),
        ("list --where type=droid --where year_from=2000", "Kateřina"),
        ("list --words 2=katerina", ""),
        ("search --words katerina --where type=virtual", "KATERINA 2"),
    ] {
        assert_eq!(names(&sandbox, arguments), expected, "{arguments}");
    }
}

#[test]
fn limit_beyond_a_page_is_exact() {
    let sandbox = Sandbox::new();
    sandbox.add((0..2300).map(|number| Draft::new(format!("n{number:04}"), "droid", number)));
    for limit in [999, 1000, 1001, 2299, 2300, 5000] {
        for command in ["list", "export"] {
            let found = names(&sandbox, &format!("{command} --sort=-year --limit {limit}"));
            assert_eq!(found.split(", ").count(), limit.min(2300), "{limit}");
            assert!(found.starts_with("n2299"));
        }
    }
}

#[test]
fn count_and_summary_are_printed() {
    sandbox().examples(
        r#"
        list --count -> 0 4
        search HAL --count --type droid -> 0 0
        search hal --ignore-case --count -> 0 1
        summary --type virtual -> 0 TYPE     DECADE  COUNT\nvirtual  0s          1\nall                  1
        summary --containing hal --ignore-case --format csv -> 0 type,decade,count\nvirtual,0,1
        summary --by type --year-to 1977 -> 0 TYPE        COUNT\ndroid           1\nmechanical      1\nvirtual         1\nall             3
        summary --by type --where type=virtual --format json -> 0 {"count":1,"groups":[{"type":"virtual","count":1}]}
        summary --year-from 3000 --format json -> 0 {"count":0,"groups":[]}"#,
    );
}

#[test]
fn wrong_conditions_are_usage_errors() {
    sandbox().examples(
        r"
        list --type toaster -> 2 ! *type must be one of: droid, mechanical, virtual*
        list --sort price -> 2 ! *the order is name, -name, year, -year, id, -id, created_at, *
        list --year-from x -> 2 ! *year_from must be an integer from 0*
        export --fields=name,colour -> 2 ! *'colour'*
        list --where year=1 --year-to 2 -> 2 ! *exclude each other*
        list --where name=a --where name=b -> 2 ! *exclude each other*
        list --count --limit 1 -> 2 ! *cannot be used with*
        list --ignore-case -> 2 ! *unexpected argument*",
    );
}
