//! Metrics of the process, with the names that exporters of Prometheus have in common.

use ::metrics::{counter, gauge};
use procfs::{
    ProcResult, WithCurrentSystemInfo,
    process::{LimitValue, Process},
    ticks_per_second,
};

/// Reads the metrics. Those that cannot be read stay as they were.
#[expect(clippy::cast_precision_loss, reason = "exact up to 9 petabytes")]
pub(super) fn record() -> ProcResult<()> {
    let process = Process::myself()?;
    let stat = process.stat()?;
    gauge!("process_resident_memory_bytes").set(stat.rss_bytes().get() as f64);
    gauge!("process_threads").set(stat.num_threads as f64);
    gauge!("process_open_fds").set(process.fd_count()? as f64);
    let time = stat.utime + stat.stime;
    counter!("process_cpu_seconds_total").absolute(time / ticks_per_second());
    if let LimitValue::Value(limit) = process.limits()?.max_open_files.soft_limit {
        gauge!("process_max_fds").set(limit as f64);
    }
    Ok(())
}
