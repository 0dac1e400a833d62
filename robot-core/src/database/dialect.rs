//! What a backend implements itself of the statements about robots.

use std::{borrow::Cow, future::Future};

use diesel::QueryResult;

use super::{execute::Execute, fragment::Fragment, index::Index, schema::receipt};
use crate::{
    catalogue::{Receipt, Room},
    model::{Definition, Field, Robot, ValidDraft},
};

/// The receipts of the ids and revisions that a statement returns.
pub(super) async fn returned<C: Execute>(
    connection: &mut C,
    statement: Fragment<'_>,
) -> QueryResult<Vec<Receipt>> {
    let room = &mut Room::of_robots(usize::MAX);
    connection.pairs(statement, room, receipt).await
}

/// The statements that differ between backends.
pub(super) trait Dialect: Execute {
    /// Whether rows are read only when they are requested, so that a query in the order of an index needs no
    /// LIMIT. SQLite plans a statement anew whenever a LIMIT is bound, which takes about as long as reading 40
    /// entries.
    const READS_LAZILY: bool = false;

    /// The SQL before and after a JSON merge patch that removes these values, which applies it to the own values. Without
    /// any, they are NULL.
    fn merge(removed: &[&str]) -> (String, &'static str);

    /// The assignments by which the program changes a robot. On database servers, a trigger replaces the revision.
    const CHANGE: &str = "revision = 0";

    /// Executes a change of robots with these ids, and returns the receipts of those that it has changed.
    fn update(
        &mut self,
        update: Fragment<'_>,
        _: &[i64],
    ) -> impl Future<Output = QueryResult<Vec<Receipt>>> + Send {
        let update = update.sql(" RETURNING id, CAST(revision AS TEXT)");
        async { returned(self, update).await }
    }

    /// The SQL before and after values of which it makes a JSON array, as a text.
    const JSON_ARRAY: (&str, &str) = ("json_array(", ")");

    /// The condition that a field, whose SQL this is, has a value.
    fn has_value(sql: &str, _: &Field) -> String {
        format!("{sql} IS NOT NULL")
    }

    /// A factor of stored numbers, with which they are NULL if the server has ended the transaction without saying so; empty
    /// if it says so.
    const IN_TRANSACTION: &str = "";

    /// The SQL before a range of revisions, of versions that were added by these.
    const ADDED: &str = "robots.revision = robots.added AND robots.revision";

    /// Makes statements of the transaction change robots in the order of what they are given, or of the ids; empty if they do.
    const IN_ORDER: &str = "";

    /// The SQL of the present time in milliseconds.
    const NOW: &str;

    /// Makes a SELECT lock its rows, and read their present state; empty if one transaction at a time writes.
    const FOR_UPDATE: &str = "";

    /// As [`FOR_UPDATE`](Self::FOR_UPDATE), but permits others to do the same.
    const FOR_SHARE: &str = "";

    /// `false` and `true` in the SQL of [`own_value`](Self::own_value).
    const BOOLEANS: [&str; 2];

    /// The SQL of the value of an own field. It is NULL for a value that is not of the field's kind.
    fn own_value(field: &Field) -> String;

    /// The SQL of the own value with a name, of any kind, as a text.
    fn own_text_value(name: &str) -> String;

    /// The SQL of the value of an own field, which does not need the index of the field.
    fn stored_value(field: &Field) -> String {
        Self::own_value(field)
    }

    /// The SQL before and after the JSON of the search texts, which stores those of robots that still have their
    /// revision. The comment `/*own*/` is where [`SET_OWN`](Self::SET_OWN) may be.
    const SET_SEARCH_TEXTS: (&str, &str);

    /// The SQL that stores the own values, too.
    const SET_OWN: &str;

    /// A query for the names of the columns of the table.
    const COLUMNS: &str;

    /// A query for the names of the indexes of names and own fields.
    const INDEXES: &str;

    /// Drops what incomplete changes have left of indexes, or an earlier version has.
    fn drop_orphans(&mut self) -> impl Future<Output = QueryResult<()>> + Send {
        async { Ok(()) }
    }

    fn create_indexes(
        &mut self,
        indexes: &[Index<'_>],
    ) -> impl Future<Output = QueryResult<()>> + Send;

    fn drop_index(name: &str) -> String;

    /// Inserts robots by one statement, each by its author.
    fn insert(
        &mut self,
        definition: &Definition,
        drafts: &[(&ValidDraft, Option<&str>)],
    ) -> impl Future<Output = QueryResult<Vec<Receipt>>> + Send;

    /// The function that returns the number of characters of a text.
    const LENGTH: &str = "length";

    /// The function that returns the position of a text in another one.
    const POSITION: &str = "instr";

    /// The condition that an SQL expression contains a text.
    fn contains<'a>(sql: &str, text: impl Into<Cow<'a, str>>) -> Fragment<'a> {
        let position = Fragment::new(format!("{}({sql}, ", Self::POSITION));
        position.text(text).sql(") > 0")
    }

    /// The condition that the folded value of an SQL expression contains a folded text, which is not empty.
    fn folded_contains(sql: &str, folded: &str) -> Fragment<'static>;

    /// The condition that a name contains a text.
    fn name_contains(text: &str) -> Fragment<'_> {
        Self::contains("robots.name", text)
    }

    /// The condition that a search text contains a folded text.
    fn search_text_contains(folded: &str) -> Fragment<'_> {
        Self::contains("robots.search_text", folded)
    }

    /// Inserts robots with their ids, by one statement.
    fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> impl Future<Output = QueryResult<()>> + Send;

    /// A query for the greatest id that was assigned, as far as the database knows; 0 if none was.
    const LAST_ID: &str;

    /// Makes new ids greater than this id, which is greater than the last one.
    fn raise_last_id(&mut self, id: i64) -> impl Future<Output = QueryResult<()>> + Send;

    /// Keeps other transactions from assigning ids until this one ends, if
    /// [`raise_last_id`](Self::raise_last_id) needs that.
    const LOCK_IDS: Option<&str> = None;
}
