//! Tests of the confirmation of `delete`. `update` has the same.

use crate::sandbox::Sandbox;

#[test]
fn delete_of_several_without_terminal_needs_yes() {
    let sandbox = Sandbox::with_three_robots();
    for arguments in ["delete 1 2", "delete 1 9 3", "delete 2 3 2 --format=json"] {
        let message = "error: deleting 2 robots needs confirmation, and there is no terminal; nothing was \
                       changed. Add --yes to confirm\n";
        sandbox.is_usage_error(arguments, message);
    }
    sandbox.prints("delete --yes 1 2", "Deleted robot 1.\nDeleted robot 2.\n");
    sandbox.has("3,HAL 9000,virtual,0\n");
}

#[test]
fn delete_of_one_robot_needs_no_confirmation() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints("delete 1", "Deleted robot 1.\n");
    sandbox.prints("delete 2 -y", "Deleted robot 2.\n");
    sandbox.prints("delete 3 03", "Deleted robot 3.\n");
}

#[cfg(target_os = "linux")]
mod on_a_terminal {
    use super::Sandbox;
    use crate::{sandbox::contains, terminal::Terminal};
    use robot_core::Draft;

    const TWO: &str = "\
ID  NAME    TYPE        YEAR
 1  R2-D2   droid       1977
 2  Bender  mechanical  2996
Delete these 2 robots? [y/N] ";

    fn delete(sandbox: &Sandbox, arguments: &str, typed: &str) -> (String, Option<i32>) {
        Terminal::new(sandbox).run(&format!("delete --color=never {arguments}"), typed)
    }

    #[test]
    fn yes_deletes_the_robots_that_were_shown() {
        for answer in ["y\n", "YES\n", " y \n"] {
            let sandbox = Sandbox::with_three_robots();
            let shown = format!("{TWO}Deleted robot 1.\nDeleted robot 2.\n");
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
        sandbox.has("2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n");
    }

    #[test]
    fn confirmation_omits_missing_ids() {
        let sandbox = Sandbox::with_three_robots();
        let (shown, status) = delete(&sandbox, "1 9 1 2", "y\n");
        assert_eq!(
            shown,
            format!(
                "{TWO}Deleted robot 1.\nDeleted robot 2.\n\
                 error: No robot has the id 9\n\
                 List the robots with: robot-cli list\n"
            )
        );
        assert_eq!(status, Some(1));
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
        assert!(!shown.contains("RX-21"), "{shown}");
        assert_eq!(status, Some(0));
        sandbox.prints("list --format=ndjson", "");
    }

    #[test]
    fn option_yes_and_single_id_skip_confirmation() {
        let sandbox = Sandbox::with_three_robots();
        for (arguments, shown) in [
            ("1", "Deleted robot 1.\n"),
            ("2 3 --yes", "Deleted robot 2.\nDeleted robot 3.\n"),
        ] {
            let found = delete(&sandbox, arguments, "");
            assert_eq!(found, (shown.to_owned(), Some(0)));
        }
    }

    #[test]
    fn confirmation_is_not_in_redirected_output() {
        let sandbox = Sandbox::with_three_robots();
        let (shown, _) = delete(&sandbox, "1 2 > deleted.txt", "y\n");
        assert_eq!(shown, TWO);
        let deleted = "Deleted robot 1.\nDeleted robot 2.\n";
        assert_eq!(sandbox.read("deleted.txt"), deleted);
    }
}
