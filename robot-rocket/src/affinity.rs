//! Keeps each worker to a CPU of its own.
//!
//! Workers that are busy hardly sleep, and a system that places threads when they wake, and means to
//! spare CPUs, leaves several of them on one CPU while another one has little to do. It shows most
//! where other threads come and go, such as the one that writes.

use std::{
    cell::Cell,
    sync::atomic::{AtomicUsize, Ordering},
};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

thread_local! {
    static HAS_A_CPU: Cell<bool> = const { Cell::new(false) };
}

/// The CPUs of a runtime that has as many workers.
pub(crate) struct Cpus {
    all: CpuSet,
    /// Each as a set of its own.
    single: Vec<CpuSet>,
    given: AtomicUsize,
}

impl Cpus {
    /// The CPUs that the caller may run on, if they are as many as the workers. Fewer workers are not
    /// bound, for those of all programs that have few would be bound to the same CPUs; more of them
    /// would stand in each other's way.
    pub(crate) fn for_each_of(workers: usize) -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        let single: Vec<_> = (0..CpuSet::MAX_CPU)
            .filter(|&cpu| all.is_set(cpu))
            .map(only)
            .collect();
        (single.len() == workers).then_some(Self {
            all,
            single,
            given: AtomicUsize::new(0),
        })
    }

    /// Lets a thread that starts run on every CPU. One that a worker starts would have that of the
    /// worker.
    pub(crate) fn open_to_all(&self) {
        // Where it must not be set (by a filter of system calls, say) it was not set before, either.
        let _ = sched_setaffinity(None, &self.all);
    }

    /// Binds the worker that calls this for the first time to a CPU that no other one has.
    pub(crate) fn bind(&self) {
        if HAS_A_CPU.replace(true) {
            return;
        }
        let given = self.given.fetch_add(1, Ordering::Relaxed);
        if let Some(cpu) = self.single.get(given) {
            // The CPU may have been taken from this process in the meantime; it runs where it may.
            let _ = sched_setaffinity(None, cpu);
        }
    }
}

fn only(cpu: usize) -> CpuSet {
    let mut set = CpuSet::new();
    set.set(cpu);
    set
}
