//! Metrics of the process, with the names that exporters of Prometheus have in common.

use ::metrics::{counter, gauge};
use procfs::{
    ProcResult, WithCurrentSystemInfo,
    process::{LimitValue, Process},
    ticks_per_second,
};
use robot_core::metrics::Metric;

const CPU: Metric = Metric::counter(
    "process_cpu_seconds_total",
    "CPU time in user and system mode",
);
const MEMORY: Metric = Metric::gauge(
    "process_resident_memory_bytes",
    "Memory that is not swapped out",
);
const THREADS: Metric = Metric::gauge("process_threads", "Threads");
const OPEN_FILES: Metric = Metric::gauge("process_open_fds", "Open files");
const MAXIMUM_FILES: Metric = Metric::gauge("process_max_fds", "Files that may be open");

pub(super) fn describe() {
    let all = [CPU, MEMORY, THREADS, OPEN_FILES, MAXIMUM_FILES];
    all.iter().for_each(Metric::describe);
}

/// Reads the metrics. Those that cannot be read stay as they were.
#[expect(clippy::cast_precision_loss, reason = "exact up to 9 petabytes")]
pub(super) fn record() -> ProcResult<()> {
    let process = Process::myself()?;
    let stat = process.stat()?;
    counter!(CPU.name).absolute((stat.utime + stat.stime) / ticks_per_second());
    gauge!(MEMORY.name).set(stat.rss_bytes().get() as f64);
    gauge!(THREADS.name).set(stat.num_threads as f64);
    gauge!(OPEN_FILES.name).set(process.fd_count()? as f64);
    if let LimitValue::Value(limit) = process.limits()?.max_open_files.soft_limit {
        gauge!(MAXIMUM_FILES.name).set(limit as f64);
    }
    Ok(())
}
