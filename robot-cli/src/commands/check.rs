//! `check`: whether the catalogue is undamaged.

use std::io::{self, Write};

use robot_core::{CheckError, CheckReport, repair};
use serde_json::json;

use crate::{
    context::{Context, OutputFormat},
    error::CliError,
    interrupt::Interrupt,
    printable::printable,
    progress::{Progress, robot_count},
    rows::Rows,
    terminal::note,
};

/// The exit status if a check failed.
const PROBLEMS_STATUS: u8 = 3;

/// Checks the catalogue and prints the outcome of each check.
pub(crate) fn run(context: &mut Context<'_>, repairs: bool) -> Result<(), CliError> {
    let interrupt = Interrupt::register()?;
    let progress = Progress::new(None, "checking");
    let report = context.options.check(&context.database, |robots| {
        progress.update(robots, "checked");
        interrupt.control_flow()
    });
    drop(progress);
    let failure = |error| match error {
        CheckError::Open(error) => error.into(),
        CheckError::Catalogue(error) => error.into(),
        _ => interrupt.stopped("; the check is incomplete"),
    };
    let mut report = report.map_err(failure)?;
    if repairs && !report.harmless.is_empty() {
        let catalogue = context.open_existing()?;
        let repaired = repair(&*catalogue, |_| interrupt.control_flow()).map_err(failure)?;
        report.harmless.clear();
        let repaired = context.worded(&robot_count(repaired));
        note(&format!(
            "Removed values of fields that the catalogue does not have: {repaired}."
        ));
    }
    if context.print_format() == OutputFormat::Table {
        context.read_definition();
    }
    let robots = match report.robots {
        Some(count) => context.worded(&robot_count(count)),
        None => context.worded("the robots were not read"),
    };
    let printed = print(&report, &robots, context.print_format(), context.output);
    let not_printed = printed.err().map(CliError::output);
    let problems = (!report.is_passed()).then(|| {
        CliError::with_status(
            PROBLEMS_STATUS,
            "problems were found; restore a backup, or see 'Damaged catalogue' in the operations document",
        )
    });
    CliError::combine(not_printed.into_iter().chain(problems))
}

/// Result of a check, as programs get it.
fn result(findings: &[String]) -> &'static str {
    if findings.is_empty() { "ok" } else { "failed" }
}

fn print(
    report: &CheckReport,
    robots: &str,
    format: OutputFormat,
    output: &mut dyn Write,
) -> io::Result<()> {
    if format == OutputFormat::Table {
        return print_lines(report, robots, output);
    }
    let rows = report.findings.iter().map(|(check, findings)| {
        let result = result(findings);
        vec![json!(check.as_str()), json!(result), json!(findings)]
    });
    let rows = Rows {
        columns: vec!["check", "result", "findings"],
        rows: rows.collect(),
    };
    let (passed, robots) = (report.is_passed(), json!(report.robots));
    let (harmless, unused) = (json!(report.harmless), json!(report.unused));
    let after = format!(
        ",\"harmless\":{harmless},\"unused\":{unused},\"passed\":{passed},\"robots\":{robots}}}"
    );
    // The result is one object.
    let format = match format {
        OutputFormat::Ndjson => OutputFormat::Json,
        format => format,
    };
    rows.print(format, ["{\"checks\":", &after], output)
}

fn print_lines(report: &CheckReport, robots: &str, output: &mut dyn Write) -> io::Result<()> {
    for (check, findings) in &report.findings {
        let mut line = format!("{}: {}", check.as_str(), result(findings));
        if !findings.is_empty() {
            line = format!("{line}: {}", findings.join("; "));
        }
        writeln!(output, "{}", printable(&line))?;
    }
    if !report.harmless.is_empty() {
        let line = format!(
            "Without effect, removed by --repair: {}",
            report.harmless.join("; ")
        );
        writeln!(output, "{}", printable(&line))?;
    }
    if !report.unused.is_empty() {
        writeln!(
            output,
            "Fields without a value: {}",
            report.unused.join(", ")
        )?;
    }
    let checks = report.findings.iter();
    let failed = checks.filter(|(_, findings)| !findings.is_empty()).count();
    match failed {
        0 => writeln!(output, "No problems found: {robots}.")?,
        _ => writeln!(output, "Failed checks: {failed}; {robots}.")?,
    }
    output.flush()
}
