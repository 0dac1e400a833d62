//! Catalogues that require a token.

use robot_core::http::{AccessToken, Permission};

use crate::{
    keys::{ENTER, TAB},
    visit::Visit,
};

const READER: &str = "robots_reader";
const WRITER: &str = "robots_writer";

fn settings(anonymous: &str) -> [(&str, String); 3] {
    let token = |text, permission| AccessToken::of(text, permission).to_string();
    let reader = token(READER, Permission::Read);
    let writer = token(WRITER, Permission::Write);
    [
        ("DATABASE_URL", "memory:".to_owned()),
        ("ROCKET_API_TOKENS", format!("{reader},{writer}")),
        ("ROCKET_ALLOW_ANONYMOUS", anonymous.to_owned()),
    ]
}

fn visit(anonymous: &str) -> Visit {
    let settings = settings(anonymous);
    let settings: Vec<_> = settings
        .iter()
        .map(|(key, value)| (*key, value.as_str()))
        .collect();
    Visit::with(&settings)
}

impl Visit {
    fn enter_token(&self, token: &str) {
        self.wait_for_focus("Token");
        self.browser.press(token.chars().chain([ENTER]));
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
    visit.browser.reload();
    visit.wait_for_text("#start", "No robots yet");
    visit.tab_to("token-open");
    visit.browser.press([ENTER]);
    visit.wait_for_focus("Token");
    visit.tab_to("token-forget");
    visit.browser.press([ENTER]);
    visit.wait_for_text("#token", "This requires a token");
    assert_eq!(visit.run("return sessionStorage.length"), 0);
}

#[test]
fn action_waits_for_a_token_that_permits_it() {
    let visit = visit("read");
    visit.wait_for_text("#start", "No robots yet");
    visit.tab_to("Name");
    visit.browser.press("R2-D2".chars().chain([TAB]));
    visit.browser.press("d".chars().chain([TAB]));
    visit.browser.press("1977".chars().chain([ENTER]));
    visit.wait_for_text("#token", "This requires a token");
    visit.enter_token(READER);
    visit.wait_for_text("#token", "This token permits only reading");
    visit.enter_token(WRITER);
    visit.wait_for_rows(1);
    visit.wait_for_announcement("Added R2-D2, droid, 1977.");
    visit.wait_for_focus("Name");
}
