//! Queue of writes for the writer thread, and how many of them share a commit (group commit).
//!
//! A channel would wake the writer thread for each write that arrives while it waits for more. This
//! queue wakes it for the first one, and then when as many are queued as it waits for.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex},
    time::Duration,
};

use ::metrics::Gauge;

use crate::database::{locks::lock, measuring::number};

/// The capacity of the queue. Writes beyond it are rejected: at some ten thousand writes per second,
/// the last one would wait for a fraction of a second. Lower values reject bursts that could be
/// served; higher ones make clients wait longer than their timeout.
const CAPACITY: usize = 4096;

/// The maximum number of writes in a commit, so that the first of them does not wait too long.
const BATCH_LIMIT: usize = 1024;

/// How long a commit is delayed for more writes to arrive, if the last commit was shared. Too short:
/// clients that send their next write after a response never share a commit; without a delay, a mix
/// with 5 % writes is 30 % slower. Too long: a client that is now the only writer waits once for
/// nothing. Measured with 1, 8 and 64 clients; 2 and 4 ms are alike.
const COMMIT_DELAY: Duration = Duration::from_millis(2);

/// The number of writes from which a commit is not delayed any more: its cost is shared by enough.
const TARGET_BATCH: usize = 16;

/// A queue whose length is recorded.
pub(crate) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    arrived: Condvar,
    length: Gauge,
}

struct QueueState<T> {
    items: VecDeque<T>,
    /// The number of items that wakes the receiver.
    awaited: usize,
    is_closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new(length: Gauge) -> Self {
        Self {
            state: Mutex::new(QueueState {
                items: VecDeque::new(),
                awaited: usize::MAX,
                is_closed: false,
            }),
            arrived: Condvar::new(),
            length,
        }
    }

    /// Queues an item. Returns false if the queue is full.
    pub(crate) fn send(&self, item: T) -> bool {
        let mut state = lock(&self.state);
        if state.items.len() >= CAPACITY {
            return false;
        }
        state.items.push_back(item);
        self.length.set(number(state.items.len()));
        if state.items.len() == state.awaited {
            drop(state);
            self.arrived.notify_one();
        }
        true
    }

    /// Ends the wait for further items.
    pub(crate) fn close(&self) {
        lock(&self.state).is_closed = true;
        self.arrived.notify_one();
    }

    /// Whether nothing is queued, and items may still arrive.
    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state.items.is_empty() && !state.is_closed
    }

    /// Waits for the next batch, which is empty if the queue is empty and closed.
    ///
    /// If the last batch had several items, waits up to [`COMMIT_DELAY`] for as many: one sync for
    /// two writes is cheaper than two. A batch of one ends that, so that a single client is never
    /// delayed.
    pub(crate) fn next_batch(&self, last_batch: usize) -> Vec<T> {
        let queued = self.wait_for(1, Duration::MAX);
        let expected = last_batch.min(TARGET_BATCH);
        if queued < expected {
            self.wait_for(expected, COMMIT_DELAY);
        }
        self.take(BATCH_LIMIT)
    }

    /// Takes everything that is queued.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.take(usize::MAX)
    }

    /// Waits until `count` items are queued, `limit` has elapsed, or the queue is closed. Returns the
    /// number of items.
    fn wait_for(&self, count: usize, limit: Duration) -> usize {
        let mut state = lock(&self.state);
        let is_waiting = |state: &mut QueueState<T>| state.items.len() < count && !state.is_closed;
        state.awaited = count;
        state = self
            .arrived
            .wait_timeout_while(state, limit, is_waiting)
            .map_or_else(|error| error.into_inner().0, |(state, _)| state);
        state.awaited = usize::MAX;
        state.items.len()
    }

    fn take(&self, limit: usize) -> Vec<T> {
        let mut state = lock(&self.state);
        let count = state.items.len().min(limit);
        let taken = state.items.drain(..count).collect();
        self.length.set(number(state.items.len()));
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn batch_and_queue_are_limited() {
        let queue = Queue::new(Gauge::noop());
        assert!((0..CAPACITY).all(|item| queue.send(item)));
        assert!(!queue.send(CAPACITY));
        assert!(queue.next_batch(1).into_iter().eq(0..BATCH_LIMIT));
        assert!(queue.send(CAPACITY));
        assert!(queue.take_all().into_iter().eq(BATCH_LIMIT..=CAPACITY));
    }

    #[test]
    fn items_in_a_closed_queue_are_received() {
        let queue = Queue::new(Gauge::noop());
        queue.send(1);
        queue.close();
        assert_eq!(queue.next_batch(2), [1]);
        assert!(queue.next_batch(1).is_empty());
    }

    #[test]
    fn receiver_is_woken_by_the_last_item_it_waits_for() {
        let queue = Queue::new(Gauge::noop());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.wait_for(2, Duration::from_secs(60)));
            queue.send(0);
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            queue.send(1);
            assert_eq!(waiting.join().unwrap(), 2);
        });
    }
}
