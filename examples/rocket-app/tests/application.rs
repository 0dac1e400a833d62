//! The application and the catalogue in it: pages, data and errors.

#![expect(
    clippy::unwrap_used,
    reason = "an application that cannot be built fails its test"
)]

use std::sync::Arc;

use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue};
use rocket::{
    Config,
    http::{ContentType, Status},
    local::blocking::Client,
};

fn client() -> (Client, Arc<dyn Catalogue>) {
    let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    let figment = Config::figment().merge(("log_level", "off"));
    let application = rocket_app::application(figment, Arc::clone(&catalogue)).unwrap();
    (Client::untracked(application).unwrap(), catalogue)
}

fn get(client: &Client, path: &str) -> (Status, Option<ContentType>, String) {
    let response = client.get(path).dispatch();
    let head = (response.status(), response.content_type());
    (head.0, head.1, response.into_string().unwrap_or_default())
}

fn text(status: Status, body: &str) -> (Status, Option<ContentType>, String) {
    (status, Some(ContentType::Plain), body.to_owned())
}

#[test]
fn welcome_page_lists_existing_paths() {
    let (client, _) = client();
    let (status, _, page) = get(&client, "/");
    assert_eq!(status, Status::Ok);
    let paths: Vec<_> = page
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
        .collect();
    assert_eq!(paths, ["/catalogue/api/robots", "/census"]);
    for path in paths {
        assert_eq!(get(&client, path).0, Status::Ok, "{path}");
    }
}

#[test]
fn robots_added_over_http_are_counted() {
    let (client, _) = client();
    assert_eq!(
        get(&client, "/census"),
        text(Status::Ok, "droid: 0\nmechanical: 0\nvirtual: 0\n")
    );
    for (name, kind) in [("R2-D2", "droid"), ("C-3PO", "droid"), ("HAL", "virtual")] {
        let robot = format!(r#"{{"name":"{name}","type":"{kind}","year":1977}}"#);
        let response = client.post("/catalogue/api/robots").body(robot).dispatch();
        assert_eq!(response.status(), Status::Created);
    }
    assert_eq!(
        get(&client, "/census"),
        text(Status::Ok, "droid: 2\nmechanical: 0\nvirtual: 1\n")
    );
}

#[test]
fn robots_added_by_the_application_are_served() {
    let (client, catalogue) = client();
    catalogue.add(Draft::new("Marvin", "droid", 1978)).unwrap();
    let (status, _, list) = get(&client, "/catalogue/api/robots");
    assert_eq!(
        (status, list.as_str()),
        (Status::Ok, r#"[{"id":"1","name":"Marvin"}]"#)
    );
}

#[test]
fn unknown_paths_return_the_404_of_their_owner() {
    let (client, _) = client();
    for path in ["/nowhere", "/api/robots", "/cataloguex/api/robots"] {
        let message = format!("The museum has no room {path}\n");
        assert_eq!(get(&client, path), text(Status::NotFound, &message));
    }
    for path in ["/catalogue/nowhere", "/catalogue/api/robots/x"] {
        let (status, _, body) = get(&client, path);
        assert_eq!(status, Status::NotFound, "{path}");
        assert!(
            body.starts_with(r#"{"status":"ERROR","messages":["#),
            "{path}: {body}"
        );
    }
}

#[test]
fn catalogue_serves_its_web_page() {
    let (client, _) = client();
    let (status, kind, page) = get(&client, "/catalogue/");
    assert_eq!((status, kind), (Status::Ok, Some(ContentType::HTML)));
    assert!(page.contains("Robot Catalogue"), "{page}");
}

#[test]
fn invalid_setting_is_rejected() {
    let figment = Config::figment().merge(("behaviour", "C"));
    let error = rocket_app::application(figment, Arc::new(MemoryCatalogue::new()))
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("'C'"), "{error}");
}
