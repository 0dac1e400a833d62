//! Waiting for changes of a catalogue.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use ::metrics::gauge;
use futures_channel::oneshot;

use super::{history::Position, store::Catalogue};
use crate::metrics::{Counted, WAITING_CLIENTS};

/// How often the catalogue is looked at while somebody waits. Longer, and changes are noticed later; shorter, and the look
/// takes more of the store's time.
const INTERVAL: Duration = Duration::from_millis(20);

/// Notices changes, also those of other processes, while somebody waits for them. Waiting takes no thread.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use robot_core::{Catalogue, CatalogueExt, Draft, MemoryCatalogue, Watch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let watch = Watch::new(Arc::clone(&catalogue) as Arc<dyn Catalogue>);
/// let start = catalogue.position()?;
/// let changed = watch.wait(start.clone(), Duration::from_secs(30));
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// changed.await;
/// assert_eq!(catalogue.changes(&start, 10)?.events.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Watch(Arc<Shared>);

struct Shared {
    catalogue: Arc<dyn Catalogue>,
    waiters: Mutex<Waiters>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiters {
    list: Vec<Waiter>,
    has_thread: bool,
}

struct Waiter {
    after: Position,
    deadline: Instant,
    /// Its receiver ends when it is dropped.
    sender: oneshot::Sender<()>,
    _counted: Counted,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Watch {
    /// Of this catalogue.
    #[must_use]
    pub fn new(catalogue: Arc<dyn Catalogue>) -> Self {
        Self(Arc::new(Shared {
            catalogue,
            waiters: Mutex::default(),
            arrived: Condvar::new(),
        }))
    }

    /// Waits until the catalogue has another position than this one, or fails, or so much time has passed.
    pub fn wait(
        &self,
        after: Position,
        timeout: Duration,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (sender, receiver) = oneshot::channel();
        let mut waiters = self.0.lock();
        waiters.list.push(Waiter {
            after,
            deadline: Instant::now() + timeout,
            sender,
            _counted: Counted::new(gauge!(WAITING_CLIENTS.name)),
        });
        if !waiters.has_thread {
            let shared = Arc::downgrade(&self.0);
            let thread = thread::Builder::new().name("robot-watch".to_owned());
            match thread.spawn(move || run(&shared)) {
                Ok(_) => waiters.has_thread = true,
                // Nobody waits then.
                Err(_) => waiters.list.clear(),
            }
        }
        drop(waiters);
        self.0.arrived.notify_one();
        async {
            let _ = receiver.await;
        }
    }

    /// The number of those who wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().list.len()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the catalogue, and releases those whose wait is over.
    fn look(&self) {
        let now = self.catalogue.position();
        let time = Instant::now();
        self.lock().list.retain(|waiter| {
            let is_unchanged = now.as_ref().is_ok_and(|now| *now == waiter.after);
            is_unchanged && waiter.deadline > time && !waiter.sender.is_canceled()
        });
    }
}

/// Looks at the catalogue while somebody waits, until the watch is dropped.
fn run(shared: &Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let waiters = shared.lock();
        let is_idle = waiters.list.is_empty();
        if is_idle {
            // Wakes up now and then to notice that the watch is gone.
            let waited = shared.arrived.wait_timeout(waiters, Duration::from_secs(1));
            drop(waited);
            continue;
        }
        drop(waiters);
        shared.look();
        drop(shared);
        thread::sleep(INTERVAL);
    }
}
