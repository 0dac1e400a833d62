//! Tests of the confirmation of `delete` on a terminal. `update` has the same.

use robot_core::Draft;

use crate::{
    sandbox::{ROWS, Sandbox, contains},
    terminal::run_on_terminal,
};

const TWO: &str = "\
ID  NAME    TYPE        YEAR
 1  R2-D2   droid       1977
 2  Bender  mechanical  2996
Delete these 2 robots? [y/N] ";

const DELETED: &str = "Deleted robot 1.\nDeleted robot 2.\n";

fn delete(sandbox: &Sandbox, arguments: &str, typed: &str) -> (String, Option<i32>) {
    let arguments = format!("delete --color=never {arguments}");
    run_on_terminal(sandbox, (80, ""), &arguments, typed)
}

#[test]
fn yes_deletes_the_robots_that_were_shown() {
    for answer in ["y\n", "YES\n", " y \n"] {
        let sandbox = Sandbox::with_three_robots();
        let shown = format!("{TWO}{DELETED}");
        assert_eq!(delete(&sandbox, "1 2", answer), (shown, Some(0)));
        sandbox.has("3,HAL 9000,virtual,0\n");
    }
}

#[test]
fn other_answers_delete_nothing() {
    let sandbox = Sandbox::with_three_robots();
    for answer in ["n\n", "\n", "yess\n", "delete\n", "\u{4}"] {
        let (shown, status) = delete(&sandbox, "1 2", answer);
        // The terminal may show what was typed.
        contains(&shown, &[TWO, "Nothing was changed.\n"]);
        assert_eq!(status, Some(1), "{answer:?}");
    }
    sandbox.has(ROWS);
}

#[test]
fn confirmation_omits_missing_ids() {
    let sandbox = Sandbox::with_three_robots();
    let shown = format!(
        "{TWO}{DELETED}error: No robot has the id 9\nList the robots with: robot-cli list\n"
    );
    assert_eq!(delete(&sandbox, "1 9 1 2", "y\n"), (shown, Some(1)));
    let (shown, _) = delete(&sandbox, "7 8", "");
    contains(&shown, &["error: No robot has the id 7\n"]);
}

#[test]
fn confirmation_shows_at_most_20_robots() {
    let sandbox = Sandbox::new();
    sandbox.add((1..=25).map(|n| Draft::new(format!("RX-{n}"), "virtual", n)));
    let (shown, status) = delete(&sandbox, "$(seq 25)", "y\n");
    let end = "\n20  RX-20  virtual    20\n… and 5 more\nDelete these 25 robots?";
    contains(&shown, &[end]);
    assert_eq!(status, Some(0));
    sandbox.has("");
}

#[test]
fn option_yes_and_single_id_skip_confirmation() {
    let sandbox = Sandbox::with_three_robots();
    let shown = "Deleted robot 3.\n".to_owned();
    assert_eq!(delete(&sandbox, "3", ""), (shown, Some(0)));
    let found = delete(&sandbox, "1 2 --yes", "");
    assert_eq!(found, (DELETED.to_owned(), Some(0)));
}

#[test]
fn confirmation_is_not_in_redirected_output() {
    let sandbox = Sandbox::with_three_robots();
    let (shown, _) = delete(&sandbox, "1 2 > deleted.txt", "y\n");
    assert_eq!(shown, TWO);
    assert_eq!(sandbox.read("deleted.txt"), DELETED);
}
