//! Wrong settings stop the start; names that may belong to other programs are reported.

use std::fs;

use crate::{
    Server,
    process::{cases, command, fail, output_of_failure},
};

/// Variables, and words of the message.
const VARIABLES: &str = "
ROCKET_API_TOKEN=write:sha256:secret -> ROCKET_API_TOKEN is not a setting; did you mean ROCKET_API_TOKENS?
ROCKET_BEHAVIOR=B -> did you mean ROCKET_BEHAVIOUR?
ROCKET_DATABASE_ULR=memory: -> did you mean ROCKET_DATABASE_URL?
ROCKET_ALLOW_HOSTS=robots.example -> did you mean ROCKET_ALLOWED_HOSTS?
rocket_ports=1 -> did you mean ROCKET_PORT?
ROCKET_SHUTDOWN={grase=1} -> did you mean ROCKET_SHUTDOWN.GRACE?
ROCKET_TLS_CERTIFICATE=chain.pem -> did you mean ROCKET_TLS?
ROCKET_SHUTDOWN_GRACE=5 -> ROCKET_SHUTDOWN_GRACE is not a setting; did you mean ROCKET_SHUTDOWN?
ROCKET_CONFIG=rokcet.toml -> ROCKET_CONFIG names 'rokcet.toml', which is not a file
ROCKET_BEHAVIOUR=C -> ROCKET_BEHAVIOUR must be A (current) or B (older), not 'C'
ROCKET_PORT=high -> ROCKET_PORT must be a number from 0 to 65535, not 'high'
ROCKET_PORT=70000 -> ROCKET_PORT must be a number from 0 to 65535, not '70000'
ROCKET_ADDRESS=nowhere -> ROCKET_ADDRESS must be an IP address
ROCKET_WORKERS=0 -> ROCKET_WORKERS must be a number, 1 or more, not '0'
ROCKET_IMPORT_TIMEOUT=0 -> ROCKET_IMPORT_TIMEOUT must be a whole number of seconds, 1 or more
ROCKET_IMPORT_MINIMUM_RATE=fast -> ROCKET_IMPORT_MINIMUM_RATE must be a number of bytes
ROCKET_ALLOWED_HOSTS=robots.example:80 -> 'robots.example:80'
ROCKET_ALLOWED_HOSTS=a,http://b -> 'http://b'
ROCKET_STATIC_DIR=missing -> static_dir 'missing'
ROCKET_SHUTDOWN=5 -> ROCKET_SHUTDOWN must be as in {grace=2
ROCKET_LOG_FORMAT=xml -> ROCKET_LOG_FORMAT must be text or json, not 'xml'
DATABASE_URL=ftp://x -> no store has URLs that begin with 'ftp'
ROCKET_ALLOW_ANONYMOUS=false -> rejects every request
ROCKET_ALLOW_ANONYMOUS=write -> true, false or read, not 'write'
ROCKET_ALLOWED_ORIGINS=app.example -> 'app.example' is not an origin
ROCKET_ALLOWED_ORIGINS=* -> '*' is not an origin
ROCKET_API_TOKENS=secret -> read:sha256:HASH
ROCKET_API_TOKENS=write:sha256:0 -> robot-cli token new
ROCKET_API_TOKENS= -> api_tokens has no token
ROCKET_API_TOKENS= ,  -> api_tokens has no token
ROCKET_METRICS_ADDRESS= -> ROCKET_METRICS_ADDRESS must be an address with a port, as in 127.0.0.1:9100
ROCKET_METRICS_ADDRESS=localhost -> must be an address with a port
ROCKET_METRICS_ADDRESS=9100 -> must be an address with a port
ROCKET_ADDRESS=0.0.0.0 -> ROCKET_ALLOW_ANONYMOUS
ROCKET_STATIC_DIR=. -> the database is in the folder
DATABASE_URL= -> sqlite://robots.db
DATABASE_URL=/var/lib/robots.db -> sqlite://robots.db
DATABASE_URL=sqlite3://robots.db -> sqlite://robots.db
";

/// Contents of `Rocket.toml`, with `;` for the end of a line, and words of the message.
const FILES: &str = r#"
[default];api_token = "secret" -> api_token in Rocket.toml is not a setting; did you mean api_tokens?
[staging];Port = 1 -> Port in Rocket.toml is not a setting; did you mean port?
[default.shutdown];grase = 1 -> shutdown.grase in Rocket.toml is not a setting; did you mean shutdown.grace?
[default.limits];forms = "1 KiB" -> limits.forms in Rocket.toml is not a setting; did you mean limits.form?
[defualt];port = 1 -> [defualt] in Rocket.toml is not the selected profile, so it has no effect; write [default]
[tls];certs = "chain.pem" -> [default.NAME] for a setting that is a table
[default;port = 1 -> Rocket.toml
behaviour = "B" -> settings stand below a line [default]
[default];database_url = ["postgres://robots:secret@db"] -> database_url in Rocket.toml must be a URL
database_url = "postgres://robots:secret@db/robots" -> Rocket.toml
[default];database_url = "postgres://robots:secret@db/robots;port = 1 -> Rocket.toml
[default];database_url = postgres://robots:secret@db/robots -> Rocket.toml
[default];database_url = "postgres://robots:secret@db";database_url = "x" -> Rocket.toml
[default."postgres://robots:secret@db/robots" -> Rocket.toml
"#;

#[test]
fn wrong_setting_is_an_error_of_one_line_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let assert_refused = |setting: (&str, &str), words: &str| {
        let error = output_of_failure(&fail(folder.path(), &[setting]));
        assert!(error.contains(words), "{setting:?}: {error}");
        assert!(!error.contains("secret"), "{error}");
        let checked = command(folder.path(), &[setting]).arg("--check").output();
        assert_eq!(output_of_failure(&checked.unwrap()), error);
    };
    for (variable, words) in cases(VARIABLES) {
        assert_refused(variable.split_once('=').unwrap(), words);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    for (text, words) in cases(FILES) {
        fs::write(folder.path().join("Rocket.toml"), text.replace(';', "\n")).unwrap();
        assert_refused(("RUST_LOG", "warn"), words);
    }
    fs::write(folder.path().join("Rocket.toml"), "[staging]\nport = 0").unwrap();
    let table = "ROCKET_PROFILE=stagin selects no table of Rocket.toml; did you mean staging?";
    assert_refused(("ROCKET_PROFILE", "stagin"), table);
}

#[test]
fn other_unknown_name_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\nmotto = \"secret\"\n[default.databases.robots]\nurl = \"x\"\n[staging]\nport = 1";
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let settings = [
        ("DATABSE_URL", "memory:"),
        ("ROCKET_DATABASE_PORT", "5432"),
        ("ROCKET_PORT_8000_TCP_ADDR", "10.0.0.1"),
        ("ROCKET_PROFILE", "production"),
        ("RUST_LOG", "warn,=x"),
    ];
    let (_, log) = Server::start(folder.path(), &settings).stop("TERM");
    for words in [
        "DATABSE_URL is not a setting; did you mean DATABASE_URL?",
        "ROCKET_DATABASE_PORT is not a setting, and has no effect",
        "ROCKET_PORT_8000_TCP_ADDR is not a setting, and has no effect",
        "databases in Rocket.toml is not a setting, and has no effect",
        "motto in Rocket.toml is not a setting, and has no effect",
        "ROCKET_PROFILE=production selects no table of Rocket.toml, and has no effect",
        "ignoring `=x`",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    assert_eq!(log.lines().count(), 7, "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn settings_of_rocket_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default.limits]\nform = \"1 KiB\"\n\"file/jpeg\" = \"1 MiB\"\n[default.shutdown]\n\
                ctrlc = true\nsignals = [\"term\"]\ngrace = 1\nmercy = 1\nforce = true\n";
    fs::write(folder.path().join("settings.toml"), text).unwrap();
    let settings = [
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
    ];
    let (_, log) = Server::start(folder.path(), &settings).stop("TERM");
    assert_eq!(log, "");
}

#[test]
fn wrong_settings_are_all_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = "[default]\nallowed_hosts = [\"*\", \"robots.example:80\"]\nbehavior = \"B\"\n";
    fs::write(folder.path().join("Rocket.toml"), text).unwrap();
    let settings = [("ROCKET_PORT", "high"), ("ROCKET_DATABASE_TIMEOUT", "2s")];
    let error = String::from_utf8(fail(folder.path(), &settings).stderr).unwrap();
    assert!(
        error.starts_with("robot-rocket: 5 wrong settings:\n"),
        "{error}"
    );
    for words in [
        "\n  behavior in Rocket.toml is not a setting; did you mean behaviour?",
        "\n  ROCKET_PORT must be a number from 0 to 65535, not 'high'",
        "\n  allowed_hosts: '*' is not a host name",
        "\n  allowed_hosts: 'robots.example:80' is not a host name",
        "\n  ROCKET_DATABASE_TIMEOUT must be a whole number of seconds, 1 or more, not '2s'",
    ] {
        assert!(error.contains(words), "{words}: {error}");
    }
}
