//! Catalogues that require a token.

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

#[test]
fn token_is_requested_kept_and_forgotten() {
    visit("false").play(
        "see #token: This requires a token
         focus Token -> type robots_wrong<Enter> -> see #token: is unknown to this service
         focus Token -> type no token at all<Enter> -> see #token-error: A token is one word
         run $('#token-text').value = '' -> focus Token -> type robots_writer<Enter> -> see #start: No robots yet
         reload -> see #start: No robots yet -> press token-open -> focus Token
         press token-forget -> see #token: This requires a token -> is sessionStorage.length == 0",
    );
}

#[test]
fn actions_wait_for_a_token_that_permits_them() {
    visit("read").play(
        r#"see #start: No robots yet -> enter R2-D2<Tab>d<Tab>1977 -> see #token: This requires a token
           focus Token -> type robots_reader<Enter> -> see #token: This token does not permit to write
           focus Token -> type robots_writer<Enter> -> rows 1 -> said Added R2-D2, droid, 1977.
           focus Name -> press token-open -> focus Token -> press token-forget
           choose robots.ndjson {"name":"C-3PO","type":"droid","year":1977} -> see #token: This requires a token
           focus Token -> type robots_writer<Enter> -> see #plan-counts: Would add 1 robot.
           import -> see #import-outcome: Added 1 robot. -> rows 2
           run sessionStorage.clear() -> reload -> edit R2-D2 -> type R3-D3<Enter> -> see #token: This requires a token
           focus Token -> type robots_writer<Enter> -> said Saved R3-D3.
           run sessionStorage.clear() -> reload -> press Delete C-3PO -> see #token: This requires a token
           focus Token -> type robots_writer<Enter> -> said Deleted C-3PO. -> names R3-D3
           run sessionStorage.clear() -> reload -> rows 1
           run $('thead .of-select input').click(); $('#erasing').requestSubmit() -> see #token: This requires a token
           focus Token -> type robots_writer<Enter> -> said Deleted 1 robot. -> names
           choose more.ndjson {"name":"HAL","type":"virtual","year":1968,"voice":"calm"}
           see #plan: new: voice -> import -> see #token-why: This token does not permit to define"#,
    );
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
        "focus Token -> type robots_reader<Enter> -> see #start: Secrets
         reload -> see #adding-open: Add to Secrets -> panel adding -> see #add: Hideout
         press fields-open -> focus fields-heading -> press Remove Hideout
         see #token: This token does not permit to define
         focus Token -> type robots_definer<Enter> -> said Removed the field Hideout.",
    );
}

#[test]
fn export_sends_the_token() {
    let visit = visit("false");
    visit.play("focus Token -> type robots_reader<Enter> -> see #start: No robots yet");
    call(
        &visit,
        "robots_writer",
        "POST",
        "/api/robots",
        &draft("R2-D2"),
    );
    visit.play("reload -> rows 1");
    // A browser that can write to a file while it receives.
    visit.run(
        "window.saved = []; window.showSaveFilePicker = async ({ suggestedName }) => ({ \
         createWritable: async () => new WritableStream({ \
         write: (bytes) => window.saved.push(new TextDecoder().decode(bytes)), \
         close: () => window.saved.push(suggestedName) }) })",
    );
    visit.play(
        r#"click #export summary -> click #exports li:first-child a -> said Exported robots.csv.
           is window.saved.join('') == "id,name,type,year,revision\n1,R2-D2,droid,1977,1\nrobots.csv""#,
    );
    // A browser that cannot.
    visit.allow_downloads();
    visit.play(
        r#"run window.showSaveFilePicker = undefined
           click #export summary -> click #exports li:nth-child(3) a
           saved robots.json [\n{"id":"1","name":"R2-D2","type":"droid","year":1977,"revision":1}\n]\n"#,
    );
    visit.run(
        "const send = window.fetch; window.fetch = (path, options) => path.includes('export') \
         ? Promise.reject(new TypeError('cut off')) : send(path, options)",
    );
    visit.play(
        "click #export summary -> click #exports li:last-child a
         see #export-state: The file is not complete. The server does not answer.",
    );
}
