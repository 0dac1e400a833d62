//! Statements in PostgreSQL's dialect.

use std::borrow::Cow;

use diesel::QueryResult;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde::Serialize;

use crate::{
    catalogue::{Error, Receipt},
    database::{
        conditions::expression,
        dialect::{Dialect, returned},
        errors::wrap,
        execute::{Execute, impl_execute},
        fragment::{Fragment, json},
        index::Index,
        schema::{DraftRow, RobotRow},
        server::{
            define::{LOCK_PATIENCE, batch_patiently, reported},
            operation::LOCK_LIMIT,
            pattern::pattern_of,
        },
        statements::{by_definition, row_limit},
        trigrams::trigrams,
    },
    model::{
        Definition, Field, INDEXED_LENGTH, Kind, Member, OwnChange, Robot, ValidChanges,
        ValidDraft, fold,
    },
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

/// The columns of a [`RobotRow`] as JSON.
const ROW: &str = "id bigint, name text, type text, year bigint, revision bigint, search_text text, own_text text, own text, \
                   created_at bigint, updated_at bigint, updated_by text";

impl_execute!(AsyncPgConnection, .await);

impl Dialect for AsyncPgConnection {
    fn merge(_: &[&str]) -> (String, &'static str) {
        let before = "nullif(jsonb_strip_nulls(coalesce(robots.own, '{}')::jsonb || ";
        (before.to_owned(), "::jsonb)::text, '{}')")
    }

    const JSON_ARRAY: (&str, &str) = ("json_build_array(", ")::text");

    const LAST_ID: &str = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('robots', 'id')::regclass), 0)";

    const BOOLEANS: [&str; 2] = ["'false'", "'true'"];

    const IN_ORDER: &str = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; \
         SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off";

    const NOW: &str = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

    const FOR_UPDATE: &str = " FOR UPDATE";

    const FOR_SHARE: &str = " FOR SHARE";

    fn own_text_value(name: &str) -> String {
        format!("robots.own::jsonb ->> '{name}'")
    }

    fn own_value(field: &Field) -> String {
        let text = Self::own_text_value(field.name());
        let (json_type, value) = match field.kind() {
            Kind::Integer { .. } | Kind::Number { .. } => ("number", format!("({text})::numeric")),
            Kind::Boolean => ("boolean", format!("{text} COLLATE \"C\"")),
            // The length of what an index has is limited.
            _ if field.is_indexed() => (
                "string",
                format!("left({text}, {INDEXED_LENGTH}) COLLATE \"C\""),
            ),
            _ => ("string", format!("({text}) COLLATE \"C\"")),
        };
        format!(
            "(CASE jsonb_typeof(robots.own::jsonb -> '{field}') WHEN '{json_type}' THEN {value} END)"
        )
    }

    fn folded_contains(sql: &str, folded: &str) -> Fragment<'static> {
        Fragment::new(format!("{sql} ~ ")).text(pattern_of(folded))
    }

    const COLUMNS: &str = "SELECT attname::text FROM pg_attribute \
                           WHERE attrelid = 'robots'::regclass AND attnum > 0 AND NOT attisdropped";

    const INDEXES: &str = "SELECT indexname::text FROM pg_indexes \
                           WHERE schemaname = current_schema() AND tablename = 'robots' \
                           AND (indexname IN ('robots_name', 'robots_names') \
                           OR indexname LIKE 'robots\\_index\\_%' OR indexname LIKE 'robots\\_unique\\_%')";

    async fn drop_orphans(&mut self) -> QueryResult<()> {
        let invalid = "SELECT relname::text FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
                       WHERE indrelid = 'robots'::regclass AND NOT indisvalid AND relname LIKE 'robots\\_%'";
        for name in self.texts(invalid).await? {
            let drop = format!("DROP INDEX CONCURRENTLY {name}");
            batch_patiently(self, &drop).await?;
        }
        Ok(())
    }

    /// Others change robots meanwhile.
    async fn create_indexes(&mut self, indexes: &[Index<'_>]) -> QueryResult<()> {
        for Index { name, field } in indexes {
            let value = expression::<Self>(field);
            let (unique, columns) = match (field.member() == Member::Name, field.is_unique()) {
                (true, true) => ("UNIQUE", "(name) INCLUDE (id, type, year, revision)".into()),
                (true, false) => ("", "(name, id)".into()),
                (false, true) => ("UNIQUE", format!("({value})")),
                (false, false) => ("", format!("({value}, id)")),
            };
            let create = format!("CREATE {unique} INDEX CONCURRENTLY {name} ON robots {columns}");
            // It waits for transactions that began before, but nothing waits for it.
            let [wait, limit] = [LOCK_PATIENCE, LOCK_LIMIT]
                .map(|limit| format!("SET lock_timeout = {}", limit.as_millis()));
            self.batch(&wait).await?;
            let created = reported(&create, self.batch(&create)).await;
            self.batch(&limit).await?;
            created?;
            if name == "robots_name" {
                let constrain =
                    "ALTER TABLE robots ADD CONSTRAINT robots_name UNIQUE USING INDEX robots_name";
                batch_patiently(self, constrain).await?;
            }
        }
        // The planner knows nothing of the values of an expression before they are analyzed. An empty table is not
        // analyzed: it would be planned as an empty one while an import fills it.
        if !indexes.is_empty() {
            let analyze =
                "DO $$ BEGIN IF EXISTS (SELECT FROM robots) THEN ANALYZE robots; END IF; END $$";
            self.batch(analyze).await?;
        }
        Ok(())
    }

    fn drop_index(name: &str) -> String {
        match name {
            "robots_name" => format!("ALTER TABLE robots DROP CONSTRAINT {name}"),
            _ => format!("DROP INDEX CONCURRENTLY {name}"),
        }
    }

    const SET_SEARCH_TEXTS: (&str, &str) = (
        "UPDATE robots SET search_text = new.search_text, own_text = new.own_text/*own*/ FROM json_to_recordset(",
        "::json) AS new (id bigint, revision bigint, search_text text, own_text text, own text, updated_by text)
         WHERE robots.id = new.id AND robots.revision = new.revision",
    );

    const SET_OWN: &str = ", own = new.own::jsonb, updated_by = new.updated_by, revision = 0";

    /// Reads the result to its end, which comes after the commit: the first row comes before it.
    async fn insert(
        &mut self,
        definition: &Definition,
        drafts: &[(&ValidDraft, Option<&str>)],
    ) -> QueryResult<Vec<Receipt>> {
        let rows = drafts.iter();
        let rows = rows.map(|(draft, by)| DraftRow::new(definition, draft).by(*by));
        let rows: Vec<_> = rows.collect();
        let is_catalogue = by_definition::<Self>(Fragment::new("id = 1"), definition);
        let insert = insert_rows("", is_catalogue, rows.len(), json(&rows)?);
        let insert = insert.sql(" RETURNING id, revision::text");
        let receipts = returned(self, insert).await?;
        if receipts.is_empty() {
            return Err(wrap(Error::DefinitionStale));
        }
        Ok(receipts)
    }

    const POSITION: &str = "strpos";

    /// A name that contains a text also contains it folded.
    fn name_contains(text: &str) -> Fragment<'_> {
        let is_unindexed = Fragment::new("robots.search_text IS NULL");
        let contains = Self::contains("robots.name", text);
        may_contain(&fold(text)).or(is_unindexed).and(contains)
    }

    fn search_text_contains(folded: &str) -> Fragment<'_> {
        may_contain(folded).and(Self::contains("robots.search_text", folded))
    }

    async fn insert_robots(
        &mut self,
        definition: &Definition,
        robots: &[Robot],
    ) -> QueryResult<()> {
        let rows = robots.iter();
        let rows =
            rows.map(|robot| RobotRow::restored(robot, DraftRow::new(definition, robot.values())));
        let rows: Vec<_> = rows.collect();
        let is_catalogue = Fragment::new("id = 1");
        let insert = insert_rows("id, ", is_catalogue, rows.len(), json(&rows)?);
        self.change(insert).await.map(drop)
    }

    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let raise = Fragment::new(format!("SELECT setval({SEQUENCE}, ")).number(id);
        self.numbers(raise.sql(")")).await.map(drop)
    }

    /// Blocks inserts, so that none is assigned an id between the look at the sequence and its change.
    /// It is the first lock of the transaction: a weaker one before it could cause a deadlock with
    /// another restoration.
    const LOCK_IDS: Option<&str> = Some("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE");
}

