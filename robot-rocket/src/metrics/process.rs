//! Metrics of the process, with the names that exporters of Prometheus have in common.

use procfs::{
    ProcResult, WithCurrentSystemInfo,
    process::{LimitValue, Process},
    ticks_per_second,
};

use super::{described_counter, described_gauge};

/// Reads the metrics. Those that cannot be read stay as they were.
#[expect(clippy::cast_precision_loss, reason = "exact up to 9 petabytes")]
pub(super) fn record() -> ProcResult<()> {
    let process = Process::myself()?;
    let stat = process.stat()?;
    let gauges = [
        (
            "process_resident_memory_bytes",
            "Memory that is not swapped out",
            stat.rss_bytes().get() as f64,
        ),
        ("process_threads", "Threads", stat.num_threads as f64),
        ("process_open_fds", "Open files", process.fd_count()? as f64),
    ];
    for (name, description, value) in gauges {
        described_gauge(name, description).set(value);
    }
    described_counter(
        "process_cpu_seconds_total",
        "CPU time in user and system mode",
    )
    .absolute((stat.utime + stat.stime) / ticks_per_second());
    if let LimitValue::Value(limit) = process.limits()?.max_open_files.soft_limit {
        described_gauge("process_max_fds", "Files that may be open").set(limit as f64);
    }
    Ok(())
}
