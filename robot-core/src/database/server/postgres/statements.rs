//! Statements in PostgreSQL's dialect.

use std::{
    collections::{BTreeMap, HashSet},
    time::Instant,
};

use diesel::{
    QueryResult,
    result::Error::NotFound,
    sql_types::{BigInt, Nullable},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use serde::Serialize;

use crate::{
    database::{
        conditions::expression,
        define::Index,
        dialect::Dialect,
        execute::{Execute, impl_execute},
        fragment::{Fragment, Rows, json},
        schema::{ChangedColumns, DraftRow, RobotRow, robots},
        server::backend::ServerDialect,
        trigrams::trigrams,
    },
    model::{
        Definition, Field, INDEXED_LENGTH, Kind, OwnChange, Robot, RobotId, ValidChanges,
        ValidDraft, fold,
    },
};

/// The sequence that ids come from.
const SEQUENCE: &str = "pg_get_serial_sequence('robots', 'id')::regclass";

impl_execute!(AsyncPgConnection, .await);

impl Dialect for AsyncPgConnection {
    const MERGE: (&str, &str) = (
        "nullif(jsonb_strip_nulls(coalesce(robots.own, '{}')::jsonb || ",
        "::jsonb)::text, '{}')",
    );

    const LAST_ID: &str = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('robots', 'id')::regclass), 0)";

    const BOOLEANS: [&str; 2] = ["'false'", "'true'"];

    fn own_value(field: Field) -> String {
        let text = format!("robots.own::jsonb ->> '{field}'");
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

    fn create_index(index: &Index) -> String {
        /// The planner knows nothing of the values of an expression before they are analyzed. An empty table is not
        /// analyzed: it would be planned as an empty one while an import fills it.
        const ANALYZE: &str =
            "DO $$ BEGIN IF EXISTS (SELECT FROM robots) THEN ANALYZE robots; END IF; END $$";
        let Index { name, field } = index;
        let value = expression::<Self>(*field);
        match (*field == Field::NAME, field.is_unique()) {
            (true, true) => format!(
                "ALTER TABLE robots ADD CONSTRAINT {name} UNIQUE (name) INCLUDE (id, type, year, revision)"
            ),
            (true, false) => format!("CREATE INDEX {name} ON robots (name, id)"),
            (false, true) => format!("CREATE UNIQUE INDEX {name} ON robots ({value}); {ANALYZE}"),
            (false, false) => format!("CREATE INDEX {name} ON robots ({value}, id); {ANALYZE}"),
        }
    }

    fn drop_index(name: &str) -> String {
        match name {
            "robots_name" => format!("ALTER TABLE robots DROP CONSTRAINT {name}"),
            _ => format!("DROP INDEX {name}"),
        }
    }

    async fn insert(&mut self, definition: &Definition, draft: &ValidDraft) -> QueryResult<i64> {
        let insert = diesel::insert_into(robots::table)
            .values(DraftRow::new(definition, draft))
            .returning(robots::id);
        // To the end, which comes after the commit: the first row comes before it.
        let ids = insert.load(self).await?;
        ids.into_iter().next().ok_or(NotFound)
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

    const TABLE_LOCK: Option<(&'static str, &'static str)> = None;

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
            "::json) AS (name text, type text, year bigint, search_text text, own_text text, own text))
             WITH ORDINALITY AS new (name, type, year, search_text, own_text, own, place)),
             inserted AS (INSERT INTO robots (id, name, type, year, search_text, own_text, own)
                 OVERRIDING SYSTEM VALUE
                 SELECT id, name, type, year, search_text, own_text, own FROM new
                 ON CONFLICT {target} DO NOTHING RETURNING id)
             SELECT CASE WHEN id IN (TABLE inserted) THEN id END FROM new ORDER BY place"
        ));
        Rows::<Nullable<BigInt>>::of(insert).load(self).await
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
             FROM new WHERE robots.id = new.id AND new.id NOT IN (TABLE taken)
             RETURNING robots.id"
        ));
        let ids = self.numbers(update).await?;
        Ok(ids.into_iter().filter_map(RobotId::new).collect())
    }
}