/// Inserts rows of JSON, with their ids or without, if the catalogue meets a condition. Each gets its next revision.
fn insert_rows(
    id: &'static str,
    is_catalogue: Fragment<'static>,
    count: usize,
    rows: String,
) -> Fragment<'static> {
    let count = row_limit(count);
    let taken =
        Fragment::new("WITH catalogue AS (UPDATE robots_catalogue SET revision = revision + ");
    let taken = taken.number(count).sql(" WHERE ").then(is_catalogue);
    let taken = taken.sql(" RETURNING revision - ");
    let insert = taken.number(count).sql(format!(
        " AS last, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time)
         INSERT INTO robots ({id}revision, added, name, type, year, search_text, own_text, own,
            created_at, updated_at, updated_by) OVERRIDING SYSTEM VALUE
         SELECT {id}last + number, last + number, name, type, year, search_text, own_text, own,
            coalesce(created_at, time), coalesce(updated_at, time), updated_by
         FROM catalogue, ROWS FROM (json_to_recordset("
    ));
    let columns = "id, name, type, year, revision, search_text, own_text, own, created_at, updated_at, updated_by";
    insert.text(rows).sql(format!(
        "::json) AS ({ROW})) WITH ORDINALITY AS new ({columns}, number)"
    ))
}

/// The condition that a search text may contain a folded text.
///
/// PostgreSQL's planner decides whether to use the index: it estimates from the pattern how many search texts
/// match, so that each pattern needs a plan of its own.
fn may_contain(folded: &str) -> Fragment<'static> {
    let condition = Fragment::new("robots.search_text LIKE ");
    condition.text(pattern(folded)).uncached()
}

