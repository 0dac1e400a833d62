//! The thread that writes: its queue, its transactions, the checks of the files, and the WAL.

mod checkpoints;
mod integrity;
mod queue;
mod session;
mod writer;

pub(crate) use writer::{Work, Writer};
