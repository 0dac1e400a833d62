//! Example application: the website of a museum with the robot catalogue under `/catalogue`.
//!
//! [`robot_rocket::mount`] affects neither the other routes of the application nor their errors, and
//! the application's own handlers use the same catalogue.

use std::sync::Arc;

use robot_core::{Catalogue, Error, Field, Pages};
use robot_rocket::{Settings, SettingsError};
use rocket::{
    Build, Request, Rocket, State, catch, catchers, figment::Figment, get, http::Status, routes,
    tokio::task::spawn_blocking, uri,
};

/// The base path: the robots are at `/catalogue/api/robots`.
const CATALOGUE: &str = "/catalogue";

/// The application over a catalogue, with the settings of both.
///
/// # Errors
/// A setting of the catalogue, such as `behaviour` or `static_dir`, is invalid.
pub fn application(
    figment: Figment,
    catalogue: Arc<dyn Catalogue>,
) -> Result<Rocket<Build>, SettingsError> {
    let settings = Settings::read(&figment)?;
    let rocket = rocket::custom(figment)
        .manage(Arc::clone(&catalogue))
        .mount("/", routes![welcome, census])
        .register("/", catchers![nothing_here]);
    Ok(robot_rocket::mount(rocket, CATALOGUE, catalogue, &settings))
}

#[get("/")]
fn welcome() -> String {
    let census = uri!(census);
    format!(
        "Welcome to the museum of robots!\n\n\
         All of them:     {CATALOGUE}/api/robots\n\
         How many of each: {census}\n"
    )
}

/// Counts the robots of each type, on a blocking thread, because the database may block.
#[get("/census")]
async fn census(catalogue: &State<Arc<dyn Catalogue>>) -> Result<String, (Status, String)> {
    let catalogue = Arc::clone(catalogue);
    let census = spawn_blocking(move || count(&catalogue)).await;
    let census = census.unwrap_or_else(|error| Err(Error::store(error)));
    census.map_err(|error| {
        let status = match error {
            Error::ReadOnly(_) => Status::Forbidden,
            Error::Unavailable(_) | Error::DiskFull(_) | Error::RestartRequired(_) => {
                Status::ServiceUnavailable
            }
            _ => Status::InternalServerError,
        };
        (status, format!("{error}\n"))
    })
}

/// A line for each type. The robots are read page by page, because there may be millions.
fn count(catalogue: &dyn Catalogue) -> Result<String, Error> {
    let mut counts: Vec<_> = Field::TYPE
        .choices()
        .iter()
        .map(|kind| (kind, 0_u64))
        .collect();
    for page in Pages::new(catalogue, "") {
        for robot in page? {
            for (kind, count) in &mut counts {
                *count += u64::from(Some(&***kind) == robot.robot_type());
            }
        }
    }
    let lines = counts
        .iter()
        .map(|(kind, count)| format!("{kind}: {count}\n"));
    Ok(lines.collect())
}

#[catch(404)]
fn nothing_here(request: &Request<'_>) -> String {
    format!("The museum has no room {}\n", request.uri().path())
}
