//! Statements in PostgreSQL's dialect.

use std::{
    collections::{BTreeMap, HashSet},
    time::Instant,
};

use diesel::{
    QueryResult,
    sql_types::{BigInt, Nullable},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde::Serialize;

use super::migrations::TABLE_LOCK;
use crate::{
    catalogue::Error,
    database::{
        conditions::expression,
        define::Index,
        dialect::Dialect,
        errors::wrap,
        execute::{Execute, impl_execute},
        fragment::{Fragment, Rows, json},
        rewrite::{Rewritten, if_own},
        schema::{ChangedColumns, DraftRow, RobotRow},
        server::{
            backend::ServerDialect,
            define::{LOCK_LIMIT, LOCK_PATIENCE, batch_patiently, reported},
        },
        statements::{check_current, is_current},
        trigrams::trigrams,
    },
    model::{
        Definition, Field, INDEXED_LENGTH, Kind, OwnChange, Robot, RobotId, ValidChanges,
        ValidDraft, fold,
    },
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

/// The columns of a [`DraftRow`] as JSON, and with their types.
const DRAFT_COLUMNS: &str = "name, type, year, search_text, own_text, own";
const DRAFT: &str = "name text, type text, year bigint, search_text text, own_text text, own text";

impl_execute!(AsyncPgConnection, .await);

impl Dialect for AsyncPgConnection {
    const MERGE: (&str, &str) = (
        "nullif(jsonb_strip_nulls(coalesce(robots.own, '{}')::jsonb || ",
        "::jsonb)::text, '{}')",
    );

    const LAST_ID: &str = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('robots', 'id')::regclass), 0)";

    const BOOLEANS: [&str; 2] = ["'false'", "'true'"];

    const FOR_UPDATE: &str = " FOR UPDATE";

    fn own_text_value(name: &str) -> String {
        format!("robots.own::jsonb ->> '{name}'")
    }

    fn own_value(field: Field) -> String {
        let text = Self::own_text_value(field.name());
        match field.kind() {
            Kind::Integer { .. } | Kind::Number { .. } => format!(
                "(CASE jsonb_typeof(robots.own::jsonb -> '{field}') WHEN 'number' THEN ({text})::numeric END)"
            ),
            // The length of what an index has is limited.
            _ if field.is_indexed() => format!("(left({text}, {INDEXED_LENGTH}) COLLATE \"C\")"),
            _ => format!("(({text}) COLLATE \"C\")"),
        }
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
            self.change_table(&drop).await?;
        }
        Ok(())
    }

    /// Others change robots meanwhile.
    async fn create_indexes(&mut self, indexes: &[Index]) -> QueryResult<()> {
        for Index { name, field } in indexes {
            let value = expression::<Self>(*field);
            let (unique, columns) = match (*field == Field::NAME, field.is_unique()) {
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
                self.change_table(constrain).await?;
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

    async fn change_table(&mut self, statement: &str) -> QueryResult<()> {
        batch_patiently(self, statement).await
    }

    fn drop_index(name: &str) -> String {
        match name {
            "robots_name" => format!("ALTER TABLE robots DROP CONSTRAINT {name}"),
            _ => format!("DROP INDEX CONCURRENTLY {name}"),
        }
    }

    fn is_current(definition: &Definition) -> Option<Fragment<'static>> {
        Some(is_current(definition))
    }

    async fn rewrite(
        &mut self,
        definition: &Definition,
        rows: &[Rewritten<'_>],
    ) -> QueryResult<()> {
        let own = ", own = nullif(new.own, '{}')::jsonb, revision = robots.revision + 1";
        let update = Fragment::new(format!(
            "UPDATE robots SET search_text = new.search_text, own_text = new.own_text{} FROM json_to_recordset(",
            if_own(rows, own)
        ));
        let update = update.text(json(&rows)?).sql(
            "::json) AS new (id bigint, revision bigint, search_text text, own_text text, own text)
             WHERE robots.id = new.id AND robots.revision = new.revision AND ",
        );
        if self.change(update.then(is_current(definition))).await? == 0 {
            check_current(self, definition).await?;
        }
        Ok(())
    }

    /// Reads the result to its end, which comes after the commit: the first row comes before it.
    async fn insert(&mut self, definition: &Definition, draft: &ValidDraft) -> QueryResult<i64> {
        let row = json(&[DraftRow::new(definition, draft)])?;
        let insert = Fragment::new(format!(
            "INSERT INTO robots ({DRAFT_COLUMNS}) SELECT * FROM json_to_recordset("
        ));
        let insert = insert
            .text(row)
            .sql(format!("::json) AS new ({DRAFT}) WHERE "));
        let insert = insert.then(is_current(definition)).sql(" RETURNING id");
        let id = self.numbers(insert).await?.pop();
        id.ok_or_else(|| wrap(Error::DefinitionStale))
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
            rows.map(|robot| RobotRow::new(robot, DraftRow::new(definition, robot.values())));
        let rows = json(&rows.collect::<Vec<_>>())?;
        let insert = Fragment::new(
            "INSERT INTO robots (id, name, type, year, revision, search_text, own_text, own)
             OVERRIDING SYSTEM VALUE SELECT * FROM json_to_recordset(",
        );
        let insert = insert.text(rows).sql(
            "::json) AS new (id bigint, name text, type text, year bigint, revision bigint, search_text text,
             own_text text, own text)",
        );
        self.change(insert).await.map(drop)
    }

    async fn raise_last_id(&mut self, id: i64) -> QueryResult<()> {
        let raise = Fragment::new(format!("SELECT setval({SEQUENCE}, ")).number(id);
        self.numbers(raise.sql(")")).await.map(drop)
    }

    /// Blocks inserts, so that none is assigned an id between the look at the sequence and its change.
    /// It is the first lock of the transaction: a weaker one before it could cause a deadlock with
    /// another restoration.
    async fn lock_ids(&mut self) -> QueryResult<()> {
        self.batch_execute("LOCK TABLE robots IN SHARE ROW EXCLUSIVE MODE")
            .await
    }
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

impl ServerDialect for AsyncPgConnection {
    const BEGIN_SNAPSHOT: &'static str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

    const NEEDS_SAVEPOINTS: bool = true;

    const TABLE_LOCK: (&'static str, &'static str) = TABLE_LOCK;

    /// Also waits for transactions that have only locked robots. With a weaker lock, they would then wait for the table,
    /// and the change of the definition for their robots: a deadlock, which takes PostgreSQL a second to end.
    const LOCK_WRITES: &'static str = "LOCK TABLE robots IN EXCLUSIVE MODE";

    async fn insert_all(
        &mut self,
        definition: &Definition,
        drafts: &[&ValidDraft],
        _: Instant,
    ) -> QueryResult<Vec<Option<i64>>> {
        let rows = drafts.iter().map(|draft| DraftRow::new(definition, draft));
        let rows = json(&rows.collect::<Vec<_>>())?;
        // Ids are assigned before, so that they tell which robots were inserted.
        let insert = Fragment::new(format!(
            "WITH new AS (SELECT *, nextval({SEQUENCE}) AS id FROM ROWS FROM (json_to_recordset("
        ));
        // The conflict of a field whose index is newer than the definition is an error, after which each draft is
        // inserted alone.
        let target = if definition.has_only_unique_names() {
            "(name)"
        } else {
            ""
        };
        let insert = insert.text(rows).sql(format!(
            "::json) AS ({DRAFT})) WITH ORDINALITY AS new ({DRAFT_COLUMNS}, place)),
             inserted AS (INSERT INTO robots (id, {DRAFT_COLUMNS}) OVERRIDING SYSTEM VALUE
                 SELECT id, {DRAFT_COLUMNS} FROM new WHERE "
        ));
        let insert = insert.then(is_current(definition)).sql(format!(
            " ON CONFLICT {target} DO NOTHING RETURNING id)
             SELECT CASE WHEN id IN (TABLE inserted) THEN id WHEN NOT "
        ));
        let insert = insert
            .then(is_current(definition))
            .sql(" THEN 0 END FROM new ORDER BY place");
        let ids: Vec<_> = Rows::<Nullable<BigInt>>::of(insert).load(self).await?;
        if ids.contains(&Some(0)) {
            return Err(wrap(Error::DefinitionStale));
        }
        Ok(ids)
    }

    /// Leaves out robots that get a new value of a unique field other than the name, or lose a value.
    async fn update_free(
        &mut self,
        definition: &Definition,
        updates: BTreeMap<RobotId, &ValidChanges>,
    ) -> QueryResult<HashSet<RobotId>> {
        #[derive(Serialize)]
        struct Update<'a> {
            id: i64,
            #[serde(flatten)]
            columns: ChangedColumns<'a>,
            /// Whether `own` is `merged`, or replaces the present values.
            merges: Option<bool>,
            own: Option<String>,
            sets_own_text: bool,
        }
        let sets_unique = |changes: &ValidChanges| {
            let mut unique = definition.unique().filter(|field| *field != Field::NAME);
            unique.any(|field| changes.value(field).is_some())
        };
        let rows = updates.into_iter().filter_map(|(id, changes)| {
            let columns = ChangedColumns::new(definition, changes);
            if columns.has_null() || sets_unique(changes) {
                return None;
            }
            let (merges, own) = match changes.own(definition) {
                OwnChange::None => (None, None),
                OwnChange::Set(own) => (Some(false), own),
                OwnChange::Merge(patch, _) => (Some(true), Some(patch)),
            };
            Some(Update {
                id: id.get(),
                sets_own_text: columns.own_text.is_some(),
                columns,
                merges,
                own,
            })
        });
        let rows: Vec<_> = rows.collect();
        if rows.is_empty() || !definition.has_unique_names() {
            return Ok(HashSet::new());
        }
        let (before, after) = AsyncPgConnection::MERGE;
        let update = Fragment::new("WITH new AS (SELECT * FROM json_to_recordset(");
        let update = update.text(json(&rows)?).sql(format!(
            "::json) AS new (id bigint, name text, type text, year bigint, search_text text, own_text text,
                 sets_own_text boolean, merges boolean, own text)),
             taken AS (SELECT new.id FROM new JOIN robots USING (id)
               JOIN robots AS other ON other.name = new.name AND other.id <> new.id)
             UPDATE robots SET name = coalesce(new.name, robots.name),
               type = coalesce(new.type, robots.type), year = coalesce(new.year, robots.year),
               search_text = coalesce(new.search_text, robots.search_text),
               own_text = CASE WHEN new.sets_own_text THEN new.own_text ELSE robots.own_text END,
               own = CASE new.merges WHEN true THEN {before}new.own{after} WHEN false THEN new.own
                   ELSE robots.own END,
               revision = robots.revision + 1
             FROM new WHERE robots.id = new.id AND new.id NOT IN (TABLE taken) AND "
        ));
        let update = update
            .then(is_current(definition))
            .sql(" RETURNING robots.id");
        let ids = self.numbers(update).await?;
        Ok(ids.into_iter().filter_map(RobotId::new).collect())
    }
}
