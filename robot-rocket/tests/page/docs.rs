//! The pages about the API.

use serde_json::Value;

use crate::visit::Visit;

impl Visit {
    fn open_docs(&self) {
        self.click("footer a");
        self.wait_for_text("#schemas h2", "Schemas");
    }
}

#[test]
fn docs_describe_every_operation_and_schema() {
    let visit = Visit::of(&[]);
    visit.open_docs();
    let script = "const shown = (selector) => [...document.querySelectorAll(selector)].map((each) => \
                  each.id); return [shown('.operation'), shown('.schema')]";
    let (mut operations, mut schemas): (Vec<String>, Vec<String>) =
        serde_json::from_value(visit.run(script)).unwrap();
    let document = visit.call("GET", "/openapi.json", "");
    let document: Value = serde_json::from_str(&document).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let methods = ["get", "post", "put", "patch", "delete"];
    let described =
        paths.flat_map(|path| methods.map(|method| path[method]["operationId"].as_str()));
    let mut described: Vec<_> = described.flatten().collect();
    operations.sort();
    described.sort_unstable();
    assert_eq!(operations, described);
    let names = document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys();
    let mut expected: Vec<_> = names.map(|name| format!("schema-{name}")).collect();
    schemas.sort();
    expected.sort();
    assert_eq!(schemas, expected);
    let script = "return [...document.querySelectorAll('main a')].map((each) => each.hash.slice(1))\
                  .filter((id) => document.getElementById(id) === null)";
    assert_eq!(visit.run(script), Value::Array(Vec::new()));
    assert_eq!(visit.browser.console_messages(), [""; 0]);
    visit.assert_accessible("docs");
    visit.set_width(320);
    let script = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(script), true);
}
