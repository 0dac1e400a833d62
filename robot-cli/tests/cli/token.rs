//! Tests of `token`.

use robot_core::http::{AccessToken, Permission};

use crate::sandbox::{Sandbox, contains};

#[test]
fn token_matches_its_server_entry() {
    let sandbox = Sandbox::new();
    let mut tokens = Vec::new();
    for (word, permission) in [
        ("read", Permission::Read),
        ("write", Permission::Write),
        ("define", Permission::Define),
    ] {
        let csv = sandbox.stdout(&format!("token new {word} --format csv"));
        let row = csv.strip_prefix("token,api_token\n").unwrap().trim_end();
        let (token, known) = row.split_once(',').unwrap();
        assert_eq!(known.parse(), Ok(AccessToken::of(token, permission)));
        assert_eq!(token.len(), "robots_".len() + 64, "{token}");
        tokens.push(token.to_owned());
    }
    assert_ne!(tokens[0], tokens[1]);
    for name in ["", "ci"] {
        let mut arguments = vec!["token", "new", "write", "--format", "json"];
        if !name.is_empty() {
            arguments.extend(["--name", name]);
        }
        let text = sandbox.stdout(&arguments);
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        let token = AccessToken::of(object["token"].as_str().unwrap(), Permission::Write);
        let token = match name.parse() {
            Ok(name) => token.named(name),
            Err(_) => token,
        };
        assert_eq!(object["api_token"], token.to_string());
    }
    assert!(sandbox.is_empty(), "no catalogue is needed for it");
    let message = "1 to 32 characters";
    sandbox.is_usage_error("token new write --name CI", message);
}

#[test]
fn token_table_has_configuration_lines() {
    let text = Sandbox::new().stdout("token new write");
    let token = text
        .lines()
        .find_map(|line| line.strip_prefix("  robots_"))
        .unwrap();
    let known = AccessToken::of(&format!("robots_{token}"), Permission::Write);
    let lines = [
        format!("  ROCKET_API_TOKENS={known}\n"),
        format!("  api_tokens = [\"{known}\"]\n"),
        format!("-H 'Authorization: Bearer robots_{token}'"),
    ];
    contains(&text, &lines.each_ref().map(String::as_str));
    let named = Sandbox::new().stdout("token new write --name ci");
    contains(&named, &["ROCKET_API_TOKENS=write:ci:sha256:"]);
}
