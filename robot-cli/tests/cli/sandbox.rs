//! Temporary directory for a test, and runs of the program in it.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use robot_core::{Catalogue, Draft, transfer};
use tempfile::TempDir;

/// The rows of the three robots, in CSV.
pub(crate) const ROWS: &str =
    "2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n";

/// Standard output, standard error and the exit status of a process.
pub(crate) type Outcome = (String, String, Option<i32>);

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
        robot_core::open(&format!("sqlite://{}", self.path(file).display())).unwrap()
    }

    /// Creates a file in the directory.
    pub(crate) fn write(&self, file: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(file), content).unwrap();
    }

    /// The content of a file in the directory.
    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// The names and contents of all files.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let read = |name: &String| fs::read(self.path(name)).unwrap_or_default();
        let names = self.names(".").into_iter();
        names.map(|name| (name.clone(), read(&name))).collect()
    }

    /// The names of all files in a folder, in order.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    /// The names of all files except those of the catalogue.
    pub(crate) fn other_names(&self) -> Vec<String> {
        let mut names = self.names(".");
        names.retain(|name| !name.starts_with("robots.db"));
        names
    }

    /// The path of a file in the directory.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file)
    }

    /// Runs SQL as another program does.
    pub(crate) fn execute(&self, file: &str, sql: &str) {
        let mut command = Command::new("sqlite3");
        command.args(["-bail", file, sql]);
        assert!(
            command
                .current_dir(&self.directory)
                .status()
                .unwrap()
                .success()
        );
    }

    /// The program with these arguments in the directory, without the tester's settings.
    pub(crate) fn command(&self, arguments: impl Arguments) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_robot-cli"));
        command.args(arguments.words()).current_dir(&self.directory);
        for variable in "DATABASE_URL CI CLICOLOR CLICOLOR_FORCE COLUMNS NO_COLOR".split(' ') {
            command.env_remove(variable);
        }
        command.env("USER", "anna");
        command
    }

    /// Starts the program. Its standard streams are pipes.
    pub(crate) fn start(&self, arguments: impl Arguments) -> Child {
        start(&mut self.command(arguments))
    }

    pub(crate) fn run(&self, arguments: impl Arguments) -> Outcome {
        wait(self.start(arguments))
    }

    /// Runs the program with a value of `DATABASE_URL`.
    pub(crate) fn run_with_url(&self, arguments: impl Arguments, url: &str) -> Outcome {
        wait(start(self.command(arguments).env("DATABASE_URL", url)))
    }

    /// Runs commands, one a line: the arguments, an arrow, the exit status, standard output and, after `! `, standard
    /// error. Line breaks are written as `\n`, and the last one is left out. `*` stands for any text.
    #[track_caller]
    pub(crate) fn examples(&self, lines: impl AsRef<str>) {
        for line in lines
            .as_ref()
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            let line = line.replace("\\n", "\n");
            let (arguments, expected) = line.split_once(" -> ").unwrap();
            let (status, printed) = expected.split_once(' ').unwrap_or((expected, ""));
            let (stdout, stderr) = printed.split_once("! ").unwrap_or((printed, ""));
            let outcome = self.run(arguments);
            let is_as_expected = outcome.2 == status.parse().ok()
                && is_like(&outcome.0, stdout.trim_end())
                && is_like(&outcome.1, stderr);
            assert!(is_as_expected, "{arguments}: {outcome:?}");
        }
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

    /// The number of robots of a catalogue.
    #[track_caller]
    pub(crate) fn count(&self, file: &str) -> usize {
        let list = self.stdout(&format!("list --count --database=sqlite://{file}"));
        list.trim_end().parse().unwrap()
    }

    /// Asserts status 1, an empty standard output and this standard error.
    #[track_caller]
    pub(crate) fn fails(&self, arguments: impl Arguments, expected: &str) {
        self.ends(arguments, 1, "", expected);
    }

    /// Asserts the status, standard output and standard error.
    #[track_caller]
    pub(crate) fn ends(&self, arguments: impl Arguments, status: i32, stdout: &str, stderr: &str) {
        let expected = (stdout.to_owned(), stderr.to_owned(), Some(status));
        assert_eq!(self.run(arguments), expected);
    }

    /// Asserts the status, an empty standard output and parts of standard error, which it returns.
    #[track_caller]
    pub(crate) fn reports(&self, arguments: impl Arguments, status: i32, parts: &[&str]) -> String {
        let (stdout, stderr, found) = self.run(arguments);
        assert_eq!((stdout.as_str(), found), ("", Some(status)), "{stderr}");
        contains(&stderr, parts);
        stderr
    }

    /// Asserts status 0 and an empty standard error, and returns standard output.
    #[track_caller]
    pub(crate) fn stdout(&self, arguments: impl Arguments) -> String {
        let (stdout, stderr, status) = self.run(arguments);
        assert_eq!((stderr.as_str(), status), ("", Some(0)), "{stdout}");
        stdout
    }
}

/// Starts a process whose standard streams are pipes.
pub(crate) fn start(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::piped());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// As [`wait_with_undo`], without the commands that undo a change, whose cursors are random.
pub(crate) fn wait(child: Child) -> Outcome {
    let (stdout, stderr, status) = wait_with_undo(child);
    (stdout, without_undo(&stderr), status)
}

/// A text without the commands that undo a change.
pub(crate) fn without_undo(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    // On a terminal, such a line may begin after a question.
    let rest = lines.map(|line| line.split_once(UNDO).map_or(line, |(before, _)| before));
    rest.collect()
}

/// The beginning of a line with a command that undoes a change.
pub(crate) const UNDO: &str = "To undo this: robot-cli ";

/// Waits for the end of a process, whose standard input ends here.
pub(crate) fn wait_with_undo(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (stdout, stderr, output.status.code())
}

/// Runs a process with this standard input.
pub(crate) fn run_with_input(command: &mut Command, input: &str) -> Outcome {
    let mut child = start(command);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    wait(child)
}

/// Waits until a condition is met.
#[track_caller]
pub(crate) fn wait_until(condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < deadline, "waited for 60 s");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Asserts that a text has these parts.
#[track_caller]
pub(crate) fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

/// Whether a pattern without the last line break describes a text.
fn is_like(text: &str, pattern: &str) -> bool {
    let lines = text.strip_suffix('\n').or(text.is_empty().then_some(text));
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = lines.and_then(|lines| lines.strip_prefix(first)) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    parts.all(|part| {
        rest.split_once(part)
            .map(|(_, after)| rest = after)
            .is_some()
    }) && rest.ends_with(last)
}

/// Arguments of the program: words, or a line that is divided at its blanks.
pub(crate) trait Arguments {
    fn words(self) -> Vec<String>;
}

impl<T: AsRef<str> + ?Sized> Arguments for &T {
    fn words(self) -> Vec<String> {
        self.as_ref().split(' ').map(str::to_owned).collect()
    }
}

impl<const COUNT: usize> Arguments for [&str; COUNT] {
    fn words(self) -> Vec<String> {
        self.map(str::to_owned).into()
    }
}
