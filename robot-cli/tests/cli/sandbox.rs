//! A folder of its own for each test, and the program in it.

use std::{ffi::OsStr, path::Path};

use assert_cmd::{Command, assert::Assert};
use robot_core::{Catalogue, CatalogueExt, Draft};
use tempfile::TempDir;

/// What is said, once, below the ids that no robot has.
pub(crate) const ADVICE: &str = "See which robots there are with: robot-cli list\n";

/// A temporary folder, which is the working directory of each run. So the default catalogue
/// is a new one.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A sandbox whose catalogue has R2-D2 (id 1), Bender (2) and HAL 9000 (3).
    pub(crate) fn with_three_robots() -> Self {
        let sandbox = Self::new();
        sandbox.keep([
            Draft::new("R2-D2", "droid", 1977),
            Draft::new("Bender", "mechanical", 2996),
            Draft::new("HAL 9000", "virtual", 0),
        ]);
        sandbox
    }

    /// Adds robots to the default catalogue without the program.
    pub(crate) fn keep(&self, drafts: impl IntoIterator<Item = Draft>) {
        let url = format!("sqlite://{}", self.path().join("robots.db").display());
        let catalogue = robot_core::open(&url).unwrap();
        for draft in drafts {
            catalogue.add(draft).unwrap();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program with these arguments, in the folder, unmoved by the tester's environment.
    pub(crate) fn command(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
    ) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_robot-cli"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("DATABASE_URL")
            .env_remove("CI")
            .env_remove("CLICOLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("COLUMNS")
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Assert {
        Command::from_std(self.command(arguments)).assert()
    }

    /// The run succeeds, prints exactly this, and says nothing on standard error.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: &[&str], expected: &str) {
        let _ = self
            .run(arguments)
            .success()
            .stdout(expected.to_owned())
            .stderr("");
    }

    /// The run ends with status 1, prints nothing, and says exactly this on standard error.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str], expected: &str) {
        let _ = self
            .run(arguments)
            .code(1)
            .stdout("")
            .stderr(expected.to_owned());
    }

    /// The run ends with status 2, prints nothing, and says this, among other things, on
    /// standard error.
    #[track_caller]
    pub(crate) fn is_a_wrong_command_line(&self, arguments: &[&str], expected: &str) {
        let outcome = self.run(arguments).code(2).stdout("");
        let said = String::from_utf8_lossy(&outcome.get_output().stderr);
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}
