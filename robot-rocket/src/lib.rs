//! The robot catalogue as a REST service on [Rocket](rocket).
//!
//! The server binary `robot-rocket` is little more than [`mount`] at `/`. Another Rocket application
//! can mount the catalogue under a base path, beside its own routes:
//!
//! ```
//! use std::sync::Arc;
//! use robot_core::{Catalogue, MemoryCatalogue};
//! use robot_rocket::Settings;
//!
//! let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
//! let rocket = rocket::build();
//! let settings = Settings::read(rocket.figment())?;
//! // At /robots/api/robots and so on; other routes can use `catalogue`, too.
//! let rocket = robot_rocket::mount(rocket, "/robots", catalogue.clone(), &settings);
//! # Ok::<(), robot_rocket::SettingsError>(())
//! ```
//!
//! [`robot_core::http`] determines all answers; this crate transports them.

mod body;
mod files;
mod health;
mod import_client;
mod metrics;
mod mounted;
#[cfg(any(feature = "otlp", feature = "server"))]
mod otel;
mod page;
mod permits;
mod rare_warning;
mod routes;
mod routing;
mod runtime;
mod serve;
mod settings;
mod tls;
#[cfg(feature = "otlp")]
mod traces;

use std::sync::Arc;

use robot_core::{Catalogue, http::Api};
use rocket::{Build, Rocket, fairing::AdHoc};

use mounted::{Catalogues, Mounted};
use permits::BlockingPermits;

pub use health::mount_health;
#[cfg(feature = "server")]
pub use metrics::serve_metrics;
pub use runtime::execute;
pub use serve::{ServeError, ServeOptions, serve};
#[cfg(feature = "server")]
pub use settings::ServerSettings;
pub use settings::{ConnectionLimits, Settings, SettingsError, database_url, figment};
pub use tls::Certificates;
#[cfg(feature = "otlp")]
pub use traces::TraceExport;

/// Mounts the catalogue under a base path (`/` or, say, `/catalogue`).
///
/// Files of a mounted catalogue are never served, by any name; the application's own routes must not open
/// them either (see [`Catalogue::files`]). [`Settings::check_store`] finds a folder of static files that has them.
///
/// The routes match every path under the base, and the catchers for 400 and 500 under the base answer
/// errors in the contract's shape. The base itself is a web page, whose other files are below
/// `page/`. If `settings` have a folder of static files, its files take precedence over the page and
/// the catalogue. The application's own routes with a rank up to 1000 take precedence over all of
/// these.
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
    // Rocket requires a slash at the start.
    let base = &format!("/{}", base.trim_matches('/'));
    let files = catalogue.files();
    let permits = BlockingPermits::new(rocket.figment());
    let mut api = settings.api.clone();
    api.base.clone_from(base);
    let mounted = Mounted {
        base: base.trim_end_matches('/').to_owned(),
        api: Api::with_settings(catalogue, api),
        permits,
        files,
    };
    let api = mounted.api.clone();
    let stop = AdHoc::on_shutdown("end of waiting requests", move |_| {
        Box::pin(async move { api.stop_waiting() })
    });
    let rocket = Catalogues::add(rocket, mounted.clone())
        .attach(stop)
        .mount(base, routes::all(&mounted))
        .register(base, routes::catchers(&mounted));
    match &settings.static_dir {
        Some(folder) => rocket.mount(base, files::routes(&mounted, folder)),
        None => rocket,
    }
}
