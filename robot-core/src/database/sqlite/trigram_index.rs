//! The search index of an SQLite database, an FTS5 table: for each trigram, the ids of the robots whose
//! folded names contain it. A name contains a text only if its folded form contains the folded text.
//!
//! A query reads the ids of each of its trigrams. So it has the rarest trigrams of a text only. How rare
//! they are is estimated from a sample of their ids.

use diesel::{
    SqliteConnection,
    dsl::{max, sql},
    prelude::*,
    sql_types::{BigInt, Nullable, Text},
};

use crate::{
    database::{schema::robots, trigrams::trigrams},
    model::fold,
};

/// The number of ids of a trigram in a sample. Too low, and the estimates are wrong; too high, and they
/// take longer. The error of an estimate from 16 ids at random is about a quarter.
const SAMPLE_SIZE: i64 = 16;

/// A trigram is used if, on average, at most one of this number of ids has it. Too low, and a query reads
/// long lists that exclude few candidates; too high, and more candidates are compared. At 8, a trigram
/// costs at most a 40th of reading all names, and leaves at most an eighth of the candidates.
const MIN_GAP: i64 = 8;

/// The index is used if, on average, at most one of this number of ids has the rarest trigram. Too low,
/// and there may be so many candidates that reading all names is faster; too high, and fewer texts are
/// looked up. The candidates of one trigram alone cost as much as all names if one of 20 ids has it
/// (`CANDIDATE_COST`); the rest allows for the error of the sample.
const RAREST_MIN_GAP: i64 = 32;

/// The number of ids that a query reads in the time in which one name is read and compared. Too low, and
/// texts of frequent trigrams are not looked up; too high, and their queries take longer than reading.
/// Measured with 500,000 names: 4.6 to 5.2 for two trigrams.
const IDS_PER_NAME: i64 = 5;

/// A query for the robots whose names may contain a text.
pub(super) struct IndexQuery {
    /// The expression of FTS5.
    expression: String,
    /// How long it takes: the number of names that are read and compared in the same time.
    pub(super) cost: usize,
}

/// A trigram, and how rare it is.
struct Term {
    /// The estimated number of ids for each one that has the trigram.
    gap: i64,
    /// The trigram as a string of FTS5.
    quoted: String,
}

impl IndexQuery {
    /// The query for a text; `None` if the text has no rare trigram, or the index fails.
    pub(super) fn new(connection: &mut SqliteConnection, text: &str) -> Option<Self> {
        let last_id = robots::table.select(max(robots::id)).first(connection);
        let last_id = last_id.ok().flatten()?;
        let mut terms = terms(connection, text, last_id).ok()?;
        terms.retain(|term| term.gap >= MIN_GAP);
        terms.sort_by_key(|term| -term.gap);
        terms
            .first()
            .filter(|rarest| rarest.gap >= RAREST_MIN_GAP)?;
        // As many as leave less than one candidate, if trigrams were independent of each other.
        let mut expected = last_id;
        let used = terms.iter().take_while(|term| {
            let is_needed = expected > 0;
            expected /= term.gap;
            is_needed
        });
        let used: Vec<_> = used.collect();
        let ids = used.iter().map(|term| last_id / term.gap);
        let ids = ids.fold(0, i64::saturating_add);
        let expression: Vec<_> = used.iter().map(|term| term.quoted.as_str()).collect();
        Some(Self {
            expression: expression.join(" AND "),
            cost: usize::try_from(ids / IDS_PER_NAME).unwrap_or(usize::MAX),
        })
    }

    /// The ids of the robots that match or are not indexed yet; `None` if there are more than `limit`,
    /// or the index fails.
    pub(super) fn candidates(
        &self,
        connection: &mut SqliteConnection,
        limit: usize,
    ) -> Option<Vec<i64>> {
        let ids = sql::<BigInt>("SELECT rowid FROM robots_trigrams WHERE robots_trigrams MATCH ")
            .bind::<Text, _>(&self.expression)
            .sql(" UNION ALL SELECT id FROM robots_unindexed LIMIT ")
            .bind::<BigInt, _>(i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1))
            .load::<i64>(connection);
        ids.ok().filter(|ids| ids.len() <= limit)
    }
}

/// The trigrams of a text. The samples begin at an id that is neither the first one nor a round number:
/// there, the names of a numbered series would not be typical.
fn terms(connection: &mut SqliteConnection, text: &str, last_id: i64) -> QueryResult<Vec<Term>> {
    let folded = fold(text);
    let mut trigrams = trigrams(&folded);
    trigrams.sort_unstable();
    trigrams.dedup();
    let quoted = trigrams
        .iter()
        .map(|trigram| format!("\"{}\"", trigram.replace('"', "\"\"")));
    let quoted: Vec<String> = quoted.collect();
    let json = serde_json::to_string(&quoted)
        .map_err(|error| diesel::result::Error::SerializationError(error.into()))?;
    let start = last_id / 21 * 8;
    // The last id of each sample, if the sample is complete.
    let ends = sql::<Nullable<BigInt>>(
        "SELECT (SELECT rowid FROM robots_trigrams WHERE robots_trigrams MATCH value AND rowid >= ",
    )
    .bind::<BigInt, _>(start)
    .sql(" ORDER BY rowid LIMIT 1 OFFSET ")
    .bind::<BigInt, _>(SAMPLE_SIZE - 1)
    .sql(") FROM json_each(")
    .bind::<Text, _>(json)
    .sql(") ORDER BY key")
    .load::<Option<i64>>(connection)?;
    let terms = ends.into_iter().zip(quoted).map(|(end, quoted)| Term {
        gap: (end.unwrap_or(last_id) - start) / SAMPLE_SIZE + 1,
        quoted,
    });
    Ok(terms.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{
        catalogue::OpenOptions,
        database::sqlite::{
            SqliteCatalogue,
            connect::{DatabaseFile, Purpose},
        },
    };

    /// The table may have characters of a later version of Unicode.
    #[test]
    fn table_of_folds_has_all_characters_that_fold_changes() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        SqliteCatalogue::open(&url).unwrap();
        let file = DatabaseFile::from_url(&url, &OpenOptions::new()).unwrap();
        let mut connection = file.connect(Purpose::Write).unwrap();
        let folds = sql::<(Text, Text)>("SELECT character, folded FROM robots_folds");
        let folds: Vec<(String, String)> = folds.load(&mut connection).unwrap();
        let folds: HashMap<_, _> = folds.into_iter().collect();
        for character in '\u{80}'..=char::MAX {
            let text = character.to_string();
            let folded = folds.get(&text).unwrap_or(&text);
            let is_known = fold(&text) != text;
            assert!(
                !is_known || *folded == fold(&text),
                "U+{:04X}",
                u32::from(character)
            );
        }
    }
}
