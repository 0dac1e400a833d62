//! Search in a large table of PostgreSQL, on the server of `TEST_POSTGRES_URL`.

use std::{env, process};

use diesel::{
    Connection, PgConnection, RunQueryDsl,
    connection::SimpleConnection,
    dsl::sql,
    sql_types::{BigInt, Text},
};

use super::search::against_a_scan;
use crate::{
    data::{RARE_NEEDLE, insertion},
    plan::Plan,
    table::Row,
};

const VARIABLE: &str = "TEST_POSTGRES_URL";

pub(super) fn search(plan: &Plan) -> Result<Vec<Row>, String> {
    let Ok(server) = env::var(VARIABLE) else {
        let why = format!("{VARIABLE} has no URL of a server");
        return Ok(vec![Row::not_measured("search in PostgreSQL", &why)]);
    };
    let schema = Schema::create(server)?;
    let url = schema.url();
    let catalogue = robot_core::open(&url).map_err(|error| error.to_string())?;
    let mut connection = connect(&url)?;
    plan.say(&format!("making {} robots", plan.many));
    let numbers = format!(
        "generate_series(1, CAST({} AS bigint)) AS numbers(n)",
        plan.many
    );
    run(
        &mut connection,
        &insertion("", &numbers, "lpad(CAST(n AS text), 7, '0')"),
    )?;
    run(&mut connection, "ANALYZE robots")?;
    against_a_scan(plan, "PostgreSQL", &catalogue, || scan(&mut connection))
}

/// A schema of our own, which is dropped in the end.
struct Schema {
    server: String,
    name: String,
}

impl Schema {
    fn create(server: String) -> Result<Self, String> {
        let name = format!("robots_measure_{}", process::id());
        run(&mut connect(&server)?, &format!("CREATE SCHEMA {name}"))?;
        Ok(Self { server, name })
    }

    fn url(&self) -> String {
        let Self { server, name } = self;
        let mark = if server.contains('?') { '&' } else { '?' };
        format!("{server}{mark}options=-csearch_path%3D{name}")
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let drop = format!("DROP SCHEMA {} CASCADE", self.name);
        let dropped = connect(&self.server).and_then(|mut connection| run(&mut connection, &drop));
        if let Err(message) = dropped {
            eprintln!("measure: {message}; drop it by hand");
        }
    }
}

fn connect(url: &str) -> Result<PgConnection, String> {
    PgConnection::establish(url)
        .map_err(|error| format!("cannot reach PostgreSQL: {error}; check {VARIABLE}"))
}

fn run(connection: &mut PgConnection, statement: &str) -> Result<(), String> {
    // The user's sessions may be made to read only, or their statements to end soon.
    connection
        .batch_execute("SET default_transaction_read_only = off; SET statement_timeout = 0")
        .and_then(|()| connection.batch_execute(statement))
        .map_err(|error| format!("PostgreSQL refuses '{statement}': {error}"))
}

/// Looks at every name.
fn scan(connection: &mut PgConnection) -> Result<usize, String> {
    let query = sql::<(BigInt, Text, Text, BigInt)>(
        "SELECT id, name, type, year FROM robots WHERE strpos(name, ",
    )
    .bind::<Text, _>(RARE_NEEDLE)
    .sql(") > 0 ORDER BY name");
    let rows: Vec<(i64, String, String, i64)> = query
        .load(connection)
        .map_err(|error| format!("cannot scan: {error}"))?;
    Ok(rows.len())
}
