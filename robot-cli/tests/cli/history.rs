//! Tests of `changes`, `history` and `revert`, and of the commands that undo other commands.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    process::Command,
};

use robot_core::Draft;
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    sandbox::{Arguments, ROWS, Sandbox, UNDO, contains, start, wait, wait_until, wait_with_undo},
    terminal::run_on_terminal,
};

/// Runs a command that succeeds, and returns standard output and the commands that undo it.
#[track_caller]
fn run(sandbox: &Sandbox, arguments: impl Arguments) -> (String, Vec<String>) {
    let (stdout, stderr, status) = wait_with_undo(sandbox.start(arguments));
    assert_eq!(status, Some(0), "{stderr}");
    let lines = stderr.lines();
    let undo = lines.filter_map(|line| line.strip_prefix(UNDO));
    (stdout, undo.map(str::to_owned).collect())
}

/// Runs the commands that undo another one, and returns those that undo them.
#[track_caller]
fn undo(sandbox: &Sandbox, commands: &[String]) -> Vec<String> {
    let undone = commands.iter().flat_map(|command| {
        let yes = if command.starts_with("revert --after") {
            " --yes"
        } else {
            ""
        };
        run(sandbox, &format!("{command}{yes}")).1
    });
    let mut undone: Vec<_> = undone.collect();
    undone.reverse();
    undone
}

/// The cursor of now.
fn now(sandbox: &Sandbox) -> String {
    let (_, stderr, _) = sandbox.run("changes");
    let (_, cursor) = stderr.rsplit_once(" --after ").unwrap();
    cursor.trim_end().to_owned()
}

#[test]
fn history_has_authors_and_values() {
    let sandbox = Sandbox::new();
    sandbox.stdout("fields add maker --type string");
    sandbox.stdout("add R2-D2 --type droid --year 1977 --set maker=ACME");
    let mut update = sandbox.command("update 1 --year 1980 --unset maker");
    assert_eq!(wait(start(update.env("USER", "Bob"))).2, Some(0));
    sandbox.execute("robots.db", "UPDATE robots SET name = 'R2' WHERE id = 1");
    sandbox.stdout("delete 1");
    sandbox.examples(
        r#"
        history 1 -> 0 REVISION  WHEN                      WHO   WHAT\n       4  *Z  anna  deleted\n       3  *Z        name: R2-D2 → R2\n       2  *Z  Bob   year: 1977 → 1980, maker: ACME → none\n       1  *Z  anna  added: name=R2-D2, type=droid, year=1977, maker=ACME
        history 1 --format csv -> 2 ! error: changes are no rows of CSV; use --format ndjson or table*
        history 1 --format ndjson -> 0 {"revision":4,"action":"deleted","at":"*Z","by":"anna","id":"1","robot":null}\n{"revision":3,"action":"changed","at":"*Z","by":null,"id":"1","robot":{"id":"1","name":"R2","type":"droid","year":1980,"revision":3}}\n*
        history 1 --format json -> 0 {"revision":4,*}\n{"revision":3,*}\n{*}\n{*"by":"anna","id":"1","robot":{*"maker":"ACME","revision":1}}
        history 2 -> 1 ! error: No robot has the id 2\nList the robots with: robot-cli list
        history 0 -> 1 ! error: No robot has the id 0\n*
        history x -> 2 ! *an id consists of the digits 0 to 9*"#,
    );
}

