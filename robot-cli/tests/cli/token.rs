//! Tests of `token`.

use robot_core::http::{AccessToken, Permission};

use crate::sandbox::Sandbox;

#[test]
fn token_matches_its_server_entry() {
    let sandbox = Sandbox::new();
    let mut tokens = Vec::new();
    for (word, permission) in [("read", Permission::Read), ("write", Permission::Write)] {
        let csv = sandbox.stdout(&["token", "new", word, "--format", "csv"]);
        let row = csv.strip_prefix("token,api_token\n").unwrap().trim_end();
        let (token, known) = row.split_once(',').unwrap();
        assert_eq!(known.parse(), Ok(AccessToken::of(token, permission)));
        assert_eq!(token.len(), "robots_".len() + 64, "{token}");
        tokens.push(token.to_owned());
    }
    assert_ne!(tokens[0], tokens[1]);
    assert!(
        !sandbox.path().join("robots.db").exists(),
        "no catalogue is needed for it"
    );
}

#[test]
fn token_table_has_configuration_lines() {
    let text = Sandbox::new().stdout("token new write");
    let token = text
        .lines()
        .find_map(|line| line.strip_prefix("  robots_"))
        .unwrap();
    let known = AccessToken::of(&format!("robots_{token}"), Permission::Write);
    for line in [
        format!("  ROCKET_API_TOKENS={known}\n"),
        format!("  api_tokens = [\"{known}\"]\n"),
        format!("-H 'Authorization: Bearer robots_{token}'"),
    ] {
        assert!(text.contains(&line), "{line} is not in {text}");
    }
}

#[test]
fn token_json_matches_its_server_entry() {
    for format in ["json", "ndjson"] {
        let text = Sandbox::new().stdout(&["token", "new", "read", "--format", format]);
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        let token = AccessToken::of(object["token"].as_str().unwrap(), Permission::Read);
        assert_eq!(object["api_token"], token.to_string());
    }
}

#[test]
fn token_name_is_in_its_server_entry() {
    let sandbox = Sandbox::new();
    let text = sandbox.stdout("token new write --name ci --format json");
    let object: serde_json::Value = serde_json::from_str(&text).unwrap();
    let token = AccessToken::of(object["token"].as_str().unwrap(), Permission::Write);
    let token = token.named("ci".parse().unwrap());
    assert_eq!(object["api_token"], token.to_string());
    let table = sandbox.stdout("token new write --name ci");
    assert!(
        table.contains("ROCKET_API_TOKENS=write:ci:sha256:"),
        "{table}"
    );
}

#[test]
fn invalid_token_name_is_a_usage_error() {
    let arguments = ["token", "new", "write", "--name", "CI"];
    Sandbox::new().reports(&arguments, 2, &["1 to 32 characters"]);
}
