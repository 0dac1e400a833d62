//! The log of the server, on standard error.

use env_logger::{Builder, Env, Logger};
use log::{Level, Log, Metadata, Record};

/// What is logged unless told otherwise: warnings, but none of Rocket's (its indented lines
/// have the target `_`), which are for its developers. What it fails at is reported by `main`.
const LOGGED: &str = "warn,rocket=off,_=off";

/// From which level on a library logs whole requests, the tokens in their headers among them.
const TELLTALES: [(&str, Level); 2] = [("rocket", Level::Debug), ("hyper", Level::Trace)];

/// Logs what `RUST_LOG` says, but nobody's secrets.
pub(crate) fn start() {
    let logger = Builder::from_env(Env::default().default_filter_or(LOGGED)).build();
    let level = logger.filter();
    // This is the first logger and stays the only one.
    if log::set_boxed_logger(Box::new(Discreet(logger))).is_ok() {
        log::set_max_level(level);
    }
}

struct Discreet(Logger);

impl Log for Discreet {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_telltale = TELLTALES.iter().any(|(library, level)| {
            let path = metadata.target().strip_prefix(library);
            metadata.level() >= *level
                && path.is_some_and(|path| path.is_empty() || path.starts_with("::"))
        });
        !is_telltale && self.0.enabled(metadata)
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            self.0.log(record);
        }
    }

    fn flush(&self) {
        self.0.flush();
    }
}
