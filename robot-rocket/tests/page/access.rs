//! Catalogues that require a token.

use std::fs;

use robot_core::http::{AccessToken, Permission};

use crate::{
    calls::{draft, send},
    visit::Visit,
};

/// A visit to a server with tokens that permit reading, writing and defining.
fn visit(anonymous: &str) -> Visit {
    let tokens = [
        ("robots_reader", Permission::Read),
        ("robots_writer", Permission::Write),
        ("robots_definer", Permission::Define),
    ];
    let tokens = tokens.map(|(token, permission)| AccessToken::of(token, permission).to_string());
    Visit::with(&[
        ("DATABASE_URL", "memory:"),
        ("ROCKET_API_TOKENS", &tokens.join(",")),
        ("ROCKET_ALLOW_ANONYMOUS", anonymous),
    ])
}

/// Sends a call with a token, which must succeed.
fn call(visit: &Visit, token: &str, method: &str, target: &str, body: &str) {
    let headers = [("Authorization", &*format!("Bearer {token}"))];
    let answer = send(&visit.client(), method, target, &headers, body);
    assert!(answer.status < 300, "{}", answer.text());
}

/// Another client adds R2-D2.
fn add_robot(visit: &Visit) {
    let robot = draft("R2-D2");
    call(visit, "robots_writer", "POST", "/api/robots", &robot);
}

#[test]
fn token_is_requested_kept_and_forgotten() {
    visit("false").play(
        "see #token: This requires a token
         focus Token -> type robots_wrong<Enter> -> see #token: is unknown to this service
         focus Token -> type no token at all<Enter> -> see #token-error: A token is one word
         run $('#token-text').value = '' -> focus Token -> type robots_writer<Enter> -> see #start: No robots yet
         reload -> see #start: No robots yet -> run localStorage.setItem('robots-token', 'robots_reader')
         press token-open -> focus Token -> press token-forget -> see #token: This requires a token
         reload -> see #token: This requires a token
         is [localStorage, sessionStorage].map((each) => each.getItem('robots-token')).join() == \"robots_reader,\"",
    );
}

#[test]
fn page_hides_what_the_token_does_not_permit() {
    let visit = visit("read");
    let shown = "[...$$('#adding-open, #importing-open, #fields-open'), $('#table [data-action=delete]'), \
                 $('#record .head button:nth-of-type(3)')].map((each) => each?.checkVisibility() ?? false).join()";
    add_robot(&visit);
    visit.play(&format!(
        r#"open #/robots/1 -> reload -> see #robot-heading: R2-D2 -> is {shown} == "false,false,false,false,false"
           type a -> is $('#adding').hidden == true -> see #token-open: Sign in
           press token-open -> focus Token -> type robots_reader<Enter> -> is $('#token').hidden == true
           is {shown} == "false,false,false,false,false"
           click #token-open -> run $('#token-text').select() -> type robots_writer<Enter>
           is {shown} == "true,false,true,true,true"
           click #token-open -> run $('#token-text').select() -> type robots_definer<Enter>
           is {shown} == "true,true,true,true,true" -> click #token-open -> see #token-heading: Signed in
           click #token-forget -> see #token-open: Sign in
           is {shown} == "false,false,false,false,false""#
    ));
}

#[test]
fn link_with_a_token_asks_once_whether_to_remember_it() {
    let visit = visit("false");
    let question = "$('#remember').checkVisibility()";
    visit.play(&format!(
        r#"open #token=robots_writer -> reload
            run location.hash = '#token=robots_writer'; location.reload()
            see #start: No robots yet -> is [{question}, location.hash, history.length < 9] == [true, "", true]
            see #notices: Should this browser remember -> press remember-yes -> is {question} == false
            run sessionStorage.clear() -> reload -> see #start: No robots yet -> is {question} == false
            run location.hash = '#token=robots_writer'
            see #start: No robots yet -> is {question} == false
            press token-open -> press token-forget -> see #token: This requires a token
            is [localStorage.length, sessionStorage.getItem('robots-token')] == [0, ""]"#
    ));
}

