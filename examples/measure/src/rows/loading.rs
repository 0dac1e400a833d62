//! A large store made from nothing: by the library, robot by robot and every rule checked, and
//! by the shell of SQLite, which imports a CSV into the same tables.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::{
    children, data,
    plan::{Plan, url},
    rounds::{Bound, Series, Unit, thousands},
    subject::wait_for_end,
    table::Row,
};
use diesel::{RunQueryDsl, dsl::sql, sql_types::Text};

/// What the schema of a store is made of, in the order in which it can be made. A virtual table
/// makes tables of its own, whose names begin with its own.
const SCHEMA: &str = "
    SELECT sql FROM sqlite_master AS made
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND NOT EXISTS (
        SELECT * FROM sqlite_master AS maker
        WHERE maker.sql LIKE 'CREATE VIRTUAL TABLE%'
        AND substr(made.name, 1, length(maker.name) + 1) = maker.name || '_'
        AND made.type = 'table'
    )
    ORDER BY CASE WHEN type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL TABLE%' THEN 1
        WHEN type = 'table' THEN 2 WHEN type = 'view' THEN 3 WHEN type = 'index' THEN 4 ELSE 5 END";

pub(super) fn against_the_shell(plan: &Plan) -> Result<Vec<Row>, String> {
    let what = format!(
        "Loading {} robots into an empty SQLite store",
        thousands(plan.many)
    );
    let shell = Command::new("sqlite3")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    if shell.is_err() {
        return Ok(vec![Row::not_measured(what, "sqlite3 is missing")]);
    }
    let schema = schema(&plan.store(0)?)?;
    let csv = plan.new_file("csv");
    write_csv(&csv, plan.many)?;
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for round in 0..plan.rounds {
        ours.push_time(load_by_the_library(plan)?);
        theirs.push_time(load_by_the_shell(plan, &schema, &csv)?);
        plan.say(&format!("round {} of {}", round + 1, plan.rounds));
    }
    let (ratio, bound) = (ours.over(&theirs), Bound::AtMost(3.0));
    let theirs = ("sqlite3 .import", &theirs);
    Ok(vec![Row::compared(
        what,
        Unit::Time,
        &ours,
        theirs,
        &ratio,
        bound,
    )])
}

/// The time until the store is closed again, as the shell closes its own.
fn load_by_the_library(plan: &Plan) -> Result<Duration, String> {
    let path = plan.new_file("db");
    let start = Instant::now();
    let catalogue = robot_core::open(&url(&path)).map_err(|error| error.to_string())?;
    for robot in robot_core::load(catalogue, (1..=plan.many).map(data::draft)) {
        robot.map_err(|error| error.to_string())?;
    }
    let time = start.elapsed();
    complete(&path, plan.many)?;
    remove(&path)?;
    Ok(time)
}

/// The ids are in the CSV, which spares the shell a table or a trigger in between.
fn load_by_the_shell(plan: &Plan, schema: &str, csv: &Path) -> Result<Duration, String> {
    let path = plan.new_file("db");
    let script = format!(
        ".bail on\nPRAGMA journal_mode = WAL;\nPRAGMA synchronous = FULL;\n{schema}\
         BEGIN;\n.mode csv\n.import \"{}\" robots\nCOMMIT;\n",
        csv.display()
    );
    let mut command = Command::new("sqlite3");
    command
        .args(["-batch", "-init", "/dev/null"])
        .arg(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let start = Instant::now();
    let (process, mut pipes) = children::start(&mut command)?;
    let mut input = pipes.stdin.take().ok_or("sqlite3 has no input")?;
    input
        .write_all(script.as_bytes())
        .map_err(|error| format!("sqlite3 takes no input: {error}"))?;
    drop(input);
    wait_for_end(pipes)?;
    process.succeed("sqlite3")?;
    let time = start.elapsed();
    complete(&path, plan.many)?;
    remove(&path)?;
    Ok(time)
}

/// The statements that make the tables of a store.
fn schema(path: &Path) -> Result<String, String> {
    let statements: Vec<String> = sql::<Text>(SCHEMA)
        .load(&mut data::connect(path)?)
        .map_err(|error| format!("cannot read the schema of a store: {error}"))?;
    Ok(statements.join(";\n") + ";\n")
}

fn write_csv(path: &Path, robots: u64) -> Result<(), String> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        for number in 1..=robots {
            let (name, kind) = (data::name(number), data::robot_type(number));
            writeln!(file, "{number},{name},{kind},{}", data::year(number))?;
        }
        file.flush()
    };
    write().map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Fails where a store does not have all the robots.
fn complete(path: &Path, robots: u64) -> Result<(), String> {
    let count: String = sql::<Text>("SELECT CAST(count(*) AS TEXT) FROM robots")
        .get_result(&mut data::connect(path)?)
        .map_err(|error| format!("cannot count what was loaded: {error}"))?;
    if count == robots.to_string() {
        return Ok(());
    }
    Err(format!("{count} robots were loaded instead of {robots}"))
}

fn remove(path: &Path) -> Result<(), String> {
    fs::remove_file(path).map_err(|error| format!("cannot remove {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use diesel::connection::SimpleConnection;

    use super::*;

    #[test]
    fn the_schema_of_a_store_makes_another_that_the_library_takes() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one.db"), folder.path().join("other.db"));
        data::make_sqlite(&one, 1).unwrap();
        data::connect(&one)
            .unwrap()
            .batch_execute(
                "CREATE VIRTUAL TABLE words USING fts5(name); \
                 CREATE TRIGGER added AFTER INSERT ON robots BEGIN \
                 INSERT INTO words (name) VALUES (new.name); END",
            )
            .unwrap();
        let schema_of_one = schema(&one).unwrap();
        let mut connection = data::connect(&other).unwrap();
        connection.batch_execute(&schema_of_one).unwrap();
        assert_eq!(schema(&other).unwrap(), schema_of_one);
        assert!(!schema_of_one.contains("words_"));
        assert!(schema_of_one.contains("CREATE TRIGGER"));
    }
}
