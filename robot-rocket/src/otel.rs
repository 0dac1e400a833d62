//! The standard environment variables of OpenTelemetry.

use std::env;

/// The variable with the address of the collector, and its value, if the export is not disabled.
pub(crate) fn requested() -> Option<(String, String)> {
    let is_disabled = value("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
    let is_other = value("OTEL_TRACES_EXPORTER").is_some_and(|it| it != "otlp");
    exporter("ENDPOINT").filter(|_| !is_disabled && !is_other)
}

/// The name and the value of a variable of the exporter. One for traces takes precedence.
pub(crate) fn exporter(name: &str) -> Option<(String, String)> {
    let prefixes = ["OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"];
    let mut names = prefixes.into_iter().map(|prefix| format!("{prefix}{name}"));
    names.find_map(|name| value(&name).map(|value| (name, value)))
}

/// The value of a variable. An empty one counts as not set, as OpenTelemetry requires.
pub(crate) fn value(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
