//! The servers that are measured: this program starts itself as one of them.
//!
//! They are built as the server that is shipped, with one route more, for fixed answers, so
//! that an answer of the catalogue and a fixed one come from the same process.

mod fixed;
mod one_by_one;
mod unsynced;

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
    thread,
};

use diesel::{RunQueryDsl, connection::SimpleConnection, dsl::sql, sql_types::Text};
use robot_core::Catalogue;
use robot_rocket::{Settings, execute, mount, open_options};
use rocket::{Build, Config, Orbit, Rocket, fairing::AdHoc};

use crate::data;

/// What is logged: as by the server that is shipped.
const LOGGED: &str = "warn,rocket=off,_=off";

/// Which server.
#[derive(Debug, clap::Args)]
pub(crate) struct Variant {
    /// The URL of the store.
    #[arg(long)]
    url: String,
    /// Adds so many robots at the start.
    #[arg(long, default_value_t = 0)]
    fill: u64,
    /// Makes each change wait until the one before is committed.
    #[arg(long)]
    one_by_one: bool,
    /// Drops the triggers and the virtual tables of the SQLite file, which are there for the
    /// search alone.
    #[arg(long)]
    without_index: bool,
    /// Serves additions alone, by a server written for that, which does not wait for the disk.
    #[arg(long)]
    unsynced: bool,
}

/// Serves until the standard input is closed, which happens at the latest when the program
/// that measures ends.
pub(crate) fn serve(variant: &Variant) -> Result<(), String> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or(LOGGED)).init();
    let figment = robot_rocket::figment()
        .merge(("port", 0))
        .merge(("address", "127.0.0.1"));
    let message = |error: &dyn std::fmt::Display| error.to_string();
    let settings = Settings::read(&figment).map_err(|error| message(&error))?;
    let options = open_options(&figment).map_err(|error| message(&error))?;
    let catalogue = options
        .open(&variant.url)
        .map_err(|error| message(&error))?;
    for number in 1..=variant.fill {
        catalogue
            .add(data::draft(number))
            .map_err(|error| message(&error))?;
    }
    if variant.without_index {
        drop_index(path(&variant.url)?)?;
    }
    let catalogue: Arc<dyn Catalogue> = if variant.one_by_one {
        Arc::new(one_by_one::OneByOne::new(catalogue))
    } else {
        catalogue
    };
    let config = Config::try_from(&figment).map_err(|error| message(&error))?;
    let rocket = rocket::custom(figment);
    let rocket = if variant.unsynced {
        unsynced::mount(rocket, path(&variant.url)?)?
    } else {
        mount(rocket, "/", catalogue, &settings)
    };
    run(&config, fixed::mount(rocket))
}

fn run(config: &Config, rocket: Rocket<Build>) -> Result<(), String> {
    thread::spawn(|| {
        // Whatever ends the input ends the server.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
    let greeting = AdHoc::on_liftoff("greeting", |rocket: &Rocket<Orbit>| {
        let _ = writeln!(io::stdout(), "http://127.0.0.1:{}", rocket.config().port);
        Box::pin(async {})
    });
    execute(config, rocket.attach(greeting).launch())
        .map_err(|error| format!("cannot wait for requests: {error}"))?
        .map(drop)
        .map_err(|error| format!("cannot serve: {}", error.kind()))
}

/// The file of a store.
fn path(url: &str) -> Result<&Path, String> {
    let path = url.strip_prefix("sqlite://").map(Path::new);
    path.ok_or_else(|| format!("'{url}' is not the URL of an SQLite file"))
}

/// Drops what keeps and has the index of the names in an SQLite file: all triggers and all virtual tables.
fn drop_index(path: &Path) -> Result<(), String> {
    const STATEMENTS: [&str; 2] = [
        "SELECT 'DROP TRIGGER \"' || name || '\"' FROM sqlite_master WHERE type = 'trigger'",
        "SELECT 'DROP TABLE \"' || name || '\"' FROM sqlite_master \
         WHERE sql LIKE 'CREATE VIRTUAL TABLE%'",
    ];
    let cannot = |error| format!("cannot drop the index of {}: {error}", path.display());
    let mut connection = data::connect(path)?;
    for statement in STATEMENTS {
        let drops: Vec<String> = sql::<Text>(statement)
            .load(&mut connection)
            .map_err(cannot)?;
        for drop in drops {
            connection.batch_execute(&drop).map_err(cannot)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triggers_and_virtual_tables_are_dropped_and_robots_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        data::make_sqlite(&path, 3).unwrap();
        let mut connection = data::connect(&path).unwrap();
        connection
            .batch_execute(
                "CREATE VIRTUAL TABLE words USING fts5(name); \
                 CREATE TRIGGER added AFTER INSERT ON robots BEGIN \
                 INSERT INTO words (name) VALUES (new.name); END",
            )
            .unwrap();
        drop_index(&path).unwrap();
        let left =
            "SELECT count(*) || '' FROM sqlite_master WHERE name LIKE 'words%' OR name = 'added'";
        assert_eq!(
            sql::<Text>(left).get_result(&mut connection),
            Ok("0".to_owned())
        );
        let robots = sql::<Text>("SELECT count(*) || '' FROM robots");
        assert_eq!(robots.get_result(&mut connection), Ok("3".to_owned()));
    }
}
