//! What axe-core finds wrong with the page, in each of its states: nothing.

use std::{env, fs};

use serde_json::Value;

use crate::visit::Visit;

/// The script of axe-core.
fn axe() -> String {
    let path = env::var("AXE_CORE").unwrap_or_else(|_| {
        panic!("AXE_CORE is to name axe.min.js of the npm package axe-core; ./test.sh fetches it")
    });
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("AXE_CORE, {path}: {error}"))
}

impl Visit {
    /// Has axe-core look at the page as it is, in the light and in the dark.
    #[track_caller]
    fn is_accessible(&self, state: &str) {
        self.ask(&axe());
        let checked = "axe.run(document, {resultTypes: ['violations']}).then((found) => \
                       arguments[0](found.violations.map((each) => [each.id, each.help, \
                       ...each.nodes.map((node) => node.html + node.failureSummary)])))";
        // Colours go over into one another for a moment.
        self.ask("document.getAnimations().forEach((each) => each.finish())");
        let violations = self.browser.run_to_its_end(checked);
        assert_eq!(
            violations,
            Value::Array(Vec::new()),
            "{state}: {violations:#}"
        );
    }

    fn is_accessible_in_all_states(&self) {
        self.is_accessible("empty");
        self.ask("document.querySelector('#add').requestSubmit()");
        self.reads("#add .of-name .error", "name is required");
        self.is_accessible("a form with messages");
        self.ask("document.querySelector('#start .main').click()");
        self.sees_rows(9);
        self.reads("#picture h2", "By decade and type");
        self.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
        self.is_accessible("filled");
        self.ask("document.querySelector('[data-action=delete]').click()");
        self.reads("#undo", "Deleted BB-8");
        self.ask("document.querySelector('[data-action=edit]').click()");
        self.ask("document.querySelector('.edited input').value = 'ELIZA'");
        self.ask("document.querySelector('.edited .main').click()");
        self.reads(".edited .error", "The robot name must be unique");
        self.is_accessible("a row that is edited");
        self.ask("document.querySelector('#help').showModal()");
        self.is_accessible("help");
        self.ask("document.querySelector('#help').close()");
        self.ask("document.querySelector('#query').value = 'nobody'");
        self.ask("document.querySelector('#search').requestSubmit()");
        self.reads("#none", "No name contains");
        self.is_accessible("nothing found");
    }
}

#[test]
fn axe_core_finds_nothing_wrong_in_the_light() {
    Visit::of(&[]).is_accessible_in_all_states();
}

#[test]
fn axe_core_finds_nothing_wrong_in_the_dark() {
    let visit = Visit::of(&[]);
    visit.prefers_dark();
    visit.is_accessible_in_all_states();
}

#[test]
fn axe_core_finds_nothing_wrong_with_what_asks_for_a_token_or_tells_of_an_outage() {
    let hash = "0".repeat(64);
    let token = format!("write:sha256:{hash}");
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_API_TOKENS", &token)];
    let mut visit = Visit::with(&settings);
    visit.reads("#token", "This takes a token");
    visit.is_accessible("a token is asked for");
    visit.stop_server();
    visit.ask("document.querySelector('#add').requestSubmit()");
    visit.reads("#trouble", "The server does not answer.");
    visit.is_accessible("the server is away");
}
