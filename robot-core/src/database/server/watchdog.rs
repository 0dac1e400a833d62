//! Watchdog: a thread that enforces the time limits of batches. A driver waits for an answer without a
//! time limit, and a frozen server sends none.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

/// The interval between two checks. Shorter costs more processor time under load; longer makes items wait
/// longer behind a batch that takes long.
const INTERVAL: Duration = Duration::from_millis(10);

/// The number of checks without anything to supervise after which the watchdog sleeps. Fewer, and it is
/// woken for single requests; more, and an idle program wakes up more often.
const IDLE_CHECKS: u32 = 100;

/// Something that has time limits.
pub(super) trait Supervised: Send + Sync {
    /// Enforces the time limits. Returns whether there is anything whose time is limited.
    fn supervise(self: Arc<Self>) -> bool;
}

/// Wakes the watchdog.
#[derive(Debug, Default)]
pub(super) struct Alarm {
    is_awake: AtomicBool,
    is_closed: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Alarm {
    /// Called after something with a time limit has been added.
    pub(super) fn wake(&self) {
        if !self.is_awake.load(Ordering::SeqCst) && !self.is_awake.swap(true, Ordering::SeqCst) {
            self.unpark();
        }
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// The thread. Dropping it ends it.
pub(super) struct Watchdog(Arc<Alarm>);

impl Watchdog {
    pub(super) fn start(
        alarm: Arc<Alarm>,
        supervised: Vec<Arc<dyn Supervised>>,
    ) -> std::io::Result<Self> {
        let watchdog = Self(Arc::clone(&alarm));
        let thread = thread::Builder::new()
            .name("robot-watchdog".to_owned())
            .spawn(move || run(&alarm, &supervised))?;
        let Self(alarm) = &watchdog;
        // Not set before.
        let _ = alarm.thread.set(thread.thread().clone());
        // If it was woken in between.
        alarm.unpark();
        Ok(watchdog)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let Self(alarm) = self;
        alarm.is_closed.store(true, Ordering::SeqCst);
        alarm.unpark();
    }
}

fn run(alarm: &Alarm, supervised: &[Arc<dyn Supervised>]) {
    let supervise = || {
        let is_busy = |supervised: &Arc<dyn Supervised>| Arc::clone(supervised).supervise();
        // Each of them, so without `any`.
        supervised.iter().filter(|each| is_busy(each)).count() > 0
    };
    let mut idle_checks = 0;
    while !alarm.is_closed.load(Ordering::SeqCst) {
        idle_checks = if supervise() { 0 } else { idle_checks + 1 };
        if idle_checks < IDLE_CHECKS {
            thread::sleep(INTERVAL);
            continue;
        }
        alarm.is_awake.store(false, Ordering::SeqCst);
        // What was added before is seen now; what is added later wakes the watchdog.
        if !supervise() {
            thread::park();
        }
        alarm.is_awake.store(true, Ordering::SeqCst);
        idle_checks = 0;
    }
}