#[test]
fn author_is_the_user_of_the_process_without_variables() {
    let sandbox = Sandbox::new();
    let users = [("", "carl", "carl"), ("", "", ""), ("dora", "carl", "dora")];
    for (id, (user, logname, expected)) in (1..).zip(users) {
        let mut add = sandbox.command(&*format!("add n{id} --type=droid --year=1"));
        add.env("USER", user).env("LOGNAME", logname);
        assert_eq!(wait(start(&mut add)).2, Some(0));
        let history = sandbox.stdout(&format!("history {id} --format ndjson"));
        let mut id = Command::new("id");
        let (user, ..) = wait(start(id.arg("-un")));
        let expected = if expected.is_empty() {
            user.trim_end()
        } else {
            expected
        };
        contains(&history, &[&format!(r#""by":"{expected}""#)]);
    }
}

#[test]
fn state_file_prints_each_change_once() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r#"
        changes --state seen -> 0 ! The next run prints what has changed since now.
        changes --state seen -> 0
        update 1 --year 1 -> 0 *
        update 1 --year 2 -> 0 *
        delete 3 -> 0 *
        changes --state seen -> 0 {"revision":5,"action":"changed","at":"*Z","by":"anna","id":"1","robot":{"id":"1","name":"R2-D2","type":"droid","year":2,"revision":5}}\n{"revision":6,"action":"deleted",*"robot":null}
        changes --state seen --format json -> 0
        update 2 --year 3 -> 0 *
        changes --state missing/seen -> 1 ! error: cannot keep the cursor in 'missing/seen': *; choose another file *
        changes --state robots.db -> 1 ! error: cannot keep the cursor in 'robots.db': it belongs to the catalogue itself; choose another file *
        changes --state seen --type droid -> 0 {"revision":7,"action":"excluded",*"id":"2","robot":null}
        changes --state seen --after a-1 -> 2 ! *cannot be used with*"#,
    );
    assert_eq!(sandbox.other_names(), ["seen"]);
}

#[test]
fn state_file_is_kept_if_the_output_fails() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.run("changes --state seen");
    sandbox.stdout("delete 1");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut changes = sandbox.command("changes --state seen");
    let output = changes.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    sandbox.examples("changes --state seen -> 0 {\"revision\":4,*");
    assert_eq!(sandbox.other_names(), ["seen"]);
}

#[test]
fn cursor_of_another_catalogue_is_rejected() {
    let sandbox = Sandbox::with_three_robots();
    let other = now(&Sandbox::with_three_robots());
    sandbox.write("other", &other);
    sandbox.write("text", "text");
    sandbox.examples(
        r"
        changes --after OTHER -> 1 ! error: the cursor is of another catalogue, or changes after it are not kept any more; the cursor of now is printed by: robot-cli changes
        changes --state other -> 1 ! error: 'other' has a cursor of another catalogue, *; delete the file, run the command again, and then list all robots with: robot-cli list
        changes --state text -> 1 ! error: 'text' has no cursor; delete the file, *
        changes --after text -> 2 ! *invalid value 'text' for '--after <CURSOR>': give a cursor, which 'robot-cli changes' prints, a time, such as 2026-11-28 *
        revert --after text --until text -> 2 ! *invalid value 'text' for '--after <CURSOR>': a cursor is what 'robot-cli changes' prints*
        revert --after NOW --until OTHER -> 1 ! error: the cursor is of another catalogue, *
        revert --after OTHER --until OTHER -> 1 ! error: the cursor is of another catalogue, *
        changes --state missing --database sqlite://missing.db -> 1 ! error: there is no database *"
            .replace("OTHER", &other)
            .replace("NOW", &now(&sandbox)),
    );
    assert_eq!(sandbox.read("other"), other);
}

#[test]
fn table_has_names_of_deleted_robots() {
    let sandbox = Sandbox::with_three_robots();
    let start = now(&sandbox);
    sandbox.stdout("delete 3");
    sandbox.stdout("add BB-8 --type droid --year 2015");
    let changes = format!("changes --after {start}");
    let header = "REVISION  WHEN                      WHO   WHAT     ID  NAME\n";
    let (shown, status) = run_on_terminal(&sandbox, (80, "USER=anna"), &changes, "");
    assert_eq!(status, Some(0));
    contains(&shown, &[header, "Z  anna  deleted   3  HAL 9000\n"]);
    let header = header.trim_end();
    sandbox.examples(format!(
        r"
        {changes} --format table -> 0 {header}\n*Z  anna  deleted   3  HAL 9000\n*Z  anna  added     4  BB-8 ! Later changes are printed by: *
        {changes} --format csv -> 2 ! error: changes are no rows of CSV; *"
    ));
}

