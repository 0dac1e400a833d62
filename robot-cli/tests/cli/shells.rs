//! Scripts by which shells complete what is typed.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::sandbox::Sandbox;

fn script(shell: &str) -> String {
    let outcome = Sandbox::new()
        .run(&["completions", shell])
        .success()
        .stderr("");
    String::from_utf8(outcome.get_output().stdout.clone()).unwrap()
}

/// What a shell makes of a script on its standard input.
fn run_by(shell: &[&str], script: &str) -> std::process::Output {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn each_shell_has_a_script_that_knows_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for command in [
            "add", "list", "search", "get", "update", "delete", "token", "manual",
        ] {
            assert!(script.contains(command), "{shell}: {command}");
        }
        for option in ["database", "format", "color", "yes"] {
            assert!(script.contains(option), "{shell}: {option}");
        }
    }
}

#[test]
fn a_shell_that_is_not_known_is_a_wrong_command_line() {
    let sandbox = Sandbox::new();
    sandbox.is_a_wrong_command_line(
        &["completions", "tcsh"],
        "[possible values: bash, zsh, fish]",
    );
    let _ = sandbox.run(&["completions", "bash"]).success();
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_options_and_values() {
    for (typed, completed) in [
        ("robot-cli l", "list"),
        ("robot-cli delete --y", "--yes"),
        ("robot-cli list --format nd", "ndjson"),
        ("robot-cli completions f", "fish"),
    ] {
        // What bash does when the user presses the tabulator key, but for the key.
        let words: Vec<_> = typed.split(' ').collect();
        let last = words.len() - 1;
        let question = format!(
            "{}\nCOMP_WORDS=({typed}); COMP_CWORD={last}\n\
             _robot__cli robot-cli '{}' '{}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            script("bash"),
            words[last],
            words[last - 1],
        );
        let output = run_by(&["bash", "--norc", "-euo", "pipefail"], &question);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{typed}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            format!("{completed}\n"),
            "{typed}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_shell_that_is_here_can_read_its_script() {
    for shell in ["bash", "zsh", "fish"] {
        let is_here = Command::new(shell).arg("--version").output().is_ok();
        assert!(is_here || shell != "bash");
        if is_here {
            let output = run_by(&[shell, "-n"], &script(shell));
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell}");
            assert!(output.status.success(), "{shell}");
        }
    }
}
