//! Accessibility, checked by axe-core in each state of the page.

use std::{env, fs};

use serde_json::{Value, json};

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

    /// Prefers the `light` or `dark` colour scheme.
    pub(crate) fn prefer(&self, scheme: &str) {
        let preferred = json!({"name": "prefers-color-scheme", "value": scheme});
        let media = json!({"features": [preferred]});
        self.browser.devtools("Emulation.setEmulatedMedia", &media);
    }
}

#[test]
fn axe_finds_no_violations_in_any_state() {
    Visit::of(&[]).play(
        r#"accessible empty -> panel adding -> run $('#add').requestSubmit() -> see #add .of-name .error: Name is required
           accessible a form with messages -> run $('#adding-close').click() -> click #start .quiet -> rows 9
           see #picture h2: Chart -> run $$('details').forEach((each) => { each.open = true; })
           accessible filled -> run $('[data-action=delete]').click() -> see #undo: Deleted BB-8
           edit C-3PO -> type ELIZA<Enter> -> see #record .error: Name must be unique -> accessible an edited record
           PUT /api/robots/7 {"name":"C-4PO","type":"droid","year":1} -> type <Enter>
           see .conflict: Keep mine -> accessible a conflict -> type <Escape><Escape>
           choose robots.csv name,type,year\n,droid,1999\nK-9,droid,1977\n
           see #plan-counts: Nothing is stored yet. -> run $('#keep-going').click()
           import -> see #import-outcome: Added 1 robot, failed 1. -> accessible imported -> click #importing-close
           filter type -> tab droid -> type <Space> -> see .scope: Whole catalogue -> accessible a choice of a filter
           filter year -> type x -> see #filter-error: A year has only digits. -> run $('#export').open = true
           accessible a wrong year -> run $('#help').showModal() -> accessible help -> run $('#help').close()
           search nobody -> see #none: No robot has all words of nobody and matches the filter. -> accessible nothing found"#,
    );
}

#[test]
fn axe_finds_no_violations_in_token_and_outage_states() {
    let token = format!("write:sha256:{}", "0".repeat(64));
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_API_TOKENS", &token)];
    let mut visit = Visit::with(&settings);
    visit.play("see #token: This requires a token -> accessible a token is requested");
    visit.stop_server();
    visit.play(
        "panel adding -> run $('#add').requestSubmit() -> see #trouble: The server does not answer.
         accessible the server is unreachable",
    );
}
