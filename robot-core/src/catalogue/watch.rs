//! Waiting for changes of a catalogue.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use ::metrics::gauge;
use futures_channel::oneshot;

use super::{
    error::{Error, Result},
    history::{Changes, Extent, Position},
    store::Catalogue,
};
use crate::metrics::{Counted, WAITING_CLIENTS};

/// How often the catalogue is looked at while there are waiters. Longer, and changes are noticed later; shorter, and the look
/// takes more of the store's time.
const INTERVAL: Duration = Duration::from_millis(20);

/// Waits for changes, also those of other processes. All waiters share one thread.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use robot_core::{Catalogue, CatalogueExt, Draft, Extent, MemoryCatalogue, Watch};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = Arc::new(MemoryCatalogue::new());
/// let watch = Watch::new(Arc::clone(&catalogue) as Arc<dyn Catalogue>);
/// let start = catalogue.position()?;
/// let changes = watch.changes(start, Extent::Latest, 10, Duration::from_secs(30));
/// catalogue.add(Draft::new("R2-D2", "droid", 1977))?;
/// assert_eq!(changes.await?.events.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Watch(Arc<Shared>);

struct Shared {
    catalogue: Arc<dyn Catalogue>,
    waiters: Mutex<Waiters>,
}

#[derive(Default)]
struct Waiters {
    list: Vec<Waiter>,
    has_thread: bool,
    is_stopped: bool,
}

struct Waiter {
    after: Position,
    extent: Extent,
    limit: usize,
    deadline: Option<Instant>,
    sender: oneshot::Sender<Result<Arc<Changes>>>,
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
        }))
    }

    /// Ends all waits, also later ones: they return what there is. For the end of the process.
    pub fn stop(&self) {
        self.0.lock().is_stopped = true;
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.lock().is_stopped
    }

    /// The [`changes`](Catalogue::changes) after a position, as soon as there are any, or none after so much time.
    ///
    /// # Errors
    /// Those of [`changes`](Catalogue::changes). [`Error::Unavailable`] if no thread can be started.
    pub fn changes(
        &self,
        after: Position,
        extent: Extent,
        limit: usize,
        timeout: Duration,
    ) -> impl Future<Output = Result<Arc<Changes>>> + Send + use<> {
        let (sender, receiver) = oneshot::channel();
        let mut waiters = self.0.lock();
        waiters.list.push(Waiter {
            after,
            extent,
            limit,
            deadline: Instant::now().checked_add(timeout),
            sender,
            _counted: Counted::new(gauge!(WAITING_CLIENTS.name)),
        });
        if !waiters.has_thread {
            let shared = Arc::downgrade(&self.0);
            let thread = thread::Builder::new().name("robot-watch".to_owned());
            match thread.spawn(move || run(&shared)) {
                Ok(_) => waiters.has_thread = true,
                // Each waiter gets an error.
                Err(_) => waiters.list.clear(),
            }
        }
        drop(waiters);
        async {
            let stopped = || Err(Error::unavailable("nothing looks for changes"));
            receiver.await.unwrap_or_else(|_| stopped())
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the catalogue, and answers those whose wait is over. Changes are read once for all who want the same.
    fn look(&self) {
        let now = self.catalogue.position();
        let time = Instant::now();
        let mut waiters = self.lock();
        let is_stopped = waiters.is_stopped;
        let is_over = |waiter: &mut Waiter| {
            let is_unchanged = now.as_ref().is_ok_and(|now| *now == waiter.after);
            is_stopped
                || !is_unchanged
                || waiter.deadline.is_some_and(|deadline| deadline <= time)
                || waiter.sender.is_canceled()
        };
        let mut over: Vec<_> = waiters.list.extract_if(.., is_over).collect();
        drop(waiters);
        over.retain(|waiter| !waiter.sender.is_canceled());
        while let Some(waiter) = over.pop() {
            let wanted = (&waiter.after, waiter.extent, waiter.limit);
            let changes = self.catalogue.changes(wanted.0, wanted.1, wanted.2);
            let changes = changes.map(Arc::new);
            let is_equal = |other: &mut Waiter| (&other.after, other.extent, other.limit) == wanted;
            for waiter in over.extract_if(.., is_equal) {
                let _ = waiter.sender.send(changes.clone());
            }
            let _ = waiter.sender.send(changes);
        }
    }
}

/// After a panic of the store, each waiter gets an error, and the next one another thread.
struct EndOfThread<'a>(&'a Weak<Shared>);

impl Drop for EndOfThread<'_> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade().filter(|_| thread::panicking()) {
            let mut waiters = shared.lock();
            waiters.has_thread = false;
            waiters.list.clear();
        }
    }
}

/// Looks at the catalogue while there are waiters.
fn run(shared: &Weak<Shared>) {
    let _end = EndOfThread(shared);
    while let Some(shared) = shared.upgrade() {
        let mut waiters = shared.lock();
        if waiters.list.is_empty() {
            waiters.has_thread = false;
            return;
        }
        drop(waiters);
        shared.look();
        drop(shared);
        thread::sleep(INTERVAL);
    }
}
