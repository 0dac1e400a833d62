//! Tests of filters, orders, limits, counts and `summary`.

use robot_core::Draft;

use crate::sandbox::Sandbox;

/// Four robots, of which two have the same year.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("add Maria --type mechanical --year 1977");
    sandbox
}

fn names(sandbox: &Sandbox, arguments: &[&str]) -> Vec<String> {
    let csv = sandbox.stdout(&[arguments, &["--format", "csv"]].concat());
    let rows = csv.lines().skip(1);
    rows.map(|row| row.split(',').nth(1).unwrap().to_owned())
        .collect()
}

#[test]
fn filters_choose_robots() {
    let sandbox = sandbox();
    let all = names(&sandbox, &["list"]);
    assert_eq!(all.len(), 4);
    assert_eq!(
        names(
            &sandbox,
            &["list", "--type", "virtual", "--year-to", "1968"]
        ),
        ["HAL 9000"]
    );
    assert_eq!(
        names(
            &sandbox,
            &["search", "9", "--type", "virtual", "--type", "droid"]
        ),
        ["HAL 9000"]
    );
    assert_eq!(
        names(&sandbox, &["list", "--year-from", "0", "--limit", "2"]),
        all[..2]
    );
    assert_eq!(names(&sandbox, &["list", "--limit", "0"]), [""; 0]);
    let assert = sandbox.run("list --limit 0");
    assert.success().stdout("").stderr("");
    assert_eq!(
        names(&sandbox, &["export", "--year-to", "1968"]),
        ["HAL 9000"]
    );
    let mut reversed = all.clone();
    reversed.reverse();
    assert_eq!(names(&sandbox, &["list", "--sort=-name"]), reversed);
    assert_eq!(
        names(&sandbox, &["list", "--sort", "-id", "--limit", "1"]),
        ["Maria"]
    );
    assert_eq!(
        names(&sandbox, &["search", "", "--sort", "id"])
            .last()
            .unwrap(),
        "Maria"
    );
}

#[test]
fn limit_beyond_a_page_is_exact() {
    let sandbox = Sandbox::new();
    sandbox.add((0..2300).map(|number| Draft::new(format!("n{number:04}"), "droid", number)));
    for limit in [999, 1000, 1001, 2299, 2300, 5000] {
        let found = names(
            &sandbox,
            &["list", "--sort=-year", "--limit", &limit.to_string()],
        );
        assert_eq!(found.len(), limit.min(2300), "{limit}");
        assert_eq!(found[0], "n2299");
    }
}

#[test]
fn count_and_summary_are_printed() {
    let sandbox = sandbox();
    sandbox.prints("list --count", "4\n");
    sandbox.prints("search HAL --count --type droid", "0\n");
    sandbox.prints(
        "summary --type virtual",
        "TYPE          DECADE      ROBOTS\n\
         virtual           0s           1\n\
         all                            1\n",
    );
    sandbox.prints(
        "summary --containing HAL --format csv",
        "type,decade,count\nvirtual,0,1\n",
    );
    sandbox.prints(
        "summary --year-from 3000 --format json",
        "{\"count\":0,\"groups\":[]}\n",
    );
}

#[test]
fn ignore_case_ignores_case_and_diacritics() {
    let sandbox = sandbox();
    sandbox.stdout("add Kateřina --type droid --year 2001");
    sandbox.stdout(&["add", "KATERINA 2", "--type", "virtual", "--year", "2002"]);
    for (arguments, expected) in [
        (
            &["search", "katerina", "--ignore-case"][..],
            &["KATERINA 2", "Kateřina"][..],
        ),
        (
            &[
                "search",
                "--ignore-case",
                "KATEŘ",
                "--sort=-id",
                "--limit",
                "1",
            ],
            &["KATERINA 2"],
        ),
        (
            &["search", "ka", "--ignore-case", "--type", "droid"],
            &["Kateřina"],
        ),
        (
            &["search", "", "--ignore-case", "--year-to", "1"],
            &["HAL 9000"],
        ),
        (&["search", "KATE"], &["KATERINA 2"]),
        (
            &["export", "--containing", "hal", "--ignore-case"],
            &["HAL 9000"],
        ),
        (&["export", "--containing", "hal"], &[]),
    ] {
        assert_eq!(names(&sandbox, arguments), expected, "{arguments:?}");
    }
    sandbox.prints("search katerina --ignore-case --count", "2\n");
    sandbox.prints(
        "summary --containing KATERINA --ignore-case --format csv",
        "type,decade,count\ndroid,2000,1\nvirtual,2000,1\n",
    );
    let stderr = sandbox.stderr("search zora --ignore-case", 0);
    let hint = "No robot has 'zora' in its name. List all robots with: robot-cli list\n";
    assert_eq!(stderr, hint);
    sandbox.is_usage_error("list --ignore-case", "unexpected argument");
}

#[test]
fn wrong_values_are_usage_errors() {
    let sandbox = sandbox();
    for (arguments, message) in [
        (
            &["list", "--type", "toaster"][..],
            "the type is one of: droid, mechanical, virtual",
        ),
        (
            &["list", "--sort", "price"],
            "the order is name, -name, year, -year, id or -id",
        ),
        (&["list", "--year-from", "x"], "a year is an integer from 0"),
        (&["list", "--count", "--limit", "1"], "cannot be used with"),
    ] {
        sandbox.is_usage_error(arguments, message);
    }
}

#[test]
fn filter_without_matches_has_a_hint() {
    let sandbox = sandbox();
    let stderr = sandbox.stderr("list --year-from 3000", 0);
    assert!(
        stderr.contains("No robot is of these types and years"),
        "{stderr}"
    );
    sandbox.reports(
        "search HAL --type droid",
        0,
        &["and is of these types and years"],
    );
}
