//! The option `--check`.

use std::{fs, path::Path, process::Output};

use crate::{
    process::{cases, command},
    token,
};

fn check(folder: &Path, settings: &[(&str, &str)]) -> Output {
    let output = command(folder, settings).arg("--check").output().unwrap();
    let robots = folder.join("robots.db");
    assert!(!robots.exists(), "the check created a database");
    output
}

/// The table of settings that are right.
fn table(folder: &Path, settings: &[(&str, &str)]) -> String {
    let output = check(folder, settings);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The value and the origin of a setting.
fn row(table: &str, setting: &str) -> String {
    let mut rows = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.first() == Some(&setting));
    row.unwrap_or_else(|| panic!("{setting} is not in {table}"))[1..].join(" ")
}

/// Settings, their values and origins.
const ROWS: &str = "
setting -> value origin
port -> 0 ROCKET_PORT
header_timeout -> 8 ROCKET_HEADER_TIMEOUT
write_timeout -> 30 default
address -> 127.0.0.1 default
database_url -> sqlite://robots.db default
api_tokens -> none default
allowed_hosts -> loopback names default
RUST_LOG -> warn, and info for reloads default
traces -> none default
";

#[test]
fn check_prints_settings_with_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\nbehaviour = \"B\"\nheader_timeout = 7\n[release]\nkeep_alive = 9\n";
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let profile = ("ROCKET_PROFILE", "release");
    let table = table(folder.path(), &[profile, ("ROCKET_HEADER_TIMEOUT", "8")]);
    for (setting, expected) in cases(ROWS) {
        assert_eq!(row(&table, setting), expected, "{setting}");
    }
    for (setting, value, end) in [
        ("behaviour", "B ", "Rocket.toml [default]"),
        ("keep_alive", "9 ", "Rocket.toml [release]"),
    ] {
        let row = row(&table, setting);
        assert!(row.starts_with(value) && row.ends_with(end), "{row}");
    }
    assert!(table.contains("The database was not opened"), "{table}");
}

#[test]
fn check_shows_no_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let token = token("ci");
    let hash = token.rsplit(':').next().unwrap();
    let settings = [
        (
            "DATABASE_URL",
            "postgres://robots:hunter2@db.example/robots",
        ),
        ("ROCKET_API_TOKENS", &token),
        ("ROCKET_SECRET_KEY", "hunter2"),
        (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "http://127.0.0.1:4318/hunter2",
        ),
    ];
    let table = table(folder.path(), &settings);
    let start = format!("write:ci:sha256:{}… ROCKET_API_TOKENS", &hash[..8]);
    for (setting, expected) in [
        ("api_tokens", &*start),
        ("database_url", "postgres://db.example/robots DATABASE_URL"),
        ("secret_key", "(not shown) ROCKET_SECRET_KEY"),
        ("traces", "requested OTEL_EXPORTER_OTLP_ENDPOINT"),
    ] {
        assert_eq!(row(&table, setting), expected);
    }
    assert!(
        !table.contains("hunter2") && !table.contains(&hash[..12]),
        "{table}"
    );
}

#[test]
fn check_shows_the_files_of_certificates() {
    use crate::{TLS, certificates::certify};
    let folder = tempfile::tempdir().unwrap();
    certify(folder.path());
    let table = table(folder.path(), &[TLS]);
    assert_eq!(
        row(&table, "tls"),
        "{certs=chain.pem,key=key.pem} ROCKET_TLS"
    );
}
