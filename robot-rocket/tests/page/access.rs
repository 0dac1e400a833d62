//! Catalogues that require a token.

use robot_core::http::{AccessToken, Permission};
use serde_json::json;

use crate::{
    calls::{draft, send, token},
    keys::ENTER,
    visit::Visit,
};

const READER: &str = "robots_reader";
const WRITER: &str = "robots_writer";

fn visit(anonymous: &str) -> Visit {
    let reader = AccessToken::of(READER, Permission::Read);
    let tokens = format!("{reader},{}", token("writer"));
    Visit::with(&[
        ("DATABASE_URL", "memory:"),
        ("ROCKET_API_TOKENS", &tokens),
        ("ROCKET_ALLOW_ANONYMOUS", anonymous),
    ])
}

impl Visit {
    fn enter_token(&self, token: &str) {
        self.wait_for_focus("Token");
        self.press(&format!("{token}{ENTER}"));
    }
}

#[test]
fn token_is_requested_kept_and_forgotten() {
    let visit = visit("false");
    visit.wait_for_text("#token", "This requires a token");
    visit.enter_token("robots_wrong");
    visit.wait_for_text("#token", "is unknown to this service");
    visit.enter_token("no token at all");
    visit.wait_for_text("#token-error", "A token is one word");
    visit.run("document.querySelector('#token-text').value = ''");
    visit.enter_token(WRITER);
    visit.wait_for_text("#start", "No robots yet");
    visit.reload();
    visit.wait_for_text("#start", "No robots yet");
    visit.press_on("token-open");
    visit.wait_for_focus("Token");
    visit.press_on("token-forget");
    visit.wait_for_text("#token", "This requires a token");
    assert_eq!(visit.run("return sessionStorage.length"), 0);
}

#[test]
fn actions_wait_for_a_token_that_permits_them() {
    let visit = visit("read");
    visit.wait_for_text("#start", "No robots yet");
    visit.enter_robot("R2-D2", "d", "1977");
    visit.wait_for_text("#token", "This requires a token");
    visit.enter_token(READER);
    visit.wait_for_text("#token", "This token does not permit to write");
    visit.enter_token(WRITER);
    visit.wait_for_rows(1);
    visit.wait_for_announcement("Added R2-D2, droid, 1977.");
    visit.wait_for_focus("Name");
    visit.press_on("token-open");
    visit.wait_for_focus("Token");
    visit.press_on("token-forget");
    let robot = r#"{"name":"C-3PO","type":"droid","year":1977}"#;
    visit.choose("robots.ndjson", robot);
    visit.wait_for_text("#token", "This requires a token");
    visit.enter_token(WRITER);
    visit.wait_for_text("#plan-counts", "Would add 1 robot.");
    visit.submit_import();
    visit.wait_for_text("#import-outcome", "Added 1 robot.");
    visit.wait_for_rows(2);
    visit.choose(
        "more.ndjson",
        r#"{"name":"HAL","type":"virtual","year":1968,"voice":"calm"}"#,
    );
    visit.wait_for_text("#plan", "new: voice");
    visit.submit_import();
    visit.wait_for_text("#token-why", "This token does not permit to define");
}

#[test]
fn export_sends_the_token() {
    let visit = visit("false");
    visit.enter_token(READER);
    visit.wait_for_text("#start", "No robots yet");
    let headers = [("Authorization", "Bearer robots_writer")];
    let added = send(
        &visit.client(),
        "POST",
        "/api/robots",
        &headers,
        &draft("R2-D2"),
    );
    assert_eq!(added.status, 201);
    visit.reload();
    visit.wait_for_rows(1);
    // A browser that can write to a file while it receives.
    visit.run(
        "window.saved = []; window.showSaveFilePicker = async ({ suggestedName }) => ({ \
         createWritable: async () => new WritableStream({ \
         write: (bytes) => window.saved.push(new TextDecoder().decode(bytes)), \
         close: () => window.saved.push(suggestedName) }) })",
    );
    visit.click("#export summary");
    visit.click("#exports li:first-child a");
    visit.wait_for_announcement("Exported robots.csv.");
    let saved = json!("id,name,type,year,revision\n1,R2-D2,droid,1977,1\nrobots.csv");
    assert_eq!(visit.run("return window.saved.join('')"), saved);
    // A browser that cannot.
    visit.allow_downloads();
    visit.run("window.showSaveFilePicker = undefined");
    visit.click("#export summary");
    visit.click("#exports li:nth-child(3) a");
    visit.wait_for_file(
        "robots.json",
        "[\n{\"id\":\"1\",\"name\":\"R2-D2\",\"type\":\"droid\",\"year\":1977,\"revision\":1}\n]\n",
    );
    visit.run(
        "const send = window.fetch; window.fetch = (path, options) => path.includes('export') \
         ? Promise.reject(new TypeError('cut off')) : send(path, options)",
    );
    visit.click("#export summary");
    visit.click("#exports li:last-child a");
    visit.wait_for_text(
        "#export-state",
        "The file is not complete. The server does not answer.",
    );
}
