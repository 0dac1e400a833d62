//! Tests of `completions`.

use std::process::Command;

use crate::sandbox::{Outcome, Sandbox, run_with_input};

fn script(shell: &str) -> String {
    Sandbox::new().stdout(["completions", shell])
}

/// Runs a script from standard input.
fn run_by(shell: &str, options: &[&str], script: &str) -> Outcome {
    run_with_input(Command::new(shell).args(options), script)
}

#[test]
fn bash_completes_commands_options_and_values() {
    for (typed, completed) in [
        ("robot-cli l", "list\n"),
        ("robot-cli delete --ye", "--year-from\n--year-to\n--yes\n"),
        ("robot-cli list --format nd", "ndjson\n"),
        ("robot-cli completions f", "fish\n"),
    ] {
        // The call that Bash makes for the Tab key.
        let words: Vec<_> = typed.split(' ').collect();
        let last = words.len() - 1;
        let call = format!(
            "{}\nCOMP_WORDS=({typed}); COMP_CWORD={last}\n\
             _robot__cli robot-cli '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            script("bash"),
            words[last],
            words[last - 1],
        );
        let outcome = run_by("bash", &["--norc", "-euo", "pipefail"], &call);
        assert_eq!(outcome, (completed.to_owned(), String::new(), Some(0)));
    }
}

#[test]
fn installed_shells_parse_their_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let is_installed = Command::new(shell).arg("--version").output().is_ok();
        assert!(is_installed || shell != "bash");
        if is_installed {
            let (_, stderr, status) = run_by(shell, &["-n"], &script(shell));
            assert_eq!((stderr.as_str(), status), ("", Some(0)), "{shell}");
        }
    }
}
