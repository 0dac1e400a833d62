//! The measurements, each a function that measures and says what must be reached.

mod adding;
mod growth;
mod loading;
mod mixed;
#[cfg(feature = "postgres")]
mod postgres;
mod reading;
mod search;
mod start;
mod whole_list;
mod yardstick;

use crate::{plan::Plan, table::Row};

/// What measures some rows.
type Measurement = fn(&Plan) -> Result<Vec<Row>, String>;

/// All of them by their names, in the order in which they run.
pub(crate) const ALL: &[(&str, Measurement)] = &[
    ("the load itself against wrk", yardstick::against_wrk),
    ("GET by id over SQLite", reading::one_over_sqlite),
    ("GET by id over memory", reading::one_over_memory),
    ("GET list of 1,000 over SQLite", reading::list_over_sqlite),
    ("GET list of 1,000 over memory", reading::list_over_memory),
    ("POST durable over SQLite", adding::over_sqlite),
    ("mixed GET and POST over SQLite", mixed::over_sqlite),
    ("search in SQLite", search::in_sqlite),
    ("search in memory", search::in_memory),
    ("search in PostgreSQL", search_in_postgres),
    (
        "search for one character in SQLite",
        search::for_one_character,
    ),
    ("whole list from SQLite", whole_list::memory_and_pace),
    ("clients that stop reading", whole_list::stopped_readers),
    ("growth from 1,000 robots", growth::over_sqlite),
    ("loading an empty SQLite store", loading::against_the_shell),
    ("start of the server", start::over_sqlite),
];

#[cfg(feature = "postgres")]
use postgres::search as search_in_postgres;

/// Without the feature there is nothing to measure with.
#[cfg(not(feature = "postgres"))]
#[expect(clippy::unnecessary_wraps, reason = "it stands for one that can fail")]
fn search_in_postgres(_: &Plan) -> Result<Vec<Row>, String> {
    let why = "needs --features postgres and TEST_POSTGRES_URL";
    Ok(vec![Row::not_measured("search in PostgreSQL", why)])
}
