//! Accessibility, checked by axe-core in each state of the page.

use std::{env, fs};

use serde_json::Value;

use crate::visit::Visit;

/// The script of axe-core.
fn axe() -> String {
    let path = env::var("AXE_CORE").unwrap_or_else(|_| {
        panic!("set AXE_CORE to the path of axe.min.js of the npm package axe-core; ./test.sh fetches it")
    });
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("AXE_CORE, {path}: {error}"))
}

impl Visit {
    /// Runs axe-core on the page in its current state, in both colour schemes.
    #[track_caller]
    pub(crate) fn assert_accessible(&self, state: &str) {
        self.run(&axe());
        let checked = "axe.run(document, {resultTypes: ['violations']}).then((found) => \
                       arguments[0](found.violations.map((each) => [each.id, each.help, \
                       ...each.nodes.map((node) => node.html + node.failureSummary)])))";
        for scheme in ["dark", "light"] {
            self.prefer(scheme);
            // Finish colour transitions.
            self.run("document.getAnimations().forEach((each) => each.finish())");
            let violations = self.browser.run_async(checked);
            let none = Value::Array(Vec::new());
            assert_eq!(violations, none, "{state}, {scheme}: {violations:#}");
        }
    }

    /// Changes the robot that is being edited as another client, and saves it here.
    fn overtake_edit(&self) {
        let target = "/api/robots?fields=id,name,type,year";
        let robots = self.call("GET", target, "");
        let robots: Vec<Value> = serde_json::from_str(&robots).unwrap();
        for robot in robots {
            let path = format!("/api/robots/{}", robot["id"].as_str().unwrap());
            self.call("PUT", &path, &robot.to_string());
        }
        self.run("document.querySelector('.edited .main').click()");
        self.wait_for_text(".conflict", "Keep mine");
    }

    fn assert_accessible_in_all_states(&self) {
        self.assert_accessible("empty");
        self.run("document.querySelector('#add').requestSubmit()");
        self.wait_for_text("#add .of-name .error", "name is required");
        self.assert_accessible("a form with messages");
        self.run("document.querySelector('#start .main').click()");
        self.wait_for_rows(9);
        self.wait_for_text("#picture h2", "By year and type");
        self.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
        self.assert_accessible("filled");
        self.run("document.querySelector('[data-action=delete]').click()");
        self.wait_for_text("#undo", "Deleted BB-8");
        self.run("document.querySelector('[data-action=edit]').click()");
        self.run("document.querySelector('.edited input').value = 'ELIZA'");
        self.run("document.querySelector('.edited .main').click()");
        self.wait_for_text(".edited .error", "The robot name must be unique");
        self.assert_accessible("an edited row");
        self.overtake_edit();
        self.assert_accessible("a conflict");
        self.import(
            "robots.csv",
            "name,type,year\n,droid,1999\nK-9,droid,1977\n",
        );
        self.wait_for_text("#import-outcome", "Added 1 robot, failed 1.");
        self.run("document.querySelector('#of-type input').click()");
        self.wait_for_text(".scope", "Whole catalogue");
        self.run("document.querySelector('#export').open = true");
        self.run("document.querySelector('#year_from').value = 'x'");
        self.run("document.querySelector('#filter').requestSubmit()");
        self.wait_for_text("#filter-error", "A year has only digits.");
        self.assert_accessible("imported, filtered, and a wrong year");
        self.run("document.querySelector('#help').showModal()");
        self.assert_accessible("help");
        self.run("document.querySelector('#help').close()");
        self.run("document.querySelector('#query').value = 'nobody'");
        self.run("document.querySelector('#search').requestSubmit()");
        self.wait_for_text("#none", "No robot matches the filter.");
        self.assert_accessible("nothing found");
    }
}

#[test]
fn axe_finds_no_violations_in_any_state() {
    Visit::of(&[]).assert_accessible_in_all_states();
}

#[test]
fn axe_finds_no_violations_in_token_and_outage_states() {
    let hash = "0".repeat(64);
    let token = format!("write:sha256:{hash}");
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_API_TOKENS", &token)];
    let mut visit = Visit::with(&settings);
    visit.wait_for_text("#token", "This requires a token");
    visit.assert_accessible("a token is requested");
    visit.stop_server();
    visit.run("document.querySelector('#add').requestSubmit()");
    visit.wait_for_text("#trouble", "The server does not answer.");
    visit.assert_accessible("the server is unreachable");
}
