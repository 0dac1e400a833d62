//! Check of a database file, which is not changed: SQLite's own check, and the search index.

use std::{borrow::Cow, collections::BTreeSet, ops::ControlFlow, sync::Arc};

use diesel::{
    Connection, QueryResult, RunQueryDsl, SqliteConnection,
    connection::{DefaultLoadingMode, SimpleConnection},
    dsl::sql,
    sql_types::{BigInt, Binary, Nullable, Text},
};

use super::{background::run_while, backup::is_of_search_index};
use crate::database::sqlite::{
    connect::{DatabaseFile, Purpose},
    errors::{classify, is_damaged, is_locked, is_malformed},
    store::SqliteCatalogue,
};
use crate::{
    catalogue::{
        Check, CheckError, CheckReport, Error, OpenError, OpenOptions, check::FINDING_LIMIT,
    },
    database::{define::KnownDefinition, migrations::must_be_readable},
};

/// Checks the database of a URL until `next` breaks.
pub(crate) fn check(
    url: &str,
    options: &OpenOptions,
    next: &mut (dyn FnMut(u64) -> ControlFlow<()> + '_),
) -> Result<CheckReport, CheckError> {
    let file = DatabaseFile::unchanged_from_url(url, options)?;
    file.pin()?;
    let of_thread = file.clone();
    let checked = run_while("robot-check", || next(0), move || check_file(&of_thread));
    let checked = checked.map_err(|error| file.cannot_open(error.into()))?;
    let mut findings = checked.ok_or(CheckError::Cancelled)??;
    if matches!(&findings[..], [(Check::File, found)] if !found.is_empty()) {
        return Ok(CheckReport {
            findings,
            ..CheckReport::default()
        });
    }
    let definition = Arc::new(KnownDefinition::default());
    let catalogue = SqliteCatalogue::reading(file, options, &definition);
    catalogue.refresh()?;
    let mut of_robots = crate::check(&catalogue, next)?;
    findings.append(&mut of_robots.findings);
    Ok(CheckReport {
        findings,
        ..of_robots
    })
}

/// The checks of the file alone.
fn check_file(file: &DatabaseFile) -> Result<Vec<(Check, Vec<String>)>, CheckError> {
    // Not `Read`, which could not create the table of `count_entries`. The file is opened read-only.
    let opened = file.reader(Purpose::Write).and_then(|mut reader| {
        must_be_readable(&mut reader.connection, &file.name())
            .map_err(|error| file.cannot_open(error))?;
        Ok(reader)
    });
    let mut reader = match opened {
        Err(OpenError::Unusable { cause, .. }) if is_malformed(cause.as_ref()) => {
            return Ok(damaged(cause.to_string()));
        }
        opened => opened?,
    };
    // One snapshot: the index and the names belong together.
    let checked = reader.read(|connection| connection.transaction(check_contents));
    match checked {
        Ok(outcomes) => Ok(outcomes),
        // Without the remedy of `classify`, which is this check.
        Err(error) if is_damaged(&error) => Ok(damaged(error.to_string())),
        Err(error) => match classify(error) {
            Error::Store(cause) => Ok(damaged(cause.to_string())),
            error => Err(error.into()),
        },
    }
}

fn check_contents(connection: &mut SqliteConnection) -> QueryResult<Vec<(Check, Vec<String>)>> {
    let findings = sql::<Text>(&format!("PRAGMA integrity_check({FINDING_LIMIT})"))
        .load::<String>(connection)?;
    let (of_index, of_file): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .filter(|finding| finding != "ok")
        .partition(|finding| is_of_search_index(finding));
    if !of_file.is_empty() {
        return Ok(vec![(Check::File, of_file)]);
    }
    let mut index = match check_index(connection)? {
        Ok(findings) => findings,
        Err(finding) => return Ok(damaged(finding)),
    };
    index.splice(0..0, of_index);
    index.truncate(FINDING_LIMIT);
    Ok(vec![(Check::File, Vec::new()), (Check::SearchIndex, index)])
}

/// The findings of a file that no other check can read.
fn damaged(finding: String) -> Vec<(Check, Vec<String>)> {
    vec![(Check::File, vec![finding])]
}

/// The findings about the search index, which has as many entries as the trigrams of the search texts. The inner
/// error is a name that is not text, or empty.
fn check_index(connection: &mut SqliteConnection) -> QueryResult<Result<Vec<String>, String>> {
    let mut findings = Vec::new();
    let mut expected = 0;
    let query = "SELECT id, CAST(name AS BLOB), CAST(search_text AS BLOB), CAST(own_text AS BLOB) FROM robots";
    let rows = sql::<(BigInt, Binary, Nullable<Binary>, Nullable<Binary>)>(query);
    for row in rows.load_iter::<Texts, DefaultLoadingMode>(connection)? {
        let (id, name, search_text, own_text) = row?;
        let Ok(name) = String::from_utf8(name) else {
            return Ok(Err(format!("the name of robot {id} is not UTF-8")));
        };
        // No page of robots has it, since the first one begins after the empty name.
        if name.is_empty() {
            return Ok(Err(format!("the name of robot {id} is empty")));
        }
        if let Some(text) = search_text {
            let own_text = own_text.unwrap_or_default();
            let texts = [&text, &own_text].map(|text| String::from_utf8_lossy(text));
            expected += distinct_trigrams(&texts);
        }
    }
    match count_entries(connection) {
        // Further entries, of robots that another program replaced, do no harm.
        Ok(found) if found >= expected => {}
        Ok(found) => {
            let missing = expected - found;
            findings.push(format!("{missing} of {expected} entries are missing"));
        }
        Err(error) if is_locked(&error) => return Err(error),
        Err(error) => findings.push(error.to_string()),
    }
    Ok(Ok(findings))
}

/// An id, a name, and what searches compare.
type Texts = (i64, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);

/// The number of entries of texts. FTS5 replaces the noncharacters at the end of the first plane.
fn distinct_trigrams(texts: &[Cow<'_, str>]) -> i64 {
    let indexed = |character| match character {
        '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        character => character,
    };
    let characters = texts.iter().map(|text| text.chars().map(indexed).collect());
    let characters: Vec<Vec<char>> = characters.collect();
    let trigrams = characters.iter().flat_map(|text| text.windows(3));
    let trigrams: BTreeSet<&[char]> = trigrams.collect();
    i64::try_from(trigrams.len()).unwrap_or(i64::MAX)
}

fn count_entries(connection: &mut SqliteConnection) -> QueryResult<i64> {
    connection.batch_execute(
        "CREATE VIRTUAL TABLE temp.entries USING fts5vocab(main, robots_search, instance)",
    )?;
    sql::<BigInt>("SELECT count(*) FROM temp.entries").get_result(connection)
}
