//! A terminal to run the program on: `script`, which every Debian has.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use crate::sandbox::Sandbox;

/// A terminal of so many columns.
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

    /// Runs the program with arguments for a shell, and types something meanwhile: what the
    /// terminal shows, and the exit status.
    pub(crate) fn run(&self, arguments: &str, typed: &str) -> (String, Option<i32>) {
        let program = self.sandbox.command([""; 0]);
        // A shell may set some of the variables itself, so that they are set behind it.
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
        // The same environment as that of the program without a terminal.
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
