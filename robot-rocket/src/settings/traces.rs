//! Traces, as the standard environment variables of OpenTelemetry request them.

use std::env;

#[cfg(feature = "server")]
use super::reader::Reader;

/// Reports the variable that requests traces, but not its value, which may have secrets. If they cannot be exported,
/// there is a warning, and the server runs without them: platforms set these variables for all programs alike.
#[cfg(feature = "server")]
pub(super) fn report(reader: &mut Reader<'_>) {
    match requested() {
        Some((variable, _)) => reader.report("traces", &"requested", &variable),
        None => reader.report("traces", &"none", "default"),
    }
    #[cfg(feature = "otlp")]
    let problem = crate::traces::check().err();
    #[cfg(not(feature = "otlp"))]
    let problem = requested().map(|(variable, _)| {
        format!(
            "{variable} is set, but this server was built without the feature otlp; build it with \
             '--features otlp', or remove the variable"
        )
    });
    if let Some(problem) = problem {
        reader.warning(format!("requests are not traced: {problem}"));
    }
}

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