#[test]
fn changes_are_found_and_undone_without_a_cursor() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("update --where year_from=0 --year 9 --yes");
    sandbox.stdout("delete 2");
    sandbox.examples(
        r#"
        changes -> 0 ! The last changes are printed by: robot-cli changes --after last-20\nLater changes are printed by: *
        changes --after last-2 -> 0 {"revision":6,"action":"changed",*\n{"revision":7,"action":"deleted",*"robot":null} ! *
        changes --after 2000-01-01 --format table -> 0 *       5  *changed*\n*       7  *deleted* ! *
        changes --after 2999-01-01 -> 0 ! *
        revert --after 3 --until 7 --yes -> 0 Undid the changes of 3 robots: 1, 2, 3. ! *
        revert --after 3 --until 999 -> 1 ! error: the cursor is of another catalogue, *"#,
    );
    sandbox.has(ROWS);
}

#[test]
fn follower_prints_changes_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let sandbox = Sandbox::with_three_robots();
        let mut child = sandbox.start("changes --follow --state seen");
        wait_until(|| sandbox.path("seen").exists());
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        for revision in 4..7 {
            sandbox.stdout(&format!("update 1 --year {revision}"));
            line.clear();
            output.read_line(&mut line).unwrap();
            contains(
                &line,
                &[&format!("{{\"revision\":{revision},"), "\"id\":\"1\""],
            );
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        contains(&sandbox.read("seen"), &["-6\n"]);
        assert_eq!(sandbox.other_names(), ["seen"]);
    }
}

#[test]
fn printed_commands_undo_changes_and_themselves() {
    const IMPORT: &str = "name,type,year\nA,droid,1\nBender,virtual,5\n";
    for command in [
        "import a.csv --on-conflict replace",
        "import a.csv --on-conflict replace --atomic",
        "update --where year_from=0 --year 5 --yes",
        "delete 1 2 3 --yes",
        "delete --year-from 0 --yes --database sqlite://./robots.db",
    ] {
        let sandbox = Sandbox::with_three_robots();
        sandbox.write("a.csv", IMPORT);
        let list = || sandbox.stdout("list --sort id --format csv");
        let (_, commands) = run(&sandbox, command);
        let changed = list();
        assert_eq!(commands.len(), 1, "{command}");
        assert_eq!(
            commands[0].contains("--database"),
            command.contains("--database")
        );
        let again = undo(&sandbox, &commands);
        sandbox.has(ROWS);
        undo(&sandbox, &again);
        assert_eq!(list(), changed, "{command}");
    }
}

#[test]
fn import_of_many_robots_is_undone_in_steps() {
    let sandbox = Sandbox::with_three_robots();
    let lines = (0..20_000).map(|number| format!("RX-{number},droid,{number}\n"));
    sandbox.write(
        "a.csv",
        format!("name,type,year\n{}", lines.collect::<String>()),
    );
    let (_, commands) = run(&sandbox, "import a.csv");
    assert_eq!(commands.len(), 3, "{commands:?}");
    undo(&sandbox, &commands);
    sandbox.has(ROWS);
}

#[test]
fn result_for_programs_has_the_cursors() {
    let sandbox = Sandbox::with_three_robots();
    for command in [
        "update --where type=droid --where type=virtual --year 7",
        "delete 1 3",
    ] {
        let (result, commands) = run(&sandbox, &format!("{command} --yes --format json"));
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        assert!(commands.is_empty() && result["robots"] == 2, "{result}");
        let [after, until] =
            ["after", "until"].map(|name| result["changes"][0][name].as_str().unwrap());
        sandbox.examples(format!(
            r#"
            revert --after {after} --until {until} --dry-run --format json -> 0 {{"changes":[],"count":2,"ids":["1","3"],"left":[]}}
            revert --after {after} --until {until} -> 2 ! error: undoing the changes of 2 robots needs confirmation, *
            revert --after {after} --until {until} --by nobody -> 0 Undid the changes of 0 robots.
            revert --after {after} --until {until} --yes --format json -> 0 {{"changes":[{{"after":"*","until":"*"}}],"count":2,"ids":["1","3"],"left":[]}}"#
        ));
    }
    sandbox.has(ROWS);
}

