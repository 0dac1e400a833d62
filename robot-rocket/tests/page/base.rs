//! The page of a catalogue mounted below a base path.

use std::{net::SocketAddr, sync::Arc, sync::mpsc, thread};

use robot_core::MemoryCatalogue;
use robot_rocket::{Settings, mount};
use rocket::{Config, Orbit, Rocket, fairing::AdHoc};

use crate::{
    browser::Browser,
    process::{TIMEOUT, wait_for},
};

#[test]
fn page_works_under_a_base_path() {
    let figment = Config::figment()
        .merge(("port", 0))
        .merge(("log_level", "off"))
        .merge(("shutdown.grace", 0))
        .merge(("shutdown.mercy", 0));
    let (ready, listening) = mpsc::channel();
    let catalogue = Arc::new(MemoryCatalogue::new());
    let application = mount(
        rocket::custom(figment),
        "/some/base",
        catalogue,
        &Settings::default(),
    )
    .attach(AdHoc::on_liftoff("ready", move |rocket: &Rocket<Orbit>| {
        let address = SocketAddr::new(rocket.config().address, rocket.config().port);
        let sent = ready.send((address, rocket.shutdown()));
        Box::pin(async move { assert!(sent.is_ok()) })
    }));
    let server = thread::spawn(|| rocket::execute(application.launch()).is_ok());
    let (address, shutdown) = listening.recv().unwrap();

    let browser = Browser::open();
    browser.go(&format!("http://{address}/some/base?q=HAL"));
    let here = browser.run("return location.pathname + location.search", &[]);
    assert_eq!(here, "/some/base/?q=HAL");
    let shows = |script: &str| wait_for(script, TIMEOUT, || browser.run(script, &[]) == true);
    shows("return !document.querySelector('#none').hidden");
    browser.go(&format!("http://{address}/some/base/"));
    shows("return !document.querySelector('#start').hidden");
    browser.click("#start .main");
    shows("return document.querySelectorAll('#table .name').length === 9");
    browser.click("footer a");
    shows("return document.querySelectorAll('.operation').length > 0");
    let call = "return document.querySelector('#listRobots pre').textContent";
    let address = format!("curl 'http://{address}/some/base/api/robots'");
    assert_eq!(browser.run(call, &[]), address);
    assert_eq!(browser.console_messages(), [""; 0]);

    shutdown.notify();
    assert!(server.join().unwrap());
}
