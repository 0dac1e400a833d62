//! Metrics of the server: requests, connections and threads.

#[cfg(feature = "server")]
mod description;
#[cfg(feature = "server")]
mod exporter;
#[cfg(all(feature = "server", target_os = "linux"))]
mod process;
mod requests;

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "server")]
pub use exporter::serve_metrics;
pub(crate) use requests::{LabelSlot, Labels, RequestInfo};

/// Whether this process has started a server of metrics.
static ARE_SERVED: AtomicBool = AtomicBool::new(false);

pub(crate) fn are_served() -> bool {
    ARE_SERVED.load(Ordering::Relaxed)
}
