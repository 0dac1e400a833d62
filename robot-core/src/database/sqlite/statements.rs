//! Statements in SQLite's dialect.

use super::errors::is_disk_full;
use crate::{
    catalogue::{Error, Receipt},
    database::{
        dialect::{Dialect, returned},
        errors::wrap,
        execute::{Execute, impl_execute},
        fragment::{Fragment, json},
        index::Index,
        rewrite::{self, set_search_texts},
        schema::{DRAFT_COLUMNS, DraftRow, RobotRow},
        statements::{last_id, now, unindexed},
    },
    model::{Definition, Field, Kind, Member, Robot, ValidDraft},
};
use diesel::{connection::SimpleConnection, prelude::*, result::Error as DieselError};

/// The number of names that are added to the search index together. A search compares those that wait.
const INDEX_BATCH: i64 = 256;

/// The maximum number of names that are added by one commit. More, and changes wait for the names that another
/// program has added; fewer than a commit may insert, and searches compare more and more names.
const INDEX_LIMIT: i64 = 1024;

/// The SQL of the present time in milliseconds, also for versions of SQLite without `unixepoch('subsec')`.
macro_rules! now_sql {
    () => {
        "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    };
}

impl_execute!(SqliteConnection,);

impl Dialect for SqliteConnection {
    const NOW: &str = now_sql!();

    const READS_LAZILY: bool = true;

    fn merge(_: &[&str]) -> (String, &'static str) {
        let before = "nullif(json_patch(coalesce(own, '{}'), ";
        (before.to_owned(), "), '{}')")
    }

    const LAST_ID: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'robots'";

    const BOOLEANS: [&str; 2] = ["0", "1"];

    fn own_value(field: &Field) -> String {
        let is_of_kind = match field.kind() {
            Kind::Integer { .. } => "= 'integer'",
            Kind::Number { .. } => "IN ('integer', 'real')",
            Kind::Boolean => "IN ('true', 'false')",
            _ => "= 'text'",
        };
        let value = Self::own_text_value(field.name());
        format!("(CASE WHEN json_type(robots.own, '$.{field}') {is_of_kind} THEN {value} END)")
    }

    fn own_text_value(name: &str) -> String {
        format!("(robots.own ->> '$.{name}')")
    }

    /// A condition of which the index skips robots without a value.
    fn has_value(sql: &str, field: &Field) -> String {
        if field.kind().is_text() {
            format!("{sql} >= ''")
        } else {
            format!("{sql} > -9e999")
        }
    }

    fn folded_contains(sql: &str, folded: &str) -> Fragment<'static> {
        Self::contains(&format!("robots_fold({sql})"), folded.to_owned())
    }

    const COLUMNS: &str = "SELECT name FROM pragma_table_info('robots')";

    const INDEXES: &str = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'robots' \
                           AND (name IN ('robots_name', 'robots_names') \
                           OR name GLOB 'robots_index_*' OR name GLOB 'robots_unique_*')";

    async fn create_indexes(&mut self, indexes: &[Index<'_>]) -> QueryResult<()> {
        // Sorting takes no more memory than the page cache.
        self.batch("PRAGMA temp_store = FILE").await?;
        let create = indexes.iter().map(|Index { name, field }| {
            let unique = if field.is_unique() { "UNIQUE " } else { "" };
            let value = Self::own_value(field).replace("robots.", "");
            let columns = match (field.member(), field.is_unique()) {
                (Member::Name, _) => "name".to_owned(),
                (_, true) => value,
                // Pages that are sorted by name need not read each robot that the index finds.
                (_, false) => format!("{value}, id, name"),
            };
            format!("CREATE {unique}INDEX {name} ON robots ({columns});")
        });
        let created = self.batch(&create.collect::<String>()).await;
        self.batch("PRAGMA temp_store = MEMORY").await?;
        created
    }

    fn drop_index(name: &str) -> String {
        format!("DROP INDEX {name}")
    }

    const CHANGE: &str = concat!(
        "revision = (SELECT revision + 1 FROM robots_catalogue), updated_at = ",
        now_sql!()
    );

    async fn insert(
        &mut self,
        definition: &Definition,
        drafts: &[(&ValidDraft, Option<&str>)],
    ) -> QueryResult<Vec<Receipt>> {
        let rows = drafts
            .iter()
            .map(|(draft, by)| DraftRow::unindexed(definition, draft).by(*by));
        let rows = json(&rows.collect::<Vec<_>>())?;
        let inserted = insert_rows(self, "INSERT", Fragment::new("NULL"), rows);
        inserted.map_err(|error| without_ids(self, error))
    }

    async fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> QueryResult<()> {
        let rows = robots.iter().map(|robot| {
            let values = DraftRow::unindexed(definition, robot.values());
            RobotRow::restored(robot, values)
        });
        let rows = json(&rows.collect::<Vec<_>>())?;
        insert_rows(self, "INSERT", Fragment::new("value ->> 'id'"), rows).map(drop)
    }

    /// FTS5 writes what it has collected at the end of each statement.
    const SET_SEARCH_TEXTS: (&str, &str) = (
        "UPDATE robots SET search_text = value ->> 'search_text', own_text = value ->> 'own_text'/*own*/ FROM json_each(",
        ") WHERE robots.id = value ->> 'id' AND revision = value ->> 'revision'",
    );

    const SET_OWN: &str = concat!(
        ", own = value ->> 'own', updated_by = value ->> 'updated_by', revision = (SELECT revision FROM robots_catalogue) + 1 + key, updated_at = ",
        now_sql!()
    );

    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        // The row exists only after the first insert.
        self.batch("DELETE FROM sqlite_sequence WHERE name = 'robots'")
            .await?;
        let insert = "INSERT INTO sqlite_sequence (name, seq) VALUES ('robots', ";
        let insert = Fragment::new(insert).number(id).sql(")");
        self.change(insert).await.map(drop)
    }
}

