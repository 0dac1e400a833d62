//! The log of the server, on standard error.

use std::{
    io::{self, BufWriter, IsTerminal, Write},
    panic,
};

use metrics::counter;
use rocket::figment::Figment;
use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    EnvFilter, Layer, Registry, filter::filter_fn, fmt, layer::SubscriberExt,
    util::SubscriberInitExt,
};

/// The filter that `RUST_LOG` extends: no records of Rocket (its indented lines have the target `_`), which
/// are for developers. `main` reports its errors.
const DEFAULT_FILTER: &str = "warn,rocket=off,_=off";

/// What `RUST_LOG` chooses if it is not set: also the results of reloads, which show which tokens have changed.
const DEFAULT_CHOICE: &str = "robot_rocket::reload=info";

/// The libraries that log whole requests, including tokens, and the level at which they do.
const SENSITIVE_TARGETS: [(&str, Level); 2] = [("rocket", Level::DEBUG), ("hyper", Level::TRACE)];

/// The number of lines that wait while standard error is blocked; further ones are lost, so that a log
/// that is not read does not block requests. Lower, and lines are lost in bursts of requests; higher,
/// and a blocked log takes more memory: about 3 MB with this number.
const BUFFERED_LINES: usize = 10_000;

/// Whether the log has JSON. A wrong setting, which is reported with the others, counts as none.
pub(crate) fn is_json(figment: &Figment) -> bool {
    let format = figment.extract_inner::<String>("log_format");
    format.is_ok_and(|format| format == "json")
}

/// Installs the log: the events and records that `RUST_LOG` chooses, without those that contain secrets. The
/// guard writes what is buffered when it is dropped.
pub(crate) fn start(figment: &Figment) -> WorkerGuard {
    let (writer, guard) = NonBlockingBuilder::default()
        .buffered_lines_limit(BUFFERED_LINES)
        // The lines that wait are written together.
        .finish(BufWriter::new(io::stderr()));
    let lines = fmt::layer().with_writer(move || Lines(writer.clone()));
    let lines: Box<dyn Layer<_> + Send + Sync> = if is_json(figment) {
        let lines = lines.json().flatten_event(true);
        let lines = lines.with_current_span(false).with_span_list(false);
        lines.boxed()
    } else {
        lines.with_ansi(is_colourful()).boxed()
    };
    let installed = Registry::default()
        .with(lines)
        .with(filter())
        .with(filter_fn(|metadata| !is_sensitive(metadata)))
        .try_init();
    // Fails if another log was installed before, which the program does not do.
    if installed.is_ok() {
        panic::set_hook(Box::new(|panic| tracing::error!("a bug: {panic}")));
    }
    guard
}

/// Queues lines, and counts those that are lost.
struct Lines(NonBlocking);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = self.0.write(line)?;
        let lost = self.0.error_counter().dropped_lines();
        if lost > 0 {
            counter!("robots_log_lines_lost_total")
                .absolute(u64::try_from(lost).unwrap_or(u64::MAX));
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The default filter with the directives of `RUST_LOG`, of which wrong ones are reported on standard error.
fn filter() -> EnvFilter {
    let chosen = std::env::var(EnvFilter::DEFAULT_ENV);
    let chosen = chosen.as_deref().unwrap_or(DEFAULT_CHOICE);
    // Of two directives for one target, the last one counts.
    EnvFilter::builder().parse_lossy(format!("{DEFAULT_FILTER},{chosen}"))
}

fn is_sensitive(metadata: &Metadata<'_>) -> bool {
    SENSITIVE_TARGETS.iter().any(|(library, level)| {
        let path = metadata.target().strip_prefix(library);
        metadata.level() >= level
            && path.is_some_and(|path| path.is_empty() || path.starts_with("::"))
    })
}

fn is_colourful() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
