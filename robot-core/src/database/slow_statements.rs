//! Log of the statements that take long.

use std::time::{Duration, Instant};

use diesel::connection::{Instrumentation, InstrumentationEvent};

/// The maximum number of characters of a statement in the log. Lower, and statements look alike; higher,
/// and that of a large batch fills the log.
const SHOWN: usize = 400;

/// What Diesel writes between a statement and its values.
const VALUES: &str = " -- binds: ";

/// Logs the statements of a connection that take this long or longer, without their values.
pub(super) fn stopwatch(limit: Duration) -> impl Instrumentation {
    // When the current statement started.
    let mut started: Option<Instant> = None;
    move |event: InstrumentationEvent<'_>| match event {
        InstrumentationEvent::StartQuery { .. } => started = Some(Instant::now()),
        InstrumentationEvent::FinishQuery { query, .. } => {
            let duration = started.take().map(|started| started.elapsed());
            if let Some(duration) = duration.filter(|duration| *duration >= limit) {
                log(&without_values(&query.to_string()), duration);
            }
        }
        _ => {}
    }
}

pub(super) fn log(statement: &str, duration: Duration) {
    let duration_ms = (duration.as_secs_f64() * 1e6).round() / 1000.0;
    tracing::warn!(duration_ms, "slow statement: {statement}");
}

/// The start of a statement in one line, without comments before it.
fn without_values(query: &str) -> String {
    let (statement, _) = query.split_once(VALUES).unwrap_or((query, ""));
    let lines = statement.lines();
    let lines = lines.skip_while(|line| line.trim_start().starts_with("--"));
    let words = lines.flat_map(str::split_whitespace);
    let statement = words.collect::<Vec<_>>().join(" ");
    match statement.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &statement[..end]),
        None => statement,
    }
}

#[cfg(test)]
mod tests {
    use diesel::debug_query;

    use super::*;
    use crate::database::fragment::Fragment;

    #[test]
    #[cfg(feature = "sqlite")]
    fn statement_has_no_values() {
        let query = Fragment::new("SELECT id FROM robots WHERE name = ").text("Secret -- binds: ");
        let query = debug_query::<diesel::sqlite::Sqlite, _>(&query).to_string();
        assert!(query.contains("Secret"), "{query}");
        let statement = without_values(&query);
        assert!(statement.starts_with("SELECT"), "{statement}");
        assert!(!statement.contains("Secret"), "{statement}");
    }

    #[test]
    fn statement_is_one_line_of_limited_length() {
        assert_eq!(
            without_values("-- a\n -- b\nBEGIN\n  IMMEDIATE"),
            "BEGIN IMMEDIATE"
        );
        let statement = without_values(&"x".repeat(SHOWN + 1));
        assert_eq!(statement.len(), SHOWN + "...".len());
    }
}
