//! Search in a large store, through the library, against a look at every name.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use diesel::{
    RunQueryDsl, SqliteConnection,
    connection::DefaultLoadingMode,
    dsl::sql,
    sql_types::{BigInt, Text},
};
use robot_core::{Catalogue, MemoryCatalogue, Pages};

use crate::{
    data::{self, RARE_NEEDLE, SHORT_NEEDLE},
    plan::{Plan, url},
    rounds::{Bound, Series, Unit, thousands},
    table::Row,
};

/// How long the same search is repeated, so that its time is one among many.
const REPEATED: Duration = Duration::from_millis(200);

pub(super) fn in_sqlite(plan: &Plan) -> Result<Vec<Row>, String> {
    let path = plan.store(plan.many)?;
    let catalogue = robot_core::open(&url(&path)).map_err(|error| error.to_string())?;
    let mut connection = data::connect(&path)?;
    against_a_scan(plan, "SQLite", &catalogue, || {
        scan(&mut connection, RARE_NEEDLE)
    })
}

pub(super) fn in_memory(plan: &Plan) -> Result<Vec<Row>, String> {
    let catalogue: Arc<dyn Catalogue> = Arc::new(MemoryCatalogue::new());
    for number in 1..=plan.many {
        catalogue
            .add(data::draft(number))
            .map_err(|error| error.to_string())?;
    }
    let mut ours = Series::default();
    for round in 0..plan.rounds {
        let (time, found) = repeated(&catalogue)?;
        ours.push_time(time);
        plan.say(&format!(
            "round {} of {}: {found} found",
            round + 1,
            plan.rounds
        ));
    }
    let what = what("memory", plan);
    Ok(vec![Row::value(
        what,
        Unit::Time,
        &ours,
        Bound::Below(0.005),
    )])
}

/// The search for the rare part of a name, by itself and against a scan.
pub(super) fn against_a_scan(
    plan: &Plan,
    store: &str,
    catalogue: &Arc<dyn Catalogue>,
    mut scan: impl FnMut() -> Result<usize, String>,
) -> Result<Vec<Row>, String> {
    let (mut ours, mut scans) = (Series::default(), Series::default());
    // What is read for the first time would be read for both.
    scan()?;
    for round in 0..plan.rounds {
        let (time, found) = repeated(catalogue)?;
        ours.push_time(time);
        let start = Instant::now();
        let scanned = scan()?;
        scans.push_time(start.elapsed());
        same(found, scanned)?;
        plan.say(&format!(
            "round {} of {}: {found} found",
            round + 1,
            plan.rounds
        ));
    }
    let (what, ratio) = (what(store, plan), scans.over(&ours));
    let scans = ("a scan", &scans);
    let (time, times) = (Bound::Below(0.001), Bound::AtLeast(50.0));
    Ok(vec![
        Row::value(what.clone(), Unit::Time, &ours, time),
        Row::compared(
            format!("{what}: times faster"),
            Unit::Time,
            &ours,
            scans,
            &ratio,
            times,
        ),
    ])
}

/// All pages of the robots with one character in their names, against one statement that
/// reads the same robots.
pub(super) fn for_one_character(plan: &Plan) -> Result<Vec<Row>, String> {
    let path = plan.store(plan.many)?;
    let catalogue = robot_core::open(&url(&path)).map_err(|error| error.to_string())?;
    let mut connection = data::connect(&path)?;
    let (mut ours, mut scans) = (Series::default(), Series::default());
    scan(&mut connection, SHORT_NEEDLE)?;
    for round in 0..plan.rounds {
        let start = Instant::now();
        let mut found = 0;
        for page in Pages::new(&catalogue, SHORT_NEEDLE) {
            found += page.map_err(|error| error.to_string())?.len();
        }
        ours.push_time(start.elapsed());
        let start = Instant::now();
        let scanned = scan(&mut connection, SHORT_NEEDLE)?;
        scans.push_time(start.elapsed());
        same(found, scanned)?;
        plan.say(&format!(
            "round {} of {}: {found} found",
            round + 1,
            plan.rounds
        ));
    }
    let what = format!(
        "Search for '{SHORT_NEEDLE}' in SQLite, {} robots, all pages",
        thousands(plan.many)
    );
    let ratio = scans.over(&ours);
    let (scans, bound) = (("a scan", &scans), Bound::AtLeast(0.9));
    Ok(vec![Row::compared(
        what,
        Unit::Time,
        &ours,
        scans,
        &ratio,
        bound,
    )])
}

fn what(store: &str, plan: &Plan) -> String {
    format!(
        "Search for '{RARE_NEEDLE}' in {store}, {} robots",
        thousands(plan.many)
    )
}

/// The median time of the search, and how many robots it finds.
fn repeated(catalogue: &Arc<dyn Catalogue>) -> Result<(Duration, usize), String> {
    let (mut times, began) = (Series::default(), Instant::now());
    loop {
        let start = Instant::now();
        let found = catalogue
            .search(RARE_NEEDLE)
            .map_err(|error| error.to_string())?;
        times.push_time(start.elapsed());
        if began.elapsed() >= REPEATED {
            return Ok((Duration::from_secs_f64(times.median()), found.len()));
        }
    }
}

/// Fails where one way finds other robots than the other.
fn same(found: usize, scanned: usize) -> Result<(), String> {
    if found == scanned {
        return Ok(());
    }
    Err(format!(
        "the library finds {found} robots, and a scan {scanned}"
    ))
}

/// Looks at every name, and reads the robots that have the part one by one, by name.
fn scan(connection: &mut SqliteConnection, needle: &str) -> Result<usize, String> {
    let cannot = |error| format!("cannot scan: {error}");
    let query = sql::<(BigInt, Text, Text, BigInt)>(
        "SELECT id, name, type, year FROM robots WHERE instr(name, ",
    )
    .bind::<Text, _>(needle)
    .sql(") > 0 ORDER BY name");
    let rows = query
        .load_iter::<(i64, String, String, i64), DefaultLoadingMode>(connection)
        .map_err(cannot)?;
    let mut found = 0;
    for row in rows {
        row.map_err(cannot)?;
        found += 1;
    }
    Ok(found)
}
