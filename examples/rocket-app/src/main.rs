//! The server program. Its settings are `DATABASE_URL` and Rocket's (`Rocket.toml`, `ROCKET_*`),
//! including those of the catalogue and of connections.

use std::{error::Error, process::ExitCode};

use robot_rocket::{ServeOptions, serve};
use rocket::Config;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rocket-app: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let figment = Config::figment();
    // Reports invalid settings, for which Rocket itself would panic.
    let options = ServeOptions::bind(&figment)?;
    let catalogue = robot_core::open(&robot_rocket::database_url(&figment)?)?;
    let application = rocket_app::application(figment, catalogue)?;
    rocket::execute(serve(application, options))?;
    Ok(())
}
