//! The setting that requests traces.

use super::reader::Reader;
use crate::otel::requested;

/// Reports the variable that requests traces, but not its value, which may have secrets. If they cannot be exported,
/// there is a warning, and the server runs without them: platforms set these variables for all programs alike.
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
