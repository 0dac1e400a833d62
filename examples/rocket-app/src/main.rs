//! The server program. Its settings are `DATABASE_URL` and Rocket's (`Rocket.toml`, `ROCKET_*`),
//! including those of the catalogue.

use std::{error::Error, process::ExitCode};

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
    // Reports an invalid setting of Rocket, for which Rocket itself would panic.
    figment.extract::<Config>()?;
    let catalogue = robot_core::open(&robot_rocket::database_url(&figment)?)?;
    let application = rocket_app::application(figment, catalogue)?;
    rocket::execute(application.launch())?;
    Ok(())
}