#[test]
fn revert_asks_and_leaves_robots_of_others_alone() {
    let sandbox = Sandbox::with_three_robots();
    let start = now(&sandbox);
    sandbox.stdout("update --where year_from=0 --year 9 --yes");
    let end = now(&sandbox);
    sandbox.execute("robots.db", "UPDATE robots SET year = 10 WHERE id = 3");
    let revert = format!("revert --after {start} --until {end}");
    for (answer, status) in [("n\n", 1), ("y\n", 0)] {
        let (shown, found) = run_on_terminal(&sandbox, (80, ""), &revert, answer);
        contains(&shown, &["Ids: 1, 2\nUndo the changes of 2 robots? [y/N] "]);
        assert_eq!(found, Some(status), "{shown}");
    }
    sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,10\n1,R2-D2,droid,1977\n");
    sandbox.examples(format!("{revert} -> 0 Undid the changes of 0 robots.\\nLeft alone, because other changes have followed: 1, 2, 3."));
    let end = now(&sandbox);
    let others = ["revert", "--after", &start, "--until", &end, "--by", ""];
    let expected =
        "Undid the changes of 0 robots.\nLeft alone, because other changes have followed: 3.\n";
    sandbox.ends(others, 0, expected, "");
}

#[test]
fn old_versions_are_removed() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("update 1 --year 5");
    sandbox.examples(
        r"
        prune -> 0 ! Removed 0 past versions.
        prune --days 1 -> 0 ! Removed 0 past versions.
        prune --days 0 -> 0 ! Removed 1 past version.
        prune --days=-1 -> 2 ! *--days <DAYS>*
        prune --days 1.5 -> 2 ! *--days <DAYS>*
        history 1 -> 0 *year=5*",
    );
}

#[test]
fn robot_gets_the_values_of_a_version() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.stdout("update 1 --name R2");
    sandbox.stdout("add R2-D2 --type virtual --year 1");
    sandbox.examples(
        r"
        revert 1 --to 1 -> 1 ! The robot name must be unique
        delete 5 -> 1 ! *
        delete 4 -> 0 *
        revert 1 --to 1 --format csv -> 0 id,name,type,year\n1,R2-D2,droid,1977
        revert 1 --to 1 -> 0 * ! It has these values already.
        revert 1 --to 2 -> 1 ! error: robot 1 has no version 2; its versions are printed by: robot-cli history 1
        revert 9 --to 2 -> 1 ! error: No robot has the id 9\n*
        revert 1 -> 2 ! *--to <REVISION>*
        revert --to 1 -> 2 ! *<ID>*
        revert -> 2 ! *<ID>*
        revert 1 --to 1 --dry-run -> 2 ! *--after <CURSOR>*
        revert --after a-1 -> 2 ! *--until <CURSOR>*
        revert 1 --to 1 --after a-1 --until a-2 -> 2 ! *cannot be used with*",
    );
    sandbox.has(ROWS);
    sandbox.stdout("delete 1");
    let (_, commands) = run(&sandbox, "revert 1 --to 1");
    assert_eq!(commands, ["delete 1"]);
    let (_, commands) = run(&sandbox, "update 1 --year 5");
    assert!(commands.is_empty());
    let (_, commands) = run(&sandbox, "revert 1 --to 1");
    undo(&sandbox, &commands);
    sandbox.has(&ROWS.replace("1977", "5"));
}

#[test]
fn changes_that_cannot_be_undone_are_named() {
    let sandbox = Sandbox::with_three_robots();
    let (_, commands) = run(&sandbox, "delete 1 2 --yes");
    sandbox.add([Draft::new("R2-D2", "virtual", 1)]);
    sandbox.stdout("fields change year --minimum 2997");
    let stderr = sandbox.reports(&format!("{} --yes", commands[0]), 1, &["error: The changes cannot be undone: robot 1: ", "; robot 2: ", ". Nothing was changed: change these robots first, or undo changes of single robots with: robot-cli revert ID --to REVISION\n"]);
    assert_eq!(stderr.lines().count(), 1);
}
