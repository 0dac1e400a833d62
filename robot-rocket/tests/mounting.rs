//! The routes of the catalogue in an application with other routes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::PathBuf, sync::Arc};

use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue};
use robot_rocket::{Settings, mount, mount_health};
use rocket::{Build, Rocket, fs::FileServer, get, http::Status, local::blocking::Client, routes};

#[get("/")]
fn start() -> &'static str {
    "the application's own"
}

#[get("/api/robots/<_id>", rank = 1000)]
fn shadow(_id: &str) -> &'static str {
    "the application's robot"
}

fn catalogue(name: &str) -> Arc<dyn Catalogue> {
    let catalogue = MemoryCatalogue::new();
    catalogue.add(Draft::new(name, "droid", 1977)).unwrap();
    Arc::new(catalogue)
}

fn get(client: &Client, path: &str) -> String {
    let response = client.get(path.to_owned()).dispatch();
    response.into_string().unwrap_or_default()
}

/// An application with the catalogue of R2-D2.
fn launch_at(rocket: Rocket<Build>, base: &str, settings: &Settings) -> Client {
    launch(mount(rocket, base, catalogue("R2-D2"), settings))
}

fn launch(rocket: Rocket<Build>) -> Client {
    Client::untracked(rocket).unwrap()
}

const LIST: &str = r#"[{"id":"1","name":"R2-D2"}]"#;

/// Settings with a folder of static files.
fn serving(folder: impl Into<PathBuf>) -> Settings {
    let mut settings = Settings::default();
    settings.static_dir = Some(folder.into());
    settings
}

#[test]
fn own_routes_and_files_take_precedence_at_the_same_base() {
    let (own, ours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(own.path().join("own.txt"), "own").unwrap();
    fs::write(ours.path().join("ours.txt"), "ours").unwrap();
    let rocket = rocket::build().mount("/", routes![start, shadow]);
    let rocket = rocket.mount("/", FileServer::from(own.path()).rank(-20));
    let client = launch_at(rocket, "/", &serving(ours.path()));
    for (path, expected) in [
        ("/", "the application's own"),
        ("/api/robots/1", "the application's robot"),
        ("/api/robots", LIST),
        ("/own.txt", "own"),
        ("/ours.txt", "ours"),
    ] {
        assert_eq!(get(&client, path), expected);
    }
}

#[test]
fn catalogue_can_be_mounted_below_another() {
    let settings = Settings::default();
    let rocket = mount(rocket::build(), "/", catalogue("new"), &settings);
    let rocket = mount(rocket, "/archive", catalogue("old"), &settings);
    let client = launch(rocket);
    assert_eq!(get(&client, "/api/robots"), r#"[{"id":"1","name":"new"}]"#);
    assert_eq!(
        get(&client, "/archive/api/robots"),
        r#"[{"id":"1","name":"old"}]"#
    );
    let message = get(&client, "/archive/nothing");
    assert!(
        message.contains("the paths are /archive/api/robots,"),
        "{message}"
    );
}

#[test]
fn slashes_around_the_base_are_optional() {
    for base in ["archive", "/archive", "archive/", "/archive/", ""] {
        let client = launch_at(rocket::build(), base, &Settings::default());
        let path = if base.is_empty() { "" } else { "/archive" };
        assert_eq!(get(&client, &format!("{path}/api/robots")), LIST, "{base}");
    }
}

#[test]
fn page_is_at_the_base_with_a_slash() {
    let client = launch_at(rocket::build(), "/some/archive", &Settings::default());
    let without = client.get("/some/archive?q=R2").dispatch();
    assert_eq!(without.status(), Status::Found);
    // Relative, because the base may have another path at a proxy.
    assert_eq!(
        without.headers().get_one("location"),
        Some("./archive/?q=R2")
    );
    assert!(get(&client, "/some/archive/").starts_with("<!doctype html>"));
    assert!(get(&client, "/some/archive/page/app.js").starts_with("//"));
    for elsewhere in ["/", "/some", "/page/app.js", "/some/archivex"] {
        let answer = client.get(elsewhere).dispatch();
        assert_eq!(answer.status(), Status::NotFound, "{elsewhere}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn file_of_another_catalogue_is_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let url = format!("sqlite://{}", path("robots.db").display());
    let other = robot_core::open(&url).unwrap();
    let rocket = mount(rocket::build(), "/x", other, &Settings::default());
    fs::create_dir(path("files")).unwrap();
    fs::hard_link(path("robots.db-wal"), path("files/log.txt")).unwrap();
    fs::write(path("files/a.txt"), "a").unwrap();
    let client = launch_at(rocket, "/y", &serving(path("files")));
    assert_eq!(get(&client, "/y/a.txt"), "a");
    let answer = client.get("/y/log.txt").dispatch();
    assert_eq!(answer.status(), Status::NotFound);
}

#[test]
fn static_dir_can_be_any_path_to_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("files")).unwrap();
    fs::write(folder.path().join("files/a.txt"), "a").unwrap();
    std::os::unix::fs::symlink("files", folder.path().join("link")).unwrap();
    for path in ["files/", "files/../files", "link", "./link/."] {
        let client = launch_at(rocket::build(), "/x", &serving(folder.path().join(path)));
        assert_eq!(get(&client, "/x/a.txt"), "a", "{path}");
    }
}

#[test]
fn stopping_application_is_alive_and_not_ready() {
    let client = launch(mount_health(rocket::build(), catalogue("R2-D2")));
    assert_eq!(get(&client, "/readyz"), "ready\n");
    client.rocket().shutdown().notify();
    assert_eq!(get(&client, "/readyz"), "the server is stopping\n");
    let response = client.get("/readyz").dispatch();
    assert_eq!(response.status(), Status::ServiceUnavailable);
    assert_eq!(get(&client, "/livez"), "alive\n");
}
