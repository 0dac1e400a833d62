//! Settings as the help and the operations documents state them.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::command;

const CONFIGURE: &str = include_str!("../../docs/operations/configure.md");

/// Settings of Rocket that are not documented.
const OF_ROCKET: &str = " CLI_COLORS IDENT IP_HEADER LIMITS LOG_LEVEL SECRET_KEY TEMP_DIR TRACES ";

/// Name and default of each setting in the table of configure.md.
fn documented() -> BTreeMap<&'static str, &'static str> {
    let (_, section) = CONFIGURE.split_once("\n## Settings\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.strip_suffix('`')?, cells.next()?))
    });
    rows.collect()
}

/// What the program prints for an option.
fn output(option: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path(), &[]);
    let output = command.env_remove("ROCKET_PORT").arg(option).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[test]
fn help_names_the_documented_settings_with_their_defaults() {
    let help = output("--help");
    let (_, section) = help.split_once("\nSettings:\n").unwrap();
    let (section, _) = section.split_once("\n\n").unwrap();
    // The help is wrapped: a line that begins with a name begins a setting.
    let words = section.split_whitespace();
    let is_name = |word: &&str| {
        ["ROCKET_", "RUST_", "DATABASE_"]
            .iter()
            .any(|it| word.starts_with(it))
    };
    let in_help: BTreeSet<_> = words
        .filter(is_name)
        .map(|word| word.trim_end_matches(','))
        .collect();
    assert_eq!(in_help, documented().into_keys().collect());
    let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
    for (name, default) in documented() {
        let Some(default) = default
            .strip_prefix('`')
            .and_then(|text| text.strip_suffix('`'))
        else {
            continue;
        };
        let (_, text) = section.split_once(&format!("{name} ")).unwrap();
        let text = text.split(" ROCKET_").next().unwrap();
        let statements = [
            format!("{default} (default"),
            format!("(default: {default}"),
        ];
        let is_stated = statements.iter().any(|statement| text.contains(statement));
        assert!(is_stated, "{name} in the help: {text}");
    }
}

#[test]
fn documented_settings_and_defaults_are_those_of_the_program() {
    let table = output("--check");
    let rows = table.lines().skip(1).take_while(|line| !line.is_empty());
    let mut documented = documented();
    for row in rows {
        let (name, rest) = row.split_once(' ').unwrap();
        let value = rest.trim().strip_suffix("default").unwrap().trim();
        let name = name.to_uppercase();
        let default = ["", "ROCKET_"]
            .iter()
            .find_map(|prefix| documented.remove(&*format!("{prefix}{name}")));
        let is_other = OF_ROCKET.contains(&format!(" {name} "));
        assert!(default.is_some() != is_other, "{name}");
        if let Some(literal) = default.and_then(|text| text.strip_prefix('`')?.strip_suffix('`')) {
            // The program shows more members of a table.
            let parts = literal.trim_matches(['{', '}']).split(',');
            for part in parts {
                assert!(
                    value.contains(part),
                    "{name} in configure.md: {literal}, not {value}"
                );
            }
        }
    }
    assert!(documented.is_empty(), "{documented:?}");
}
