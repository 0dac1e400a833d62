//! Tests of `token`.

use robot_core::http::{AccessToken, Permission};

use crate::sandbox::{Sandbox, contains};

#[test]
fn token_matches_its_server_entry() {
    let sandbox = Sandbox::new();
    let mut tokens = Vec::new();
    for (arguments, permission, name) in [
        ("read", Permission::Read, None),
        ("write", Permission::Write, None),
        ("define --name ci", Permission::Define, Some("ci")),
    ] {
        let csv = sandbox.stdout(&format!("token new {arguments} --format csv"));
        let row = csv.strip_prefix("token,api_token\n").unwrap().trim_end();
        let (token, known) = row.split_once(',').unwrap();
        let mut expected = AccessToken::of(token, permission);
        if let Some(name) = name {
            expected = expected.named(name.parse().unwrap());
        }
        assert_eq!(known, expected.to_string());
        assert_eq!(token.len(), "robots_".len() + 64, "{token}");
        tokens.push(token.to_owned());
    }
    assert_ne!(tokens[0], tokens[1]);
    sandbox.examples(
        r#"
        token new write --format json -> 0 {"api_token":"write:sha256:*","token":"robots_*"}
        token new write --format json --link http://localhost:8000/ -> 0 {"api_token":"*","link":"http://localhost:8000/#token=robots_*"}
        token new write --link robots.example -> 2 ! *such as https://robots.example*
        token new write --name CI -> 2 ! *1 to 32 characters*"#,
    );
    assert!(sandbox.files().is_empty(), "no catalogue is needed for it");
}

#[test]
fn token_table_has_configuration_lines() {
    let text = Sandbox::new().stdout("token new write");
    let mut lines = text.lines();
    let token = lines.find_map(|line| line.strip_prefix("  robots_"));
    let token = format!("robots_{}", token.unwrap());
    let known = AccessToken::of(&token, Permission::Write);
    let lines = [
        format!("  ROCKET_API_TOKENS={known}\n"),
        format!("  api_tokens = [\"{known}\"]\n"),
        format!("-H 'Authorization: Bearer {token}'"),
    ];
    contains(&text, &lines.each_ref().map(String::as_str));
}
