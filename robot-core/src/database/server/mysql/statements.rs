//! Statements in MariaDB's and MySQL's dialect, and their migrations.

use std::hash::{BuildHasher, RandomState};

use diesel::{
    MysqlConnection,
    connection::SimpleConnection,
    dsl::sql,
    mysql::Mysql,
    prelude::*,
    sql_types::{BigInt, Text},
};
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use crate::{
    catalogue::Error,
    database::{
        errors::wrap,
        migrations::{Failure, Migrate},
        schema::{DraftRow, RobotRow, robots},
        server::{errors::MIGRATING, limits::MIGRATION_LOCK_TIMEOUT},
        statements::{Contains, Dialect, impl_statements},
    },
    model::{Robot, ValidDraft},
};

diesel::define_sql_function! {
    /// The position of `part` in `whole`, in characters from 1; 0 if it is not contained.
    fn instr(whole: Text, part: Text) -> Integer;
}

diesel::define_sql_function! {
    /// The id of the row that this connection inserted last.
    fn last_insert_id() -> BigInt;
}

impl_statements!(MysqlConnection);

impl Dialect for MysqlConnection {
    fn insert(&mut self, draft: &ValidDraft) -> QueryResult<i64> {
        diesel::insert_into(robots::table)
            .values(DraftRow::from(draft))
            .execute(self)?;
        // The row is committed: from here on no error may mean that nothing was stored.
        diesel::select(last_insert_id())
            .get_result(self)
            .map_err(|error| wrap(Error::unknown(error)))
    }

    /// MariaDB and MySQL have no index for parts of names.
    fn contains<'a>(&mut self, text: &'a str) -> Contains<'a, Mysql> {
        Box::new(instr(robots::name, text).gt(0))
    }

    fn insert_robots(&mut self, robots: &[Robot]) -> QueryResult<()> {
        let rows: Vec<_> = robots.iter().map(RobotRow::from).collect();
        let insert = diesel::insert_into(robots::table).values(rows);
        insert.execute(self).map(drop)
    }

    fn last_number(&mut self) -> QueryResult<i64> {
        sql::<BigInt>(
            "SELECT CAST(auto_increment AS SIGNED) - 1 FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'robots'",
        )
        .get_result(self)
    }

    /// Inserts a row with the number and deletes it. ALTER TABLE would end the transaction, and could
    /// lower the number.
    fn raise_last_number(&mut self, number: i64) -> QueryResult<()> {
        let random = RandomState::new().hash_one(number);
        let name = format!("\u{10ffff}{random:016x}");
        diesel::insert_into(robots::table)
            .values(RobotRow::temporary(number, &name))
            .execute(self)?;
        diesel::delete(robots::table.find(number))
            .execute(self)
            .map(drop)
    }
}

impl Migrate for MysqlConnection {
    const MIGRATIONS: EmbeddedMigrations = embed_migrations!("migrations/mysql");

    const TABLES: &str = "SELECT table_name FROM information_schema.tables \
                          WHERE table_schema = DATABASE() \
                          AND table_name IN ('robots', '__diesel_schema_migrations')";

    fn texts(&mut self, query: &str) -> QueryResult<Vec<String>> {
        sql::<Text>(query).load(self)
    }

    fn exclusively<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        // Changes of tables are not transactional here, so that migrations must tolerate being run
        // again. The lock works among the processes on one server. The name of a lock is at most as
        // long as that of a database, hence the hash.
        const LOCK: &str = "SHA1(CONCAT(DATABASE(), '.robots'))";
        let seconds = MIGRATION_LOCK_TIMEOUT.as_secs();
        let lock = format!("SELECT CAST(GET_LOCK({LOCK}, {seconds}) AS CHAR)");
        if self.texts(&lock)? != ["1"] {
            return Err(Failure(MIGRATING.into()));
        }
        let result = work(self);
        self.batch_execute(&format!("DO RELEASE_LOCK({LOCK})"))?;
        result
    }
}
