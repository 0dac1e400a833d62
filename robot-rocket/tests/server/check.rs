//! `robot-rocket --check`.

use std::{fs, path::Path, process::Output};

use robot_core::http::{AccessToken, Permission};

use crate::process::{command, output_of_failure};

fn check(folder: &Path, settings: &[(&str, &str)]) -> Output {
    let output = command(folder, settings).arg("--check").output().unwrap();
    let robots = folder.join("robots.db");
    assert!(!robots.exists(), "the check created a database");
    output
}

/// The value and the origin of a setting.
fn row(table: &str, setting: &str) -> String {
    let mut lines = table.lines();
    let row = lines.find(|line| line.split_whitespace().next() == Some(setting));
    let row = row.unwrap_or_else(|| panic!("{setting} is not in {table}"));
    row.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
}

#[test]
fn check_prints_settings_with_their_origin() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\nbehaviour = \"B\"\nheader_timeout = 7\n[release]\nkeep_alive = 9\n";
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let settings = [
        ("ROCKET_PROFILE", "release"),
        ("ROCKET_HEADER_TIMEOUT", "8"),
    ];
    let output = check(folder.path(), &settings);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert_eq!(output.stderr, b"");
    for (setting, expected) in [
        ("setting", "value origin"),
        ("port", "0 ROCKET_PORT"),
        ("header_timeout", "8 ROCKET_HEADER_TIMEOUT"),
        ("write_timeout", "30 default"),
        ("address", "127.0.0.1 default"),
        ("database_url", "sqlite://robots.db default"),
        ("api_tokens", "none default"),
        ("allowed_hosts", "loopback names default"),
        ("RUST_LOG", "warn, and info for reloads default"),
        ("traces", "none default"),
    ] {
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
    let token = AccessToken::of("robots_writer", Permission::Write);
    let token = token.named("ci".parse().unwrap()).to_string();
    let hash = token.rsplit(':').next().unwrap();
    let output = check(
        folder.path(),
        &[
            (
                "DATABASE_URL",
                "postgres://robots:hunter2@db.example/robots",
            ),
            ("ROCKET_API_TOKENS", &token),
            ("ROCKET_SECRET_KEY", "hunter2"),
            ("RUST_LOG", "info"),
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "http://127.0.0.1:4318/hunter2",
            ),
        ],
    );
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert_eq!(
        row(&table, "api_tokens"),
        format!("write:ci:sha256:{}… ROCKET_API_TOKENS", &hash[..8])
    );
    assert_eq!(
        row(&table, "database_url"),
        "postgres://db.example/robots DATABASE_URL"
    );
    assert_eq!(row(&table, "secret_key"), "(not shown) ROCKET_SECRET_KEY");
    assert_eq!(row(&table, "RUST_LOG"), "info RUST_LOG");
    #[cfg(feature = "otlp")]
    assert_eq!(
        row(&table, "traces"),
        "http://127.0.0.1:4318 OTEL_EXPORTER_OTLP_ENDPOINT"
    );
    assert!(!table.contains("hunter2"), "{table}");
    assert!(!table.contains(&hash[..12]), "{table}");
}

#[test]
fn check_shows_the_variable_of_traces_that_cannot_be_exported() {
    let folder = tempfile::tempdir().unwrap();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://127.0.0.1:4317");
    let output = check(folder.path(), &[endpoint]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(row(&table, "traces"), format!("none {}", endpoint.0));
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("requests are not traced"), "{warning}");
    let output = check(folder.path(), &[endpoint, ("OTEL_SDK_DISABLED", "true")]);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(row(&table, "traces"), "none default");
}

#[test]
fn check_fails_as_a_start_does() {
    let folder = tempfile::tempdir().unwrap();
    for (setting, words) in [
        (("ROCKET_WORKERS", "0"), "ROCKET_WORKERS must be"),
        (("ROCKET_API_TOKEN", "x"), "did you mean ROCKET_API_TOKENS"),
        (("ROCKET_API_TOKENS", "x"), "robot-cli token new"),
        (("ROCKET_ADDRESS", "0.0.0.0"), "ROCKET_ALLOW_ANONYMOUS"),
        (("ROCKET_STATIC_DIR", "."), "the database is in the folder"),
    ] {
        let checked = output_of_failure(&check(folder.path(), &[setting]));
        assert!(checked.contains(words), "{checked}");
        let started = output_of_failure(&crate::process::fail(folder.path(), &[setting]));
        assert_eq!(checked, started);
    }
}

#[cfg(feature = "tls")]
#[test]
fn check_reads_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let setting = [("ROCKET_TLS", r#"{certs="chain.pem",key="key.pem"}"#)];
    let error = output_of_failure(&check(folder.path(), &setting));
    assert!(
        error.contains("'chain.pem' of tls.certs cannot be read"),
        "{error}"
    );
    crate::certificates::write_certificate(&path("chain.pem"), &path("key.pem"));
    let output = check(folder.path(), &setting);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert_eq!(
        row(&table, "tls"),
        "{certs=chain.pem,key=key.pem} ROCKET_TLS"
    );
}

#[test]
fn check_rejects_urls_that_no_store_opens() {
    let folder = tempfile::tempdir().unwrap();
    for url in ["", "/var/lib/robots.db", "sqlite3://robots.db"] {
        let output = check(folder.path(), &[("DATABASE_URL", url)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{url}: {error}");
        assert!(error.contains("sqlite://robots.db"), "{url}: {error}");
    }
}