/// Inserts robots by one statement, except those with values that others have, and returns their receipts in the
/// order of the drafts.
pub(super) fn insert_free<'a>(
    connection: &mut SqliteConnection,
    definition: &Definition,
    drafts: impl Iterator<Item = (&'a ValidDraft, Option<&'a str>)>,
) -> QueryResult<Vec<Option<Receipt>>> {
    let row = |(draft, by)| DraftRow::unindexed(definition, draft).by(by);
    let rows: Vec<_> = drafts.map(row).collect();
    let last = now(last_id(connection))?;
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let (Some(first), Some(_)) = (last.checked_add(1), last.checked_add(count)) else {
        return Ok(vec![None; rows.len()]);
    };
    let ids = Fragment::new("key + ").number(first);
    let inserted = insert_rows(connection, "INSERT OR IGNORE", ids, json(&rows)?)?;
    let mut inserted = inserted.into_iter().peekable();
    let ids = (first..).take(rows.len());
    Ok(ids
        .map(|id| inserted.next_if(|receipt| receipt.id.get() == id))
        .collect())
}

/// Inserts rows of JSON, with SQL for their ids, but without search texts: names are added to the search index together.
fn insert_rows(
    connection: &mut SqliteConnection,
    insert: &'static str,
    ids: Fragment<'_>,
    rows: String,
) -> QueryResult<Vec<Receipt>> {
    let columns = DRAFT_COLUMNS.join(", ");
    let values = DRAFT_COLUMNS.map(|column| {
        let value = format!("json_extract(value, '$.{column}')");
        match column.strip_suffix("_at") {
            Some(_) => format!("coalesce({value}, next.time)"),
            None => value,
        }
    });
    let insert = Fragment::new(format!(
        "{insert} INTO robots (id, revision, added, {columns}) SELECT "
    ));
    let insert = insert.then(ids).sql(format!(
        ", next.revision + key, next.revision + key, {} FROM json_each(",
        values.join(", ")
    ));
    let insert = insert.text(rows).sql(concat!(
        "), (SELECT revision + 1 AS revision, ",
        now_sql!(),
        " AS time FROM robots_catalogue) AS next RETURNING id, CAST(revision AS TEXT)"
    ));
    now(returned(connection, insert))
}

/// Does some of what waits: adds names to the search index, and rewrites robots. Returns whether anything did.
pub(super) fn work(
    connection: &mut SqliteConnection,
    definition: &Definition,
) -> QueryResult<bool> {
    let has_work = has_work(connection)?;
    if has_work {
        let robots = now(unindexed(connection, INDEX_LIMIT))?;
        now(set_search_texts(connection, definition, &robots))?;
        now(rewrite::step(connection, definition))?;
    }
    Ok(has_work)
}

/// Whether robots wait to be rewritten, or [`INDEX_BATCH`] names to be added to the search index: adding so many at once
/// costs the index half of adding them one by one.
pub(super) fn has_work(connection: &mut SqliteConnection) -> QueryResult<bool> {
    let work = Fragment::new(
        "SELECT EXISTS (SELECT 1 FROM robots_rewrite) \
         OR EXISTS (SELECT 1 FROM robots WHERE search_text IS NULL LIMIT 1 OFFSET ",
    );
    let work = work.number(INDEX_BATCH - 1).sql(")");
    Ok(now(connection.numbers(work))? == [1])
}

/// The error of an insert. If the greatest id possible is taken, SQLite says that the disk is full.
fn without_ids(connection: &mut SqliteConnection, error: DieselError) -> DieselError {
    let has_no_ids =
        is_disk_full(&error) && now(last_id(connection)).is_ok_and(|last| last == i64::MAX);
    if has_no_ids {
        wrap(Error::store(
            "the greatest id possible was assigned, so that no robot can be added",
        ))
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        catalogue::{CatalogueExt, OpenOptions},
        database::sqlite::connect::{DatabaseFile, Purpose},
        model::Draft,
    };

    #[test]
    fn insert_free_adds_all_free_names_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/robots.db", folder.path().display());
        let catalogue = crate::open(&url).unwrap();
        let last = catalogue.add(Draft::new("taken", "droid", 1)).unwrap().id();
        let file = DatabaseFile::from_url(&url, &OpenOptions::default()).unwrap();
        let mut connection = file.connect(Purpose::Write).unwrap();
        let free = [
            "b",
            "\"a\"",
            "[1]\\",
            "\u{1}\u{7f}\u{2028}",
            "e\u{301}",
            "a",
        ];
        let drafts: Vec<_> = free
            .iter()
            .chain(&["taken", "b"])
            .map(|name| ValidDraft::new(Draft::new(*name, "virtual", i64::MAX)).unwrap())
            .collect();
        let ids = insert_free(
            &mut connection,
            Definition::built_in(),
            drafts.iter().map(|draft| (draft, None)),
        )
        .unwrap();
        let ids = ids.into_iter().map(|receipt| Some(receipt?.id.get()));
        let free = free.iter().zip(last.get() + 1..).map(|(_, id)| Some(id));
        assert!(ids.eq(free.chain([None, None])));
    }
}
