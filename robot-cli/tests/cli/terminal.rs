//! Pseudo-terminal for tests, provided by the program `script`.

use std::process::Command;

use crate::sandbox::{Sandbox, run_with_input, without_undo};

/// Runs the program on a terminal of a width, with variables, shell arguments and keyboard input. Returns the text on
/// the terminal and the exit status.
pub(crate) fn run_on_terminal(
    sandbox: &Sandbox,
    (columns, variables): (u16, &str),
    arguments: &str,
    typed: &str,
) -> (String, Option<i32>) {
    let program = sandbox.command([]);
    // Set by `env` after the shell, which may overwrite some of them.
    let line = format!(
        "stty rows 24 cols {columns}; env TERM=xterm {variables} '{}' {arguments}",
        program.get_program().display()
    );
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--echo", "never", "--command"]);
    script
        .args([&line, "/dev/null"])
        .current_dir(sandbox.path("."));
    for (name, _) in program.get_envs() {
        script.env_remove(name);
    }
    let (shown, _, status) = run_with_input(&mut script, typed);
    (without_undo(&shown.replace("\r\n", "\n")), status)
}
