//! Names that are not settings, and several problems at once.

use std::fs;

use crate::{
    Server,
    process::{fail, output_of_failure},
};

#[test]
fn misspelt_variable_is_an_error_with_a_suggestion() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, suggestion) in [
        ("ROCKET_API_TOKEN", "write:sha256:00", "ROCKET_API_TOKENS"),
        ("ROCKET_BEHAVIOR", "B", "ROCKET_BEHAVIOUR"),
        ("ROCKET_DATABASE_ULR", "memory:", "ROCKET_DATABASE_URL"),
        (
            "ROCKET_ALLOW_HOSTS",
            "robots.example",
            "ROCKET_ALLOWED_HOSTS",
        ),
        ("rocket_ports", "1", "ROCKET_PORT"),
        ("ROCKET_SHUTDOWN", "{grase=1}", "ROCKET_SHUTDOWN.GRACE"),
        (
            "ROCKET_TLS_CERTS",
            "chain.pem",
            "ROCKET_TLS={certs=\"chain.pem\",key=\"key.pem\"}",
        ),
    ] {
        let error = output_of_failure(&fail(folder.path(), &[(name, value)]));
        let words = format!(" is not a setting; did you mean {suggestion}?\n");
        assert!(error.ends_with(&words), "{name}: {error}");
        assert!(!error.contains("sha256"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn misspelt_key_of_any_profile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (text, words) in [
        (
            "[default]\napi_token = \"x\"",
            "api_token in Rocket.toml is not a setting; did you mean api_tokens?",
        ),
        (
            "[staging]\nPort = 1",
            "Port in Rocket.toml is not a setting; did you mean port?",
        ),
        (
            "[default.shutdown]\ngrase = 1",
            "shutdown.grase in Rocket.toml is not a setting; did you mean shutdown.grace?",
        ),
        (
            "[default.limits]\nforms = \"1 KiB\"",
            "limits.forms in Rocket.toml is not a setting; did you mean limits.form?",
        ),
        (
            "[defualt]\nport = 1",
            "[defualt] in Rocket.toml is not the selected profile, so it has no effect; did you \
             mean [default]?",
        ),
        (
            "[tls]\ncerts = \"chain.pem\"",
            "[tls] in Rocket.toml has no effect, because settings stand below a profile; write \
             [default.tls]",
        ),
    ] {
        fs::write(folder.path().join("Rocket.toml"), text).unwrap();
        let error = output_of_failure(&fail(folder.path(), &[]));
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn misspelt_file_or_profile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Rocket.toml"), "[staging]\nport = 0").unwrap();
    for (name, value, words) in [
        (
            "ROCKET_CONFIG",
            "rokcet.toml",
            "ROCKET_CONFIG names 'rokcet.toml', which is not a file",
        ),
        (
            "ROCKET_PROFILE",
            "stagin",
            "ROCKET_PROFILE=stagin selects no table of Rocket.toml; did you mean staging?",
        ),
    ] {
        let error = output_of_failure(&fail(folder.path(), &[(name, value)]));
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn other_unknown_name_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("Rocket.toml"),
        "[default]\nmotto = \"secret\"\n[default.databases.robots]\nurl = \"x\"\n[staging]\nport = 1",
    )
    .unwrap();
    let server = Server::start(
        folder.path(),
        &[
            ("DATABASE_URL", "memory:"),
            ("ROCKET_DATABASE_PORT", "5432"),
            ("ROCKET_PORT_8000_TCP_ADDR", "10.0.0.1"),
            ("ROCKET_PROFILE", "production"),
        ],
    );
    let (_, log) = server.stop("TERM");
    for words in [
        "ROCKET_DATABASE_PORT is not a setting, and has no effect",
        "ROCKET_PORT_8000_TCP_ADDR is not a setting, and has no effect",
        "databases in Rocket.toml is not a setting, and has no effect",
        "motto in Rocket.toml is not a setting, and has no effect",
        "ROCKET_PROFILE=production has no effect, because Rocket.toml has no table [production]",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    assert_eq!(log.lines().count(), 5, "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn misspelt_variable_without_the_prefix_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [("DATABSE_URL", "memory:"), ("RUST_LOG", "wran,inof")];
    let server = Server::start(folder.path(), &settings);
    let (_, log) = server.stop("TERM");
    for words in [
        "DATABSE_URL is not a setting; did you mean DATABASE_URL?",
        "'wran' of RUST_LOG is not a level; did you mean warn?",
        "'inof' of RUST_LOG is not a level; did you mean info?",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
}

#[test]
fn settings_of_rocket_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("settings.toml"),
        "[default.limits]\nform = \"1 KiB\"\n\"file/jpeg\" = \"1 MiB\"\n\
         [default.shutdown]\nctrlc = true\nsignals = [\"term\"]\ngrace = 1\nmercy = 1\nforce = true\n",
    )
    .unwrap();
    let server = Server::start(
        folder.path(),
        &[
            ("DATABASE_URL", "memory:"),
            ("ROCKET_CONFIG", "settings.toml"),
            ("ROCKET_PROFILE", "default"),
            (
                "ROCKET_SECRET_KEY",
                "hPRYyVRiMyxpw5sBB1XeCMN1kFsDCqKvBi2QJxBVHQk=",
            ),
            ("ROCKET_CLI_COLORS", "0"),
            ("ROCKET_IDENT", "robots"),
            ("ROCKET_IP_HEADER", "false"),
            ("ROCKET_KEEP_ALIVE", "0"),
            ("ROCKET_LOG_LEVEL", "off"),
            ("ROCKET_TEMP_DIR", "/tmp"),
            ("ROCKET_MAX_BLOCKING", "9"),
            ("ROCKET_LIMITS", "{json=\"2 MiB\"}"),
        ],
    );
    let (_, log) = server.stop("TERM");
    assert_eq!(log, "");
}

#[test]
fn wrong_settings_are_all_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("Rocket.toml"),
        "[default]\nallowed_hosts = [\"*\", \"robots.example:80\"]\nbehavior = \"B\"\n",
    )
    .unwrap();
    let output = fail(
        folder.path(),
        &[
            ("ROCKET_PORT", "high"),
            ("ROCKET_WORKERS", "0"),
            ("ROCKET_DATABASE_TIMEOUT", "2s"),
            ("ROCKET_BEHAVIOUR", "C"),
        ],
    );
    let error = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines[0], "robot-rocket: 7 wrong settings:", "{error}");
    for (line, words) in lines[1..].iter().zip([
        "  behavior in Rocket.toml is not a setting; did you mean behaviour?",
        "  ROCKET_PORT must be a number from 0 to 65535, not 'high'",
        "  ROCKET_WORKERS must be a number, 1 or more, not 0",
        "  the behaviour is A (current) or B (older), not 'C'",
        "  allowed_hosts: '*' is not a host name",
        "  allowed_hosts: 'robots.example:80' is not a host name",
        "  ROCKET_DATABASE_TIMEOUT must be a whole number of seconds, 1 or more, not '2s'",
    ]) {
        assert!(line.starts_with(words), "{line}");
    }
}
