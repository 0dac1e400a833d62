//! The robot catalogue as a REST service on [Rocket](rocket).
//!
//! The server binary `robot-rocket` is [`mount`] at `/` and little else. Another Rocket
//! application takes the catalogue in under a base path, beside routes of its own:
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{Catalogue, MemoryCatalogue};
//! use robot_rocket::Settings;
//!
//! let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
//! let rocket = rocket::build();
//! let settings = Settings::read(rocket.figment())?;
//! // At /robots/api/robots and so on; `catalogue` stays at hand for other routes.
//! let rocket = robot_rocket::mount(rocket, "/robots", catalogue.clone(), &settings);
//! # Ok::<(), robot_rocket::SettingsError>(())
//! ```
//!
//! What is answered is decided by [`robot_core::http`]; this crate moves bytes.

#[cfg(target_os = "linux")]
mod affinity;
mod catchers;
mod driver;
mod files;
mod forms;
mod page;
mod reply;
mod routes;
mod runtime;
mod settings;
mod threads;

use std::sync::Arc;

use robot_core::{Catalogue, http::Api};
use rocket::{Build, Rocket};

use threads::BlockingThreads;

pub use runtime::execute;
pub use settings::{Settings, SettingsError, database_url, figment, open_options};

/// Mounts the catalogue under a base path (`/` or, say, `/catalogue`).
///
/// It takes every path under the base that no other route takes, and answers its errors
/// there in the contract's shape: it registers the catchers for 400 and 500 under the base.
/// The base itself is a web page, whose other files are below `page/`. Where `settings` have a
/// folder of static files, a file of it goes before the page and the catalogue. The application's
/// own routes, also those with a rank up to 1000, win over all of these.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::MemoryCatalogue;
/// use robot_rocket::{Settings, mount};
/// use rocket::{http::Status, local::blocking::Client};
///
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let rocket = mount(rocket::build(), "/robots", catalogue, &Settings::default());
/// let client = Client::untracked(rocket)?;
/// assert_eq!(client.get("/robots/api/robots").dispatch().into_string().as_deref(), Some("[]"));
/// assert_eq!(client.get("/elsewhere").dispatch().status(), Status::NotFound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn mount(
    rocket: Rocket<Build>,
    base: &str,
    catalogue: Arc<dyn Catalogue>,
    settings: &Settings,
) -> Rocket<Build> {
    // Rocket takes no base without a slash before it.
    let base = &format!("/{}", base.trim_matches('/'));
    let api = Api::new(catalogue)
        .behaviour(settings.behaviour)
        .hosts(settings.hosts.clone())
        .access(settings.access.clone())
        .origins(settings.origins.clone())
        .under(base);
    let threads = BlockingThreads::of(rocket.figment());
    let rocket = rocket
        .attach(forms::NoDisguisedHeads::below(base))
        .attach(reply::no_sniffing(base))
        .attach(driver::Listening::default())
        .mount(base, page::routes(base, &api, &threads))
        .mount(base, routes::all(base, &api, &threads))
        .register(base, catchers::all(&api, &threads));
    match &settings.static_dir {
        Some(folder) => rocket.mount(base, files::routes(base, folder, &api)),
        None => rocket,
    }
}

/// The rank of routes that take every path under a base. It is behind those that Rocket or an
/// application give to others, and the deeper a base is, the further in front, so that a
/// catalogue may be mounted below another.
fn rank(behind: isize, base: &str) -> isize {
    let depth = base
        .split('/')
        .filter(|segment| !segment.is_empty())
        .count();
    behind - isize::try_from(depth).unwrap_or(0)
}
