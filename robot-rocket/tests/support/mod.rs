//! Servers as processes, and calls to them.

pub(crate) mod calls;
pub(crate) mod process;
pub(crate) mod strace;