/// A LIKE pattern for the search texts that may contain a folded text.
///
/// If the text has a long word, each character that is no part of a word becomes a placeholder: for words
/// whose beginning or end it knows, PostgreSQL also looks those up, which many names have. The planner
/// estimates from the pattern how many names have the whole text.
fn pattern(folded: &str) -> String {
    let mut words = folded.split(|character: char| !character.is_alphanumeric());
    let has_long_word = words.any(|word| !trigrams(word).is_empty());
    let mut pattern = String::from("%");
    for character in folded.chars() {
        match character {
            _ if has_long_word && !character.is_alphanumeric() => pattern.push('_'),
            '%' | '_' | '\\' => pattern.extend(['\\', character]),
            _ => pattern.push(character),
        }
    }
    pattern + "%"
}

/// Changes locked robots by one statement: rows are what the changes make of the values that were read, except own values, of which those
/// of other programs are kept.
pub(super) async fn update_all(
    connection: &mut AsyncPgConnection,
    definition: &Definition,
    updates: &[(&Robot, &ValidChanges, Option<&str>)],
) -> QueryResult<Vec<Receipt>> {
    #[derive(Serialize)]
    struct Update<'a> {
        #[serde(flatten)]
        row: RobotRow<'a>,
        /// Whether `own` is a patch of the present values, or replaces them.
        merges: Option<bool>,
    }
    let changed = updates.iter().map(|(robot, changes, _)| {
        let revision = robot.revision();
        (*changes).clone().apply_to(robot, revision)
    });
    let changed: Vec<_> = changed.collect();
    let rows = changed
        .iter()
        .zip(updates)
        .map(|(robot, (_, changes, by))| {
            let (merges, own) = match changes.own(definition) {
                OwnChange::None => (None, None),
                OwnChange::Set(own) => (Some(false), own),
                OwnChange::Merge(patch, _) => (Some(true), Some(patch)),
            };
            let mut values = DraftRow::new(definition, robot.values()).by(*by);
            values.own = own.map(Cow::Owned);
            let row = RobotRow::new(robot, values);
            Update { row, merges }
        });
    let rows = json(&rows.collect::<Vec<_>>())?;
    let (before, after) = AsyncPgConnection::merge(&[]);
    let update = Fragment::new(format!(
        "UPDATE robots SET revision = 0, updated_by = new.updated_by, name = new.name, type = new.type, year = new.year,
           search_text = new.search_text, own_text = new.own_text,
           own = CASE new.merges WHEN true THEN {before}new.own{after} WHEN false THEN new.own ELSE robots.own END
         FROM json_to_recordset("
    ));
    let columns = format!("::json) AS new ({ROW}, merges boolean) WHERE robots.id = new.id");
    let update = update.text(rows).sql(columns);
    let update = by_definition::<AsyncPgConnection>(update, definition);
    let update = update.sql(" RETURNING robots.id, robots.revision::text");
    returned(connection, update).await
}
