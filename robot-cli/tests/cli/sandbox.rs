//! Temporary directory for a test, and runs of the program in it.

use std::{ffi::OsStr, fs, path::Path, sync::Arc};

use assert_cmd::{Command, assert::Assert};
use robot_core::{Catalogue, Draft, transfer};
use tempfile::TempDir;

/// The hint after missing ids.
pub(crate) const HINT: &str = "List the robots with: robot-cli list\n";

/// A temporary working directory, so that the default catalogue is a new file.
pub(crate) struct Sandbox {
    directory: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// A sandbox whose catalogue has no robots.
    pub(crate) fn with_no_robots() -> Self {
        let sandbox = Self::new();
        sandbox.add([]);
        sandbox
    }

    /// A sandbox whose catalogue has R2-D2 (id 1), Bender (2) and HAL 9000 (3).
    pub(crate) fn with_three_robots() -> Self {
        let sandbox = Self::new();
        sandbox.add([
            Draft::new("R2-D2", "droid", 1977),
            Draft::new("Bender", "mechanical", 2996),
            Draft::new("HAL 9000", "virtual", 0),
        ]);
        sandbox
    }

    /// Adds robots to the default catalogue through the library.
    pub(crate) fn add(&self, drafts: impl IntoIterator<Item = Draft>) {
        let records = transfer::Record::numbered(drafts);
        let options = transfer::ImportOptions::default();
        for outcome in transfer::import(self.open("robots.db"), records, options) {
            outcome.result.unwrap();
        }
    }

    /// Opens a catalogue in the directory through the library.
    pub(crate) fn open(&self, file: &str) -> Arc<dyn Catalogue> {
        robot_core::open(&format!("sqlite://{}", self.path().join(file).display())).unwrap()
    }

    /// Creates a file in the directory.
    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(file), content).unwrap();
    }

    /// The content of a file in the directory.
    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.path().read_dir().unwrap().next().is_none()
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The program with these arguments in the directory, without the tester's settings.
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

    /// Asserts status 0, this standard output and an empty standard error.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: &[&str], expected: &str) {
        let _ = self
            .run(arguments)
            .success()
            .stdout(expected.to_owned())
            .stderr("");
    }

    /// Asserts status 1, an empty standard output and this standard error.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: &[&str], expected: &str) {
        let _ = self
            .run(arguments)
            .code(1)
            .stdout("")
            .stderr(expected.to_owned());
    }

    /// Asserts status 2, an empty standard output and a part of standard error.
    #[track_caller]
    pub(crate) fn is_usage_error(&self, arguments: &[&str], expected: &str) {
        let stderr = self.stderr(arguments, 2);
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }

    /// Asserts the status and an empty standard output, and returns standard error.
    #[track_caller]
    pub(crate) fn stderr(&self, arguments: &[&str], status: i32) -> String {
        let assert = self.run(arguments).code(status).stdout("");
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    }

    /// Asserts status 0 and an empty standard error, and returns standard output.
    #[track_caller]
    pub(crate) fn stdout(&self, arguments: &[&str]) -> String {
        let assert = self.run(arguments).success().stderr("");
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    }
}
