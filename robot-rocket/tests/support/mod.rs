//! Servers as processes, and calls to them.

pub(crate) mod calls;
pub(crate) mod certificates;
pub(crate) mod process;
pub(crate) mod scrape;
pub(crate) mod strace;
