//! Settings as the help, the operations documents and the unit file state them.

use robot_core::{
    DEFAULT_URL, OpenOptions,
    http::{Behaviour, StreamLimits},
};
use robot_rocket::LogFormat;
use rocket::Config;

use crate::process::command;

const CONFIGURE: &str = include_str!("../../docs/operations/configure.md");
const INSTALL: &str = include_str!("../../docs/operations/install.md");
const KEYS: &str = include_str!("../../src/settings/keys.rs");
const UNIT: &str = include_str!("../../deploy/robot-rocket.service");

/// Name and default of each setting in the table of configure.md.
fn documented() -> Vec<(&'static str, &'static str)> {
    let (_, section) = CONFIGURE.split_once("\n## Settings\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.strip_suffix('`')?, cells.next()?))
    });
    rows.collect()
}

/// Name and description of each setting in the help.
fn help() -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path(), &[]).arg("--help").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, section) = text.split_once("\nSettings:\n").unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    let mut settings: Vec<(String, String)> = Vec::new();
    for line in section.lines() {
        match line.trim_start_matches("  ").split_once(' ') {
            Some((name, text)) if name == name.to_uppercase() => {
                settings.push((name.to_owned(), text.trim().to_owned()));
            }
            // The help is wrapped.
            _ => {
                let (_, text) = settings.last_mut().unwrap();
                *text = format!("{text} {}", line.trim());
            }
        }
    }
    settings
}

/// The default that the program uses.
fn default_of(setting: &str) -> String {
    let (config, limits) = (Config::default(), StreamLimits::default());
    match setting {
        "DATABASE_URL" => DEFAULT_URL.to_owned(),
        "ROCKET_ADDRESS" => config.address.to_string(),
        "ROCKET_PORT" => config.port.to_string(),
        "ROCKET_BEHAVIOUR" => Behaviour::default().to_string(),
        "ROCKET_DATABASE_TIMEOUT" => OpenOptions::new().get_timeout().as_secs().to_string(),
        "ROCKET_LOG_FORMAT" => format!("{:?}", LogFormat::default()).to_lowercase(),
        "ROCKET_SLOW_STATEMENT" => {
            let limit = OpenOptions::new().get_slow_statement();
            limit.as_millis().to_string()
        }
        "RUST_LOG" => "warn".to_owned(),
        "ROCKET_MAX_BLOCKING" => config.max_blocking.to_string(),
        "ROCKET_SHUTDOWN" => {
            let shutdown = config.shutdown;
            format!("{{grace={},mercy={}}}", shutdown.grace, shutdown.mercy)
        }
        "ROCKET_IMPORT_TIMEOUT" => limits.timeout.as_secs().to_string(),
        "ROCKET_IMPORT_MINIMUM_RATE" => limits.minimum_rate.to_string(),
        other => panic!("add the default of {other} to this function"),
    }
}

#[test]
fn help_and_operations_name_the_same_settings() {
    let mut in_help: Vec<_> = help().into_iter().map(|(name, _)| name).collect();
    let mut in_operations: Vec<_> = documented().into_iter().map(|(name, _)| name).collect();
    in_help.sort_unstable();
    in_operations.sort_unstable();
    assert_eq!(in_help, in_operations);
}

/// The settings that the program knows: those of the catalogue, and Rocket's.
fn known() -> [Vec<String>; 2] {
    let (_, keys) = KEYS.split_once("pub(super) const ALL").unwrap();
    let (keys, _) = keys.split_once("\n];").unwrap();
    let (of_catalogue, of_rocket) = keys.split_once("// Rocket's.").unwrap();
    let variable = |rest: &str| {
        let (name, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
        let variable = format!("ROCKET_{}", name.to_uppercase());
        Some(variable.replace("ROCKET_DATABASE_URL", "DATABASE_URL"))
    };
    [of_catalogue, of_rocket].map(|keys| keys.split('(').filter_map(variable).collect())
}

#[test]
fn settings_of_the_program_are_the_documented_ones() {
    let documented: Vec<_> = documented().into_iter().map(|(name, _)| name).collect();
    let [of_catalogue, of_rocket] = known();
    for name in &of_catalogue {
        assert!(documented.contains(&name.as_str()), "{name}");
    }
    for name in documented.into_iter().filter(|name| *name != "RUST_LOG") {
        let is_known = |known: &Vec<String>| known.iter().any(|known| known == name);
        assert!(is_known(&of_catalogue) || is_known(&of_rocket), "{name}");
    }
}

#[test]
fn documented_defaults_are_those_of_the_program() {
    let help = help();
    let literal = |default: &'static str| default.strip_prefix('`')?.strip_suffix('`');
    let documented = documented().into_iter();
    let literals = documented.filter_map(|(name, default)| Some((name, literal(default)?)));
    for (name, default) in literals {
        assert_eq!(default, default_of(name), "{name} in configure.md");
        let (_, text) = help.iter().find(|(known, _)| known == name).unwrap();
        let is_stated = [
            format!("{default} (default"),
            format!("(default: {default}"),
        ]
        .iter()
        .any(|statement| text.contains(statement));
        assert!(is_stated, "{name} in the help: {text}");
    }
}

#[test]
fn unit_file_agrees_with_the_instructions() {
    let values = |key: &str| -> Vec<&str> {
        let lines = UNIT.lines().filter_map(|line| line.strip_prefix(key));
        lines.filter_map(|rest| rest.strip_prefix('=')).collect()
    };
    for section in ["[Unit]", "[Service]", "[Install]"] {
        assert!(UNIT.lines().any(|line| line == section), "{section}");
    }
    // Found in /usr/bin and in /usr/local/bin.
    assert_eq!(values("ExecStart"), ["robot-rocket"]);
    assert_eq!(
        values("ExecReload"),
        [
            "/bin/sh -c 'exec robot-rocket --check >/dev/null'",
            "kill -HUP $MAINPID"
        ]
    );
    assert!(INSTALL.contains("robot-rocket robot-cli /usr/local/bin/"));
    for secrets in values("EnvironmentFile") {
        assert!(
            INSTALL.contains(secrets.trim_start_matches('-')),
            "{secrets}"
        );
    }
    let names: Vec<_> = documented().into_iter().map(|(name, _)| name).collect();
    for (name, _) in values("Environment")
        .iter()
        .filter_map(|pair| pair.split_once('='))
    {
        assert!(names.contains(&name), "{name}");
    }
    let [state] = values("StateDirectory")[..] else {
        panic!("the unit has one StateDirectory");
    };
    let file = format!("sqlite:///var/lib/{state}/robots.db");
    assert_eq!(values("Environment"), [format!("DATABASE_URL={file}")]);
    assert!(INSTALL.contains(&file));
}
