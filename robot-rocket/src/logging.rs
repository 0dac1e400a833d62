//! The log of the server, on standard error.

use env_logger::{Builder, Env, Logger};
use log::{Level, Log, Metadata, Record};

/// The default filter: warnings, except those of Rocket (its indented lines have the target `_`),
/// which are for developers. Its errors are reported by `main`.
const DEFAULT_FILTER: &str = "warn,rocket=off,_=off";

/// The libraries that log whole requests, including tokens, and the level at which they do.
const SENSITIVE_TARGETS: [(&str, Level); 2] = [("rocket", Level::Debug), ("hyper", Level::Trace)];

/// Installs the logger: the filter of `RUST_LOG`, without log records that contain secrets.
pub(crate) fn start() {
    let logger = Builder::from_env(Env::default().default_filter_or(DEFAULT_FILTER)).build();
    let level = logger.filter();
    // No other logger was installed before.
    if log::set_boxed_logger(Box::new(WithoutSecrets(logger))).is_ok() {
        log::set_max_level(level);
    }
}

struct WithoutSecrets(Logger);

impl Log for WithoutSecrets {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_sensitive = SENSITIVE_TARGETS.iter().any(|(library, level)| {
            let path = metadata.target().strip_prefix(library);
            metadata.level() >= *level
                && path.is_some_and(|path| path.is_empty() || path.starts_with("::"))
        });
        !is_sensitive && self.0.enabled(metadata)
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