#[test]
fn action_waits_for_a_token_if_the_old_one_is_removed() {
    let visit = visit("false");
    visit.play(
        r#"focus Token -> type robots_writer<Enter> -> see #start: No robots yet -> enter R2-D2<Tab>d<Tab>1977
           rows 1 -> edit R2-D2 -> type R3-D3 -> run sessionStorage.setItem('robots-token', 'robots_reader'); location.reload()
           focus Name -> value R3-D3 -> type <Enter> -> see #token: This token does not permit to write
           focus Token -> run $('#token-text').select() -> type robots_writer<Enter> -> said Saved R3-D3.
           choose more.ndjson {"name":"HAL","type":"virtual","year":1968,"voice":"calm"}
           see #plan: new: voice -> import -> see #token-why: This token does not permit to define"#,
    );
}

#[test]
fn page_says_that_it_is_not_live_without_a_valid_token() {
    let folder = tempfile::tempdir().unwrap();
    let (file, [writer, reader]) = (
        folder.path().join("tokens"),
        [Permission::Write, Permission::Read],
    );
    let entries = [("robots_writer", writer), ("robots_reader", reader)];
    let [writer, reader] =
        entries.map(|(token, permission)| AccessToken::of(token, permission).to_string());
    fs::write(&file, format!("{writer}\n{reader}\n")).unwrap();
    let visit = Visit::with(&[("ROCKET_API_TOKENS_FILE", file.to_str().unwrap())]);
    visit.play("focus Token -> type robots_reader<Enter> -> see #start: No robots yet");
    fs::write(&file, writer).unwrap();
    visit.signal("HUP");
    visit.play(
        "see #lost: Not live: changes of others need a token -> press Sign in -> see #token: is unknown to this service
         focus Token -> run $('#token-text').select() -> type robots_writer<Enter> -> is $('#lost').hidden == true",
    );
    add_robot(&visit);
    visit.play("names R2-D2");
}

#[test]
fn definition_needs_the_token_that_reading_needs() {
    let visit = visit("false");
    let body = r#"{"title": "Secrets", "properties": {"hideout": {"type": "string"}}}"#;
    call(&visit, "robots_definer", "PUT", "/api/definition", body);
    let module = visit.call("GET", "/page/definition.js", "");
    let is_hidden = !module.contains("hideout") && module.contains("REVISION = null");
    assert!(is_hidden, "{module}");
    visit.play(
        "focus Token -> type robots_definer<Enter> -> see h1: Secrets
         reload -> see #adding-open: Add a record -> panel adding -> see #add: Hideout
         click #token-open -> click #token-forget -> see #token-heading: Token required
         see h1: Robot Catalogue -> is $('#add').textContent.includes('Hideout') == false
         focus Token -> type robots_definer<Enter> -> see h1: Secrets
         press fields-open -> focus fields-heading -> press Remove Hideout
         said Removed the field Hideout.",
    );
}

#[test]
fn export_sends_the_token() {
    let visit = visit("false");
    visit.play("focus Token -> type robots_reader<Enter> -> see #start: No robots yet");
    add_robot(&visit);
    visit.play("reload -> rows 1");
    visit.allow_downloads();
    visit.play(
        r#"click #export summary -> click #exports li:nth-child(3) a -> said Exported robots.json.
           saved robots.json [\n{"name":"R2-D2","type":"droid","year":1977,"id":"1"}\n]\n"#,
    );
    visit.run(
        "const send = window.fetch; window.fetch = (path, options) => path.includes('export') \
         ? Promise.reject(new TypeError('cut off')) : send(path, options)",
    );
    visit.play(
        "click #export summary -> click #exports li:nth-child(5) a
         see #export-state: The file is not complete. The server does not answer.",
    );
}
