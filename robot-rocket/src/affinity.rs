//! CPU affinity: binds each worker thread to its own CPU.
//!
//! Without affinity, the scheduler may place several busy workers on one CPU while another is idle:
//! it places threads when they wake, and busy workers hardly sleep.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

thread_local! {
    static IS_BOUND: Cell<bool> = const { Cell::new(false) };
}

/// The CPUs for the workers of a runtime.
pub(crate) struct Cpus {
    all: CpuSet,
    /// Each CPU as a set.
    single: Vec<CpuSet>,
    /// The number of workers that are bound.
    bound: AtomicUsize,
}

impl Cpus {
    /// The CPUs that this thread may run on, if there are as many as workers. Fewer workers are not
    /// bound, because all programs with few workers would use the same CPUs; more workers would share
    /// CPUs.
    pub(crate) fn for_workers(workers: usize) -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let single: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|&cpu| all.is_set(cpu))
            .map(only)
            .collect();
        (single.len() == workers).then_some(Self {
            all,
            single,
            bound: AtomicUsize::new(0),
        })
    }

    /// Allows this thread, which a worker may have started, to run on every CPU. It would inherit the
    /// CPU of the worker.
    pub(crate) fn unbind(&self) {
        // If a filter of system calls forbids it, no worker was bound, either.
        let _ = sched_setaffinity(None, &self.all);
    }

    /// Binds this worker to the next free CPU, unless it is bound.
    pub(crate) fn bind(&self) {
        if IS_BOUND.replace(true) {
            return;
        }
        let next = self.bound.fetch_add(1, Ordering::Relaxed);
        if let Some(cpu) = self.single.get(next) {
            // Fails if the process lost the CPU in the meantime, and then the worker stays unbound.
            let _ = sched_setaffinity(None, cpu);
        }
    }
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}
