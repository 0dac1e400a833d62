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
    sandbox.stdout(&["add", "KATERINA 2", "--type=virtual", "--year=2002"]);
    for (arguments, expected) in [
        ("list --type virtual --year-to 1968", "HAL 9000"),
        ("search 9 --type virtual --type droid", "HAL 9000"),
        ("list --year-from 0 --limit 2", "Bender, HAL 9000"),
        ("list --limit 0", ""),
        ("export --year-to 1968", "HAL 9000"),
        ("export --sort=-year --limit 2", "Bender, KATERINA 2"),
        ("list --sort=-name --limit 2", "R2-D2, Maria"),
        ("list --sort -id --limit 1", "KATERINA 2"),
        ("search a --sort id", "Maria, Kateřina"),
        ("search katerina --ignore-case", "KATERINA 2, Kateřina"),
        (
            "search --ignore-case KATEŘ --sort=-id --limit 1",
            "KATERINA 2",
        ),
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
    let _ = sandbox
        .run("list --limit 0")
        .success()
        .stdout("")
        .stderr("");
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
    let sandbox = sandbox();
    for (arguments, expected) in [
        ("list --count", "4\n"),
        ("search HAL --count --type droid", "0\n"),
        ("search hal --ignore-case --count", "1\n"),
        (
            "summary --type virtual",
            "TYPE     DECADE  COUNT\n\
             virtual  0s          1\n\
             all                  1\n",
        ),
        (
            "summary --containing hal --ignore-case --format csv",
            "type,decade,count\nvirtual,0,1\n",
        ),
        (
            "summary --by type --year-to 1977",
            "TYPE        COUNT\n\
             droid           1\n\
             mechanical      1\n\
             virtual         1\n\
             all             3\n",
        ),
        (
            "summary --by type --where type=virtual --format json",
            "{\"count\":1,\"groups\":[{\"type\":\"virtual\",\"count\":1}]}\n",
        ),
        (
            "summary --year-from 3000 --format json",
            "{\"count\":0,\"groups\":[]}\n",
        ),
    ] {
        sandbox.prints(arguments, expected);
    }
}

#[test]
fn wrong_values_are_usage_errors() {
    let sandbox = sandbox();
    for (arguments, message) in [
        (
            "list --type toaster",
            "type must be one of: droid, mechanical, virtual",
        ),
        (
            "list --sort price",
            "the order is name, -name, year, -year, id or -id",
        ),
        ("list --year-from x", "year_from must be an integer from 0"),
        ("export --fields=name,colour", "'colour'"),
        ("list --where year=1 --year-to 2", "exclude each other"),
        ("list --where name=a --where name=b", "exclude each other"),
        ("list --count --limit 1", "cannot be used with"),
        ("list --ignore-case", "unexpected argument"),
    ] {
        sandbox.is_usage_error(arguments, message);
    }
}

#[test]
fn filter_without_matches_has_a_hint() {
    let sandbox = sandbox();
    for (arguments, hint) in [
        (
            "list --year-from 3000",
            "No robot meets these conditions. List all robots with: robot-cli list\n",
        ),
        (
            "search HAL --type droid",
            "and meets these conditions (the search",
        ),
        (
            "search zora --ignore-case",
            "No robot has 'zora' in its name. List all robots with: robot-cli list\n",
        ),
    ] {
        sandbox.reports(arguments, 0, &[hint]);
    }
}
