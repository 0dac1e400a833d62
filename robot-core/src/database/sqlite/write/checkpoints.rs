//! Checkpoints: they copy the pages of the write-ahead log (WAL) into the database file.
//!
//! SQLite's automatic checkpoints discard errors. After a sync that failed, the kernel may forget the
//! pages that are not on disk, and later syncs succeed without them. Then only the WAL has these
//! pages, and the next checkpoint that succeeds would let SQLite overwrite them there. So checkpoints
//! are run here, after a commit was acknowledged, and an error suspends writes until a restart.

use std::time::{Duration, Instant};

use ::metrics::{Gauge, Histogram, counter, gauge, histogram};
use diesel::{
    QueryResult, RunQueryDsl, SqliteConnection, connection::SimpleConnection, dsl::sql,
    sql_types::Integer,
};

use crate::database::sqlite::{
    connect::{DatabaseFile, WAL_LIMIT},
    errors::{is_disk_full, is_locked},
};
use crate::metrics::{SQLITE_CHECKPOINT_DURATION, SQLITE_CHECKPOINTS, SQLITE_LOG_BYTES};

/// The number of pages that are only in the WAL from which it is checkpointed: three times SQLite's default. A longer
/// WAL has more pages that were changed more than once, and a checkpoint copies each once: robots with indexed fields
/// change pages all over the file. Lower values sync more often; higher ones make the slowest changes wait longer.
const PAGE_LIMIT: i32 = 3000;

/// How long a checkpoint waits for readers of the WAL, so that the WAL can start again. All writes
/// wait meanwhile. Reads of the catalogue take less, except for backups.
const READERS_TIMEOUT: Duration = Duration::from_millis(20);

/// The shortest time between two such checkpoints, so that a long read costs the writes at most 2 %
/// of their time.
const RESTART_INTERVAL: Duration = Duration::from_secs(1);

/// Decides when checkpoints are due, and runs them.
pub(crate) struct Checkpoints {
    file: DatabaseFile,
    last_restart: Option<Instant>,
    wal_bytes: Gauge,
    duration: Histogram,
}

impl Checkpoints {
    pub(crate) fn new(file: &DatabaseFile) -> Self {
        for result in ["complete", "blocked", "disk_full", "failed"] {
            counter!(SQLITE_CHECKPOINTS.name, "result" => result).increment(0);
        }
        Self {
            file: file.clone(),
            last_restart: None,
            wal_bytes: gauge!(SQLITE_LOG_BYTES.name),
            duration: histogram!(SQLITE_CHECKPOINT_DURATION.name),
        }
    }

    /// Runs a checkpoint if one is due after a commit.
    ///
    /// # Errors
    /// It failed, and a later one may not write the same pages again.
    pub(crate) fn run_if_due(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        let length = self.file.wal_length();
        self.wal_bytes.set(bytes(length));
        if length > WAL_LIMIT {
            return self.restart_wal(connection);
        }
        // An error is that of the checkpoint, which finds it, too.
        let is_short = |(_, pages, copied)| pages - copied < PAGE_LIMIT;
        if status(connection, "NOOP").is_ok_and(is_short) {
            return Ok(());
        }
        self.run(connection)
    }

    /// Makes the next commit start the WAL again from the beginning, which then also shortens the
    /// file, unless reads take too long.
    fn restart_wal(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        if self
            .last_restart
            .is_some_and(|last| last.elapsed() < RESTART_INTERVAL)
        {
            return Ok(());
        }
        self.last_restart = Some(Instant::now());
        let timeout = READERS_TIMEOUT.as_millis();
        connection.batch_execute(&format!("PRAGMA busy_timeout = {timeout}"))?;
        let result = self.checkpoint(connection, "RESTART");
        connection.batch_execute("PRAGMA busy_timeout = 0")?;
        result
    }

    /// Copies what no reader prevents.
    ///
    /// # Errors
    /// As [`run_if_due`](Self::run_if_due).
    pub(crate) fn run(&mut self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.checkpoint(connection, "PASSIVE")
    }

    fn checkpoint(&self, connection: &mut SqliteConnection, mode: &str) -> QueryResult<()> {
        let started = Instant::now();
        let result = status(connection, mode);
        self.duration.record(started.elapsed());
        let (label, result) = match result {
            Ok((0, pages, copied)) if pages == copied => ("complete", Ok(())),
            // Another connection reads or locks the WAL.
            Ok(_) => ("blocked", Ok(())),
            Err(error) if is_locked(&error) => ("blocked", Ok(())),
            Err(error) if is_disk_full(&error) => ("disk_full", Ok(())),
            Err(error) => ("failed", Err(error)),
        };
        counter!(SQLITE_CHECKPOINTS.name, "result" => label).increment(1);
        result
    }
}

/// Runs a checkpoint, or none (mode `NOOP`). Returns whether a lock prevented it, the number of pages in
/// the WAL since it last started again, and how many of them were copied.
fn status(connection: &mut SqliteConnection, mode: &str) -> QueryResult<(i32, i32, i32)> {
    sql::<(Integer, Integer, Integer)>(&format!("PRAGMA wal_checkpoint({mode})"))
        .get_result(connection)
}

/// A number of bytes as the value of a metric.
#[expect(
    clippy::cast_precision_loss,
    reason = "9 PB and less are exact, and more are close enough"
)]
fn bytes(number: u64) -> f64 {
    number as f64
}
