//! Test of the commands of the systemd unit that backs up a catalogue every night.

use std::{fs, path::Path, process::Command};

use crate::sandbox::Sandbox;

const UNIT: &str = include_str!("../../../robot-rocket/deploy/robot-backup.service");

const SERVER_UNIT: &str = include_str!("../../../robot-rocket/deploy/robot-rocket.service");

/// The folder of the backups in the unit.
const BACKUPS: &str = "/var/lib/robot-backups";

/// The setting in the unit, for a sandbox.
const DATABASE: (&str, &str) = ("DATABASE_URL", "sqlite://robots.db");

/// Creates the folder of the backups, with files of an age.
fn create_backups(sandbox: &Sandbox, files: &[(&str, &str)]) {
    fs::create_dir(sandbox.path("backups")).unwrap();
    for (name, age) in files {
        let mut touch = Command::new("touch");
        touch.args(["-d", age, name]);
        let status = touch.current_dir(sandbox.path("backups")).status();
        assert!(status.unwrap().success());
    }
}

/// Executes the commands of the unit, with the folder `backups` of a sandbox and these settings, until
/// one fails. Returns its number.
fn execute(sandbox: &Sandbox, settings: &[(&str, &str)]) -> Option<usize> {
    let program = Path::new(env!("CARGO_BIN_EXE_robot-cli"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let folder = sandbox.path("backups");
    let unit = UNIT
        .replace("\\\n", "")
        .replace("%%", "%")
        .replace("$$", "$");
    let unit = unit.replace(BACKUPS, folder.to_str().unwrap());
    let lines = unit.lines();
    let commands: Vec<_> = lines
        .filter_map(|line| line.strip_prefix("ExecStart="))
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    commands.iter().position(|command| {
        // systemd expands %% and $$ itself, and passes patterns unchanged, as the option -f does.
        let mut shell = Command::new("sh");
        shell.args(["-efc", command]).current_dir(sandbox.path("."));
        let shell = shell.env("PATH", &path).envs(settings.iter().copied());
        !shell.status().unwrap().success()
    })
}

#[test]
fn unit_makes_a_backup_and_deletes_old_ones() {
    let sandbox = Sandbox::with_three_robots();
    let files = [
        ("robots-2020-01-01.db", "15 days ago"),
        ("robots-2020-01-02.db", "1 day ago"),
        ("other.db", "15 days ago"),
    ];
    create_backups(&sandbox, &files);
    // The second one replaces that of the same day.
    for _ in 0..2 {
        assert_eq!(execute(&sandbox, &[DATABASE]), None);
        let names = sandbox.names("backups");
        assert_eq!(names[..2], ["other.db", "robots-2020-01-02.db"]);
        assert_eq!(names.len(), 3);
        // A list may leave an empty log beside the file, over which nothing is backed up.
        let backup = sandbox.path("backups").join(&names[2]);
        fs::copy(backup, sandbox.path("copy.db")).unwrap();
        let listed = sandbox.stdout("list --format=ndjson --database=sqlite://copy.db");
        sandbox.prints("list --format=ndjson", &listed);
    }
}

#[test]
fn damaged_catalogue_deletes_no_backup() {
    let sandbox = Sandbox::new();
    sandbox.write("robots.db", "not a database");
    create_backups(&sandbox, &[("robots-2020-01-01.db", "15 days ago")]);
    assert_eq!(execute(&sandbox, &[DATABASE]), Some(0));
    assert_eq!(sandbox.names("backups"), ["robots-2020-01-01.db"]);
}

#[test]
fn unit_backs_up_the_store_of_the_server() {
    let environment = |unit: &'static str| -> Vec<_> {
        let lines = unit.lines();
        lines
            .filter(|line| line.starts_with("Environment"))
            .collect()
    };
    assert_eq!(environment(UNIT), environment(SERVER_UNIT));

    let sandbox = Sandbox::with_three_robots();
    create_backups(&sandbox, &[]);
    let server = ("DATABASE_URL", "postgres://127.0.0.1:1/robots");
    assert_eq!(execute(&sandbox, &[server]), Some(0));
    // It takes precedence, as for the server.
    let other = ("ROCKET_DATABASE_URL", "sqlite://robots.db");
    assert_eq!(execute(&sandbox, &[server, other]), None);
    assert_eq!(sandbox.names("backups").len(), 1);
}
