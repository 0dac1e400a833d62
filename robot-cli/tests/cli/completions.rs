//! Tests of `completions`.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use crate::sandbox::Sandbox;

fn script(shell: &str) -> String {
    Sandbox::new().stdout(&["completions", shell])
}

/// Runs a script from standard input.
fn run_by(shell: &[&str], script: &str) -> std::process::Output {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(script.as_bytes()).unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_options_and_values() {
    for (typed, completed) in [
        ("robot-cli l", "list"),
        ("robot-cli delete --ye", "--year-from\n--year-to\n--yes"),
        ("robot-cli list --format nd", "ndjson"),
        ("robot-cli completions f", "fish"),
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
        let output = run_by(&["bash", "--norc", "-euo", "pipefail"], &call);
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!((stdout.trim_end(), &*stderr), (completed, ""), "{typed}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn installed_shells_parse_their_scripts() {
    for shell in ["bash", "zsh", "fish"] {
        let is_installed = Command::new(shell).arg("--version").output().is_ok();
        assert!(is_installed || shell != "bash");
        if is_installed {
            let output = run_by(&[shell, "-n"], &script(shell));
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell}");
            assert!(output.status.success(), "{shell}");
        }
    }
}
