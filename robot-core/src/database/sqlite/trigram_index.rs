//! The search index of an SQLite database, an FTS5 table: for each trigram, the ids of the robots whose
//! search texts contain it.
//!
//! A query reads the ids of each of its trigrams. So it has the rarest trigrams of a text only. How rare
//! they are is estimated from a sample of their ids.

use diesel::{QueryResult, SqliteConnection};

use crate::database::{
    execute::Execute,
    fragment::{Fragment, json},
    search_text::TextSearch,
    statements::now,
    trigrams::trigrams,
};

/// The number of ids of a trigram in a sample. Too low, and the estimates are wrong; too high, and they
/// take longer. The error of an estimate from 16 ids at random is about a quarter.
const SAMPLE_SIZE: i64 = 16;

/// A trigram is used if, on average, at most one of this number of ids has it. Too low, and a query reads
/// long lists that exclude few candidates; too high, and more candidates are compared.
const MIN_GAP: i64 = 8;

/// The index is used if, on average, at most one of this number of ids has the rarest trigram. Too low,
/// and there may be so many candidates that reading all names is faster; too high, and fewer texts are
/// looked up.
const RAREST_MIN_GAP: i64 = 32;

/// The maximum number of trigrams of a query. More read further lists of ids, and exclude few candidates.
const TERM_LIMIT: usize = 3;

/// The maximum number of candidates. Fewer, and more texts read all names; more, and looking them up takes longer than
/// reading.
const CANDIDATE_LIMIT: usize = 20_000;

/// The robots that the index finds for a search, and those of which it has nothing that is up to date.
pub(super) struct Candidates {
    pub(super) ids: Vec<i64>,
    /// The number of robots for each candidate.
    pub(super) gap: usize,
}

/// The candidates; `None` if there are more than [`CANDIDATE_LIMIT`], the text has no rare trigram, or the index fails.
pub(super) fn candidates(
    connection: &mut SqliteConnection,
    search: &TextSearch<'_>,
) -> Option<Candidates> {
    let last_id = Fragment::new("SELECT id FROM robots ORDER BY id DESC LIMIT 1");
    let last_id = now(connection.numbers(last_id)).ok()?.pop()?;
    let mut terms = terms(connection, &search.folded(), last_id).ok()?;
    terms.retain(|(gap, _)| *gap >= MIN_GAP);
    terms.sort_by_key(|(gap, _)| -gap);
    terms
        .first()
        .filter(|(rarest, _)| *rarest >= RAREST_MIN_GAP)?;
    let used = terms.into_iter().take(TERM_LIMIT).map(|(_, term)| term);
    let expression = used.collect::<Vec<_>>().join(" AND ");
    let ids = Fragment::new("SELECT rowid FROM robots_search WHERE robots_search MATCH ")
        .text(expression)
        .sql(" UNION ALL SELECT id FROM robots WHERE search_text IS NULL")
        .limit(CANDIDATE_LIMIT + 1);
    let mut ids = now(connection.numbers(ids)).ok()?;
    ids.extend(&search.unindexed);
    let gap = usize::try_from(last_id).unwrap_or(usize::MAX) / (ids.len() + 1);
    (ids.len() <= CANDIDATE_LIMIT).then_some(Candidates { ids, gap })
}

/// The trigrams of a text as strings of FTS5, each with its gap: the estimated number of ids for each one
/// that has it. The samples begin at an id that is neither the first one nor a round number: there, the
/// names of a numbered series would not be typical.
fn terms(
    connection: &mut SqliteConnection,
    folded: &str,
    last_id: i64,
) -> QueryResult<Vec<(i64, String)>> {
    let mut trigrams = trigrams(folded);
    trigrams.sort_unstable();
    trigrams.dedup();
    let quoted = trigrams
        .iter()
        .map(|trigram| format!("\"{}\"", trigram.replace('"', "\"\"")));
    let quoted: Vec<String> = quoted.collect();
    let start = last_id / 21 * 8;
    // The last id of each sample, if the sample is complete.
    let ends = Fragment::new(
        "SELECT coalesce((SELECT rowid FROM robots_search WHERE robots_search MATCH value AND rowid >= ",
    );
    let ends = ends.number(start).sql(" ORDER BY rowid LIMIT 1 OFFSET ");
    let ends = ends.number(SAMPLE_SIZE - 1).sql("), ").number(last_id);
    let ends = ends.sql(") FROM json_each(").text(json(&quoted)?);
    let ends = now(connection.numbers(ends.sql(") ORDER BY key")))?;
    let gaps = ends.into_iter();
    let gaps = gaps.map(|end| (end - start) / SAMPLE_SIZE + 1);
    Ok(gaps.zip(quoted).collect())
}
