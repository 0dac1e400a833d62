//! Scripts by which a shell completes what is typed: commands, options and their values.

use std::io::Write;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::aot;

use crate::{arguments::Arguments, failure::Failure};

/// Which shell is to complete.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that is to complete
    shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) const PLACES: &str = "\
Examples:
  robot-cli completions bash > ~/.local/share/bash-completion/completions/robot-cli
  robot-cli completions zsh > ~/.zfunc/_robot-cli
  robot-cli completions fish > ~/.config/fish/completions/robot-cli.fish

Shells that are started from then on complete, where the folder is there (mkdir -p). Bash needs \
the package bash-completion, and zsh has to be told of the folder: in ~/.zshrc, before compinit,
  fpath+=~/.zfunc

In a shell that runs already:
  source <(robot-cli completions bash)     Bash
  robot-cli completions fish | source      Fish";

/// Prints the script for a shell, and flushes.
pub(crate) fn run(completions: &Completions, output: &mut dyn Write) -> Result<(), Failure> {
    let shell = match completions.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    output
        .write_all(script(shell).as_bytes())
        .and_then(|()| output.flush())
        .map_err(Failure::Output)
}

fn script(shell: aot::Shell) -> String {
    // The library panics where it cannot write, which a vector leaves it no occasion for.
    let mut script = Vec::new();
    aot::generate(shell, &mut Arguments::command(), "robot-cli", &mut script);
    // In a program's name with a hyphen the script for bash spells its own labels in two ways, and
    // so completes nothing behind a command (clap's issue 6421). Where that is mended, nothing is
    // replaced.
    String::from_utf8_lossy(&script).replace("robot__subcmd__cli", "robot__cli")
}
