//! Benchmark of searches for texts of every kind, compared with reading all names in their order until
//! the page is full: `cargo bench -p robot-core --features postgres --bench search -- ROBOTS [URL...]`.
//!
//! Without URLs, it creates an SQLite file. A catalogue that is empty is filled, which takes 20 seconds per
//! million robots.

#![expect(clippy::unwrap_used, reason = "a benchmark that fails ends")]

use std::{
    env,
    fmt::Write as _,
    time::{Duration, Instant},
};

use diesel::{
    Connection, QueryableByName, RunQueryDsl, sql_query,
    sql_types::{BigInt, Text},
};
use robot_core::{
    Catalogue, Cursor, Draft, Filter, PageRequest, Restoration, Robot, RobotId, ValidDraft,
};

const WORDS: [&str; 20] = [
    "astro", "atlas", "comet", "delta", "droid", "laser", "lunar", "meteor", "nova", "omega",
    "orion", "probe", "rover", "scout", "sigma", "solar", "titan", "turbo", "vega", "zephyr",
];

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

/// Robots per transaction while a catalogue is filled.
const BATCH: usize = 50_000;

const ROUNDS: usize = 5;

fn main() {
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    let robots = arguments
        .next()
        .map_or(1_000_000, |number| number.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut urls: Vec<String> = arguments.collect();
    if urls.is_empty() {
        urls.push(format!("sqlite://{}/robots.db", folder.path().display()));
    }
    for url in urls {
        let catalogue = robot_core::open(&url).unwrap();
        if catalogue.last_id().unwrap().is_none() {
            fill(catalogue.as_ref(), robots);
        }
        println!("{robots} robots, {}", url.split(':').next().unwrap());
        println!("limit  found      scan    search  ratio  text");
        let mut scan = Scan::new(&url);
        for limit in LIMITS {
            for (kind, text) in TEXTS {
                measure(catalogue.as_ref(), &mut scan, limit, kind, text);
            }
        }
    }
}

/// Adds robots whose numbers are not in the order of their ids.
fn fill(catalogue: &dyn Catalogue, robots: usize) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut numbers: Vec<usize> = (0..robots).collect();
    random.shuffle(&mut numbers);
    let mut ids = (1..).map(|id| RobotId::new(id).unwrap());
    for numbers in numbers.chunks(BATCH) {
        let robots = numbers.iter().map(|number| {
            let mut name = String::new();
            for _ in 0..2 {
                write!(name, "{}-", random.choice(WORDS).unwrap()).unwrap();
            }
            write!(name, "r{number:07}").unwrap();
            let draft = ValidDraft::new(Draft::new(name, "droid", 1977)).unwrap();
            draft.with_id(ids.next().unwrap())
        });
        let robots: Vec<Robot> = robots.collect();
        let last = robots.last().map(Robot::id);
        catalogue
            .restore(&Restoration::new(robots, last).unwrap())
            .unwrap();
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

/// In milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// A connection that compares every name.
enum Scan {
    #[cfg(feature = "sqlite")]
    Sqlite(diesel::SqliteConnection),
    #[cfg(feature = "postgres")]
    Postgres(diesel::PgConnection),
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
            #[cfg(feature = "sqlite")]
            ("sqlite", path) => Self::Sqlite(Connection::establish(path).unwrap()),
            #[cfg(feature = "postgres")]
            _ => Self::Postgres(Connection::establish(url).unwrap()),
        }
    }

    fn names(&mut self, text: &str, limit: usize) -> Vec<Name> {
        let limit = i64::try_from(limit).unwrap();
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(connection) => sql_query(
                "SELECT id, name FROM robots WHERE instr(name, ?) > 0 ORDER BY name LIMIT ?",
            )
            .bind::<Text, _>(text)
            .bind::<BigInt, _>(limit)
            .load(connection),
            #[cfg(feature = "postgres")]
            Self::Postgres(connection) => sql_query(
                "SELECT id, name FROM robots WHERE strpos(name, $1) > 0 ORDER BY name LIMIT $2",
            )
            .bind::<Text, _>(text)
            .bind::<BigInt, _>(limit)
            .load(connection),
        }
        .unwrap()
    }
}
