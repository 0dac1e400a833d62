//! Export of the robots that the list shows.

use std::fs;

use serde_json::json;

use crate::{
    keys::ESCAPE,
    process::{TIMEOUT, wait_for},
    visit::Visit,
};

impl Visit {
    /// Saves files in the folder of the server.
    pub(crate) fn allow_downloads(&self) {
        let folder = self.folder().to_str().unwrap();
        let allowed = json!({"behavior": "allow", "downloadPath": folder});
        self.browser
            .devtools("Browser.setDownloadBehavior", &allowed);
    }

    pub(crate) fn export(&self, title: &str) {
        self.press_on("Export");
        self.press_on(title);
    }

    /// Waits until the browser has saved a file.
    pub(crate) fn wait_for_file(&self, name: &str, content: &str) {
        let path = self.folder().join(name);
        wait_for(name, TIMEOUT, || {
            fs::read_to_string(&path).is_ok_and(|saved| saved == content)
        });
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn current_filter_is_exported_in_each_format() {
    let visit = Visit::of(&["=1+1", "C-3PO", "Marvin"]);
    visit.allow_downloads();
    visit.open("?q=1&year_to=2000&type=droid&sort=-id");
    visit.wait_for_names(&["=1+1"]);
    visit.export("CSV");
    visit.wait_for_file(
        "robots.csv",
        "id,name,type,year,revision\n1,=1+1,droid,1977,1\n",
    );
    visit.export("CSV for spreadsheets");
    visit.wait_for_file(
        "robots.csv",
        "\u{feff}id,name,type,year,revision\n1,'=1+1,droid,1977,1\n",
    );
    visit.export("NDJSON");
    let robot = "{\"id\":\"1\",\"name\":\"=1+1\",\"type\":\"droid\",\"year\":1977,\"revision\":1}";
    visit.wait_for_file("robots.ndjson", &format!("{robot}\n"));
    visit.wait_for_focus("Export");
    visit.press_on("Export");
    visit.tab_to("JSON");
    visit.press(ESCAPE);
    visit.wait_for_focus("Export");
    assert_eq!(
        visit.run("return document.querySelector('#export').open"),
        false
    );
}
