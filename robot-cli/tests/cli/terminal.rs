//! Pseudo-terminal for tests, provided by the program `script`.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use crate::sandbox::Sandbox;

/// A terminal of a given width.
pub(crate) struct Terminal<'a> {
    sandbox: &'a Sandbox,
    columns: u16,
    variables: Vec<(&'static str, &'static str)>,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox) -> Self {
        Self {
            sandbox,
            columns: 80,
            variables: vec![("TERM", "xterm")],
        }
    }

    pub(crate) fn columns(self, columns: u16) -> Self {
        Self { columns, ..self }
    }

    pub(crate) fn variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    /// Runs the program with shell arguments and keyboard input, and returns the text on the
    /// terminal and the exit status.
    pub(crate) fn run(&self, arguments: &str, typed: &str) -> (String, Option<i32>) {
        let program = self.sandbox.command([""; 0]);
        // Set by `env` after the shell, which may overwrite some of them.
        let variables: Vec<_> = self
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let line = format!(
            "stty rows 24 cols {}; env {} '{}' {arguments}",
            self.columns,
            variables.join(" "),
            program.get_program().display()
        );
        // The environment of `Sandbox::command`.
        let mut script = std::process::Command::new("script");
        script.args([
            "--quiet",
            "--return",
            "--echo",
            "never",
            "--command",
            &line,
            "/dev/null",
        ]);
        script.current_dir(self.sandbox.path());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        let output = type_into(script, typed);
        let shown = String::from_utf8(output.stdout).unwrap();
        (shown.replace("\r\n", "\n"), output.status.code())
    }
}

fn type_into(mut script: std::process::Command, typed: &str) -> Output {
    let mut child = script
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    keyboard.write_all(typed.as_bytes()).unwrap();
    drop(keyboard);
    child.wait_with_output().unwrap()
}
