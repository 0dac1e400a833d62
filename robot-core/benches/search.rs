//! Benchmark of searches for texts of every kind, compared with reading all names in their order until
//! the page is full: `cargo bench -p robot-core --features postgres --bench search -- ROBOTS [URL...]`.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

mod million;

use std::time::Instant;

use diesel::{
    Connection, QueryableByName, RunQueryDsl, sql_query,
    sql_types::{BigInt, Text},
};
use million::median;
use robot_core::{Catalogue, Cursor, Filter, PageRequest, conformance::PostgresConnection};

/// Texts, and in which names like `vega-titan-r0012345` they are.
const TEXTS: [(&str, &str); 16] = [
    ("one name", "-r0012345"),
    ("its number alone", "0012345"),
    ("a long text of one name", "r0012345"),
    ("few, of common trigrams", "titan-titan-r001"),
    ("few, of common and rare trigrams", "ta-vega-r0012"),
    ("one in 400, common trigrams", "vega-titan-r0"),
    ("one in 400", "titan-titan"),
    ("one in 400, last names", "zephyr-zephyr"),
    ("one in 400, soon in order", "astro-titan"),
    ("one in 10", "titan"),
    ("every name", "-r0"),
    ("absent, of common trigrams", "titan-titan-titan"),
    ("absent, of absent trigrams", "xyzzy"),
    ("one character", "z"),
    ("two characters", "9z"),
    ("one character, absent", "Z"),
];

const LIMITS: [usize; 2] = [50, 1000];

const ROUNDS: usize = 5;

fn main() {
    for subject in million::subjects() {
        println!("{}", subject.url);
        println!("limit  found      scan    search  ratio  text");
        let mut scan = Scan::new(&subject.url);
        for limit in LIMITS {
            for (kind, text) in TEXTS {
                measure(subject.catalogue.as_ref(), &mut scan, limit, kind, text);
            }
        }
    }
}

/// Prints the medians of alternating rounds.
fn measure(catalogue: &dyn Catalogue, scan: &mut Scan, limit: usize, kind: &str, text: &str) {
    let mut scans = Vec::new();
    let mut searches = Vec::new();
    let mut found = 0;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        found = scan.names(text, limit).len();
        scans.push(started.elapsed());
        let started = Instant::now();
        let request = PageRequest {
            filter: &Filter::from(text),
            cursor: &Cursor::default(),
            limit,
        };
        let entries = catalogue.entries(request).unwrap();
        searches.push(started.elapsed());
        assert_eq!(entries.len(), found, "{text}");
    }
    let (scan, search) = (median(scans), median(searches));
    let ratio = search / scan;
    println!("{limit:5}  {found:5}  {scan:8.2}  {search:8.2}  {ratio:5.2}  {text:18} {kind}");
}

/// A connection that compares every name.
enum Scan {
    Sqlite(diesel::SqliteConnection),
    Postgres(Box<PostgresConnection>),
}

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    #[expect(dead_code, reason = "it is read to be loaded")]
    name: String,
}

impl Scan {
    fn new(url: &str) -> Self {
        match url.split_once("://").unwrap() {
            ("sqlite", path) => Self::Sqlite(Connection::establish(path).unwrap()),
            _ => Self::Postgres(Box::new(Connection::establish(url).unwrap())),
        }
    }

    fn names(&mut self, text: &str, limit: usize) -> Vec<Name> {
        let limit = i64::try_from(limit).unwrap();
        match self {
            Self::Sqlite(connection) => sql_query(
                "SELECT id, name FROM robots WHERE instr(name, ?) > 0 ORDER BY name LIMIT ?",
            )
            .bind::<Text, _>(text)
            .bind::<BigInt, _>(limit)
            .load(connection),
            Self::Postgres(connection) => sql_query(
                "SELECT id, name FROM robots WHERE strpos(name, $1) > 0 ORDER BY name LIMIT $2",
            )
            .bind::<Text, _>(text)
            .bind::<BigInt, _>(limit)
            .load(connection.as_mut()),
        }
        .unwrap()
    }
}
