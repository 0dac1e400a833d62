//! The server of the application. Its settings are Rocket's (`Rocket.toml`, `ROCKET_*`), with
//! those of the catalogue among them, and `DATABASE_URL`.

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
    // Rocket itself panics where a setting of its own is wrong; this tells it in a line.
    figment.extract::<Config>()?;
    let catalogue = robot_core::open(&robot_rocket::database_url(&figment)?)?;
    let application = rocket_app::application(figment, catalogue)?;
    rocket::execute(application.launch())?;
    Ok(())
}
