//! Layout, size and base path of the page, and the page about the API.

use std::{net::SocketAddr, sync::Arc, sync::mpsc, thread};

use robot_core::MemoryCatalogue;
use robot_rocket::{Settings, mount};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};
use serde_json::{Value, json};

use crate::visit::Visit;

#[test]
fn narrow_screen_needs_no_horizontal_scrolling() {
    let long = "x".repeat(255);
    let visit = Visit::of_robots(&[
        ("Marvin", "droid", "1977"),
        (&long, "droid", "1977"),
        ("late", "mechanical", "9223372036854775807"),
    ]);
    visit.play(&format!(
        r"choose robots.csv name,type,year,{long}\n{long},toaster,1,\n
          see #plan-counts: Would add no robots, fail 1."
    ));
    for width in [320, 375, 700, 1000, 1600] {
        visit.play(&format!(
            "fits {width} -> run $('[data-action=edit]').click(); $('#add').requestSubmit()
             see #add .of-name .error: name is required -> is fits() == true
             is $$('button, input, select, td').filter((each) => each.checkVisibility() && \
             (each.getBoundingClientRect().right > innerWidth || each.getBoundingClientRect().left < 0))\
             .map((each) => each.outerHTML) == []
             is $$('main button, main input, main select').filter((each) => each.checkVisibility() && \
             (each.offsetHeight < 24 || each.offsetWidth < 24)).map((each) => each.outerHTML) == []
             run $('.edited .of-actions button:last-child').click()"
        ));
    }
}

#[test]
fn page_is_small_and_follows_the_preferred_color_scheme() {
    let visit = Visit::of(&[]);
    let script = "const loaded = [...performance.getEntriesByType('navigation'), \
                  ...performance.getEntriesByType('resource')]; \
                  return [loaded.every((each) => each.name.startsWith(location.origin)), \
                  loaded.length, loaded.reduce((sum, each) => sum + each.encodedBodySize, 0)]";
    let (is_own, files, bytes): (bool, u32, u32) =
        serde_json::from_value(visit.run(script)).unwrap();
    assert!(is_own);
    assert!((10..40).contains(&files), "{files} files");
    assert!((20_000..210_000).contains(&bytes), "{bytes} bytes");
    let brightness = "['backgroundColor', 'color'].map((property) => getComputedStyle(document.body)[property]\
                      .match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))\
                      .map((sum) => sum > 600 ? 'light' : sum < 200 ? 'dark' : sum)";
    visit.play(&format!(r#"is {brightness} == ["light", "dark"]"#));
    visit.prefer("dark");
    visit.play(&format!(r#"is {brightness} == ["dark", "light"]"#));
}

#[test]
fn docs_describe_every_operation_and_schema() {
    let visit = Visit::of(&[]);
    let document = visit.call("GET", "/openapi.json", "");
    let document: Value = serde_json::from_str(&document).unwrap();
    let paths = document["paths"].as_object().unwrap().values();
    let methods = ["get", "post", "put", "patch", "delete"];
    let operations =
        paths.flat_map(|path| methods.map(|method| path[method]["operationId"].as_str()));
    let mut operations: Vec<_> = operations.flatten().collect();
    operations.sort_unstable();
    let schemas = document["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys();
    let mut schemas: Vec<_> = schemas.map(|name| format!("schema-{name}")).collect();
    schemas.sort();
    let ids = "map((each) => each.id).sort()";
    visit.play(&format!(
        "click footer a -> see #schemas h2: Schemas
         is $$('.operation').{ids} == {}
         is $$('.schema').{ids} == {}
         is $$('main a').filter((each) => !document.getElementById(each.hash.slice(1))).length == 0
         accessible docs -> fits 320",
        json!(operations),
        json!(schemas)
    ));
}

#[test]
fn page_works_under_a_base_path() {
    let figment = Config::figment()
        .merge(("port", 0))
        .merge(("log_level", "off"))
        .merge(("shutdown.grace", 0))
        .merge(("shutdown.mercy", 0));
    let (ready, listening) = mpsc::channel();
    let application = mount(
        rocket::custom(figment),
        "/some/base",
        Arc::new(MemoryCatalogue::new()),
        &Settings::default(),
    )
    .attach(AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        let sent = ready.send((address, rocket.shutdown()));
        Box::pin(async move { assert!(sent.is_ok()) })
    }));
    let server = thread::spawn(|| rocket::execute(application.launch()).is_ok());
    let (address, shutdown) = listening.recv().unwrap();
    Visit::at(address).play(&format!(
        r#"open some/base?q=HAL -> is location.pathname + location.search == "/some/base/?q=HAL"
           is $('#none').hidden == false -> open some/base/ -> is $('#start').hidden == false
           click #start .main -> rows 9 -> click footer a -> is $$('.operation').length > 0 == true
           is $('#listRobots pre').textContent == "curl 'http://{address}/some/base/api/robots'""#
    ));
    shutdown.notify();
    assert!(server.join().unwrap());
}
