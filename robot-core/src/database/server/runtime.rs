//! The Tokio runtime of a store on a database server.

use std::{future::Future, io};

use tokio::{
    runtime::{Builder, Handle},
    task::unconstrained,
};

use crate::catalogue::OpenOptions;

/// Where the tasks of a store run.
pub(super) struct Runtime {
    pub(super) handle: Handle,
    /// The store's own, which ends with it.
    pub(super) own: Option<tokio::runtime::Runtime>,
}

impl Runtime {
    /// The runtime of the caller if the options say so, and otherwise a new one with a thread. A runtime whose
    /// threads wait for results of the store could not compute these.
    pub(super) fn new(options: &OpenOptions) -> io::Result<Self> {
        let callers = Handle::try_current().ok();
        if let Some(handle) = callers.filter(|_| options.use_current_runtime) {
            return Ok(Self { handle, own: None });
        }
        let own = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("robot-database")
            .enable_io()
            .enable_time()
            .build()?;
        Ok(Self {
            handle: own.handle().clone(),
            own: Some(own),
        })
    }

    /// Blocks the thread until a future is complete. The thread may be executing a task, whose share of work
    /// (see [`unconstrained`]) does not limit the future.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let _context = self.handle.enter();
        pollster::block_on(unconstrained(future))
    }
}

impl Drop for Runtime {
    /// Without waiting: the thread may be one of another runtime, which must not block.
    fn drop(&mut self) {
        if let Some(own) = self.own.take() {
            own.shutdown_background();
        }
    }
}
