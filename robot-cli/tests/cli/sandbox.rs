//! Temporary directory for a test, and runs of the program in it.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    path::Path,
    sync::Arc,
};

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

    /// The contents of all files.
    pub(crate) fn files(&self) -> BTreeMap<OsString, Vec<u8>> {
        let entries = fs::read_dir(self.path()).unwrap().map(Result::unwrap);
        entries
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
            .collect()
    }

    /// Runs SQL as another program does.
    pub(crate) fn execute(&self, file: &str, sql: &str) {
        let status = std::process::Command::new("sqlite3")
            .args(["-bail", file, sql])
            .current_dir(self.path())
            .status();
        assert!(status.unwrap().success());
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

    pub(crate) fn run(&self, arguments: impl Arguments) -> Assert {
        Command::from_std(self.command(arguments.words())).assert()
    }

    /// Asserts status 0, this standard output and an empty standard error.
    #[track_caller]
    pub(crate) fn prints(&self, arguments: impl Arguments, expected: &str) {
        self.ends(arguments, 0, expected, "");
    }

    /// Asserts the rows of the default catalogue, in CSV.
    #[track_caller]
    pub(crate) fn has(&self, rows: &str) {
        self.prints("list --format=csv", &format!("id,name,type,year\n{rows}"));
    }

    /// Asserts status 1, an empty standard output and this standard error.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: impl Arguments, expected: &str) {
        self.ends(arguments, 1, "", expected);
    }

    /// Asserts the status, standard output and standard error.
    #[track_caller]
    pub(crate) fn ends(&self, arguments: impl Arguments, status: i32, stdout: &str, stderr: &str) {
        let outcome = self.run(arguments).code(status);
        let _ = outcome.stdout(stdout.to_owned()).stderr(stderr.to_owned());
    }

    /// Asserts status 2, an empty standard output and a part of standard error.
    #[track_caller]
    pub(crate) fn is_usage_error(&self, arguments: impl Arguments, expected: &str) {
        self.reports(arguments, 2, &[expected]);
    }

    /// Asserts the status, an empty standard output and parts of standard error, which it returns.
    #[track_caller]
    pub(crate) fn reports(&self, arguments: impl Arguments, status: i32, parts: &[&str]) -> String {
        let stderr = self.stderr(arguments, status);
        contains(&stderr, parts);
        stderr
    }

    /// Asserts the status and an empty standard output, and returns standard error.
    #[track_caller]
    pub(crate) fn stderr(&self, arguments: impl Arguments, status: i32) -> String {
        let assert = self.run(arguments).code(status).stdout("");
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    }

    /// Asserts status 0 and an empty standard error, and returns standard output.
    #[track_caller]
    pub(crate) fn stdout(&self, arguments: impl Arguments) -> String {
        let assert = self.run(arguments).success().stderr("");
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    }
}

/// Asserts that a text has these parts.
#[track_caller]
pub(crate) fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// Arguments of the program: words, or a line that is divided at its blanks.
pub(crate) trait Arguments {
    fn words(self) -> Vec<String>;
}

impl Arguments for &str {
    fn words(self) -> Vec<String> {
        self.split(' ').map(str::to_owned).collect()
    }
}

impl Arguments for &String {
    fn words(self) -> Vec<String> {
        self.as_str().words()
    }
}

impl<S: AsRef<str>> Arguments for &[S] {
    fn words(self) -> Vec<String> {
        self.iter().map(|word| word.as_ref().to_owned()).collect()
    }
}

impl<S: AsRef<str>> Arguments for &Vec<S> {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}

impl<S: AsRef<str>, const COUNT: usize> Arguments for &[S; COUNT] {
    fn words(self) -> Vec<String> {
        self.as_slice().words()
    }
}
