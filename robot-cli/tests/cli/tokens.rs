//! Tokens for the server.

use robot_core::http::{AccessToken, Permission};

use crate::sandbox::Sandbox;

/// What the program prints.
fn printed(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.command(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_token_is_made_with_what_the_server_has_to_know_of_it() {
    let sandbox = Sandbox::new();
    let mut tokens = Vec::new();
    for (word, permission) in [("read", Permission::Read), ("write", Permission::Write)] {
        let csv = printed(&sandbox, &["token", "new", word, "--format", "csv"]);
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
fn a_person_is_told_where_it_goes() {
    let text = printed(&Sandbox::new(), &["token", "new", "write"]);
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
fn a_program_gets_an_object() {
    for format in ["json", "ndjson"] {
        let text = printed(
            &Sandbox::new(),
            &["token", "new", "read", "--format", format],
        );
        let object: serde_json::Value = serde_json::from_str(&text).unwrap();
        let token = AccessToken::of(object["token"].as_str().unwrap(), Permission::Read);
        assert_eq!(object["api_token"], token.to_string());
    }
}
