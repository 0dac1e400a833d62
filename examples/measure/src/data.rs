//! The robots that are measured with: the same ones in every run, by a rule that both Rust and
//! SQL can follow.

use std::path::Path;

use diesel::{Connection, SqliteConnection, connection::SimpleConnection};
use robot_core::Draft;

use crate::plan::url;

/// Words of names, all of five letters, so that SQL can cut them out of one text.
const WORDS: [&str; 20] = [
    "alpha", "bravo", "cedar", "delta", "ember", "flint", "gamma", "hotel", "india", "jolly",
    "karma", "lemon", "maple", "north", "ocean", "piano", "quart", "river", "tiger", "zebra",
];

/// A part of a name that about 20 robots have, if there are 12,399 or more: those of a hundred
/// numbers whose second word ends with an r.
pub(crate) const RARE_NEEDLE: &str = "r-r00123";

/// A part of a name that about a tenth of the robots have, those with a zebra.
pub(crate) const SHORT_NEEDLE: &str = "z";

/// The types in the order in which the rule takes them.
const TYPES: [&str; 3] = ["droid", "mechanical", "virtual"];

/// Numbers that look like chance: those of Knuth's multiplicative hash.
fn hash(number: u64) -> u64 {
    number.wrapping_mul(2_654_435_761) & 0xffff_ffff
}

/// One of some things, by chance.
fn choose(things: &[&'static str], chance: u64) -> &'static str {
    let count = u64::try_from(things.len()).unwrap_or(1);
    usize::try_from(chance % count).map_or("", |index| things[index])
}

/// The name of the robot of a number, such as `tiger-alpha-r0000123`.
pub(crate) fn name(number: u64) -> String {
    let hash = hash(number);
    let (first, second) = (choose(&WORDS, hash >> 8), choose(&WORDS, hash >> 16));
    format!("{first}-{second}-r{number:07}")
}

/// The robot of a number.
pub(crate) fn draft(number: u64) -> Draft {
    Draft::new(name(number), robot_type(number), year(number))
}

pub(crate) fn robot_type(number: u64) -> &'static str {
    choose(&TYPES, hash(number))
}

pub(crate) fn year(number: u64) -> i64 {
    1900 + i64::try_from(hash(number) % 130).unwrap_or(0)
}

/// Makes an SQLite store with the robots of the numbers from 1.
pub(crate) fn make_sqlite(path: &Path, robots: u64) -> Result<(), String> {
    robot_core::open(&url(path)).map_err(|error| error.to_string())?;
    if robots == 0 {
        return Ok(());
    }
    let numbers = format!(
        "WITH RECURSIVE numbers(n) AS \
         (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {robots})"
    );
    let statement = insertion(&numbers, "numbers", "printf('%07d', n)");
    connect(path)?
        .batch_execute(&statement)
        .map_err(|error| format!("cannot make {robots} robots: {error}"))
}

/// A statement that inserts the robot of each number `n` of a table.
pub(crate) fn insertion(with: &str, numbers: &str, padded: &str) -> String {
    let words = WORDS.concat();
    let word = |shift: u32| {
        format!("substr('{words}', CAST(1 + 5 * ((h >> {shift}) % 20) AS integer), 5)")
    };
    let (first, second) = (word(8), word(16));
    let [zero, one, two] = TYPES;
    format!(
        "INSERT INTO robots (name, type, year) {with} \
         SELECT {first} || '-' || {second} || '-r' || {padded}, \
         CASE h % 3 WHEN 0 THEN '{zero}' WHEN 1 THEN '{one}' ELSE '{two}' END, 1900 + h % 130 \
         FROM (SELECT n, (n * 2654435761) & 4294967295 AS h FROM {numbers}) AS hashed"
    )
}

/// Connects to the file of a store beside the library.
pub(crate) fn connect(path: &Path) -> Result<SqliteConnection, String> {
    let cannot = |error: &dyn std::fmt::Display| format!("cannot open {}: {error}", path.display());
    let mut connection =
        SqliteConnection::establish(&path.display().to_string()).map_err(|error| cannot(&error))?;
    connection
        .batch_execute("PRAGMA busy_timeout = 10000; PRAGMA synchronous = FULL;")
        .map_err(|error| cannot(&error))?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_makes_the_robots_that_rust_makes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots.db");
        make_sqlite(&path, 200).unwrap();
        let catalogue = robot_core::open(&url(&path)).unwrap();
        for number in 1..=200 {
            let robot = catalogue.find(&name(number)).unwrap().unwrap();
            assert_eq!(robot.id().get(), i64::try_from(number).unwrap());
            assert_eq!(Draft::from(robot), draft(number));
        }
    }

    #[test]
    fn about_twenty_names_have_the_rare_part_and_a_tenth_the_short_one() {
        let having = |needle| (1..=20_000).filter(|n| name(*n).contains(needle)).count();
        assert!((12..=28).contains(&having(RARE_NEEDLE)));
        assert!((1_500..=2_500).contains(&having(SHORT_NEEDLE)));
    }
}
