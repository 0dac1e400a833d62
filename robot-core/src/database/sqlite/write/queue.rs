//! Queue of writes for the writer thread, and how many of them share a commit (group commit).
//!
//! A channel would wake the writer thread for each write that arrives while it waits for more. This
//! queue wakes it for the first one, and then when as many are queued as it waits for.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard},
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

/// Creates a queue, whose length is recorded.
pub(crate) fn commit_queue<T>(length: Gauge) -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue {
        state: Mutex::new(QueueState {
            items: VecDeque::new(),
            awaited: usize::MAX,
            is_closed: false,
        }),
        arrived: Condvar::new(),
        length,
    });
    let receiver = Receiver {
        queue: Arc::clone(&queue),
        last_batch: 1,
    };
    (Sender(queue), receiver)
}

struct Queue<T> {
    state: Mutex<QueueState<T>>,
    arrived: Condvar,
    length: Gauge,
}

struct QueueState<T> {
    items: VecDeque<T>,
    /// The number of items that wakes the receiver.
    awaited: usize,
    /// Whether the sender or the receiver was dropped.
    is_closed: bool,
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, QueueState<T>> {
        lock(&self.state)
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.arrived.notify_one();
    }

    /// Waits until `count` items are queued, `limit` has elapsed, or the queue is closed. Returns the
    /// number of items.
    fn wait_for(&self, count: usize, limit: Duration) -> usize {
        let mut state = self.state();
        let is_waiting = |state: &mut QueueState<T>| state.items.len() < count && !state.is_closed;
        state.awaited = count;
        state = self
            .arrived
            .wait_timeout_while(state, limit, is_waiting)
            .map_or_else(|error| error.into_inner().0, |(state, _)| state);
        state.awaited = usize::MAX;
        state.items.len()
    }
}

/// The sending half. When it is dropped, the receiver takes what is left.
pub(crate) struct Sender<T>(Arc<Queue<T>>);

/// Why an item was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendError {
    /// The queue is full.
    Full,
    /// The receiver was dropped.
    Closed,
}

impl<T> Sender<T> {
    /// Queues an item.
    pub(crate) fn send(&self, item: T) -> Result<(), SendError> {
        let Self(queue) = self;
        let mut state = queue.state();
        if state.is_closed {
            return Err(SendError::Closed);
        }
        if state.items.len() >= CAPACITY {
            return Err(SendError::Full);
        }
        state.items.push_back(item);
        queue.length.set(number(state.items.len()));
        if state.items.len() == state.awaited {
            drop(state);
            queue.arrived.notify_one();
        }
        Ok(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let Self(queue) = self;
        queue.close();
    }
}

/// The receiving half. When it is dropped, queued items are dropped with it.
pub(crate) struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// The number of items in the last batch.
    last_batch: usize,
}

impl<T> Receiver<T> {
    /// Waits for the next batch; `None` when the sender was dropped and the queue is empty. The batch
    /// is empty if no item arrives within `idle`.
    ///
    /// If the last batch had several items, waits up to [`COMMIT_DELAY`] for as many: one sync for
    /// two writes is cheaper than two. A batch of one ends that, so that a single client is never
    /// delayed.
    pub(crate) fn next_batch(&mut self, idle: Duration) -> Option<Vec<T>> {
        let queued = self.queue.wait_for(1, idle);
        if queued == 0 {
            // An item may have arrived, and the sender may have been dropped, since the wait ended.
            let state = self.queue.state();
            return (!state.is_closed || !state.items.is_empty()).then(Vec::new);
        }
        let expected = self.last_batch.min(TARGET_BATCH);
        if queued < expected {
            self.queue.wait_for(expected, COMMIT_DELAY);
        }
        let batch = self.take(BATCH_LIMIT);
        self.last_batch = batch.len();
        Some(batch)
    }

    /// Takes everything that is queued.
    pub(crate) fn take_all(&self) -> Vec<T> {
        self.take(usize::MAX)
    }

    fn take(&self, limit: usize) -> Vec<T> {
        let mut state = self.queue.state();
        let count = state.items.len().min(limit);
        let taken = state.items.drain(..count).collect();
        self.queue.length.set(number(state.items.len()));
        taken
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.queue.close();
        drop(self.take_all());
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Longer than any test takes.
    const IDLE: Duration = Duration::from_secs(60);

    #[test]
    fn batch_and_queue_are_limited() {
        let (sender, mut receiver) = commit_queue(Gauge::noop());
        for item in 0..CAPACITY {
            sender.send(item).unwrap();
        }
        assert_eq!(sender.send(CAPACITY), Err(SendError::Full));
        let batch = receiver.next_batch(IDLE).unwrap();
        assert_eq!(batch, (0..BATCH_LIMIT).collect::<Vec<_>>());
        sender.send(CAPACITY).unwrap();
        assert_eq!(
            receiver.take_all(),
            (BATCH_LIMIT..=CAPACITY).collect::<Vec<_>>()
        );
    }

    #[test]
    fn items_left_by_the_sender_are_received() {
        let (sender, mut receiver) = commit_queue(Gauge::noop());
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.next_batch(IDLE), Some(vec![1]));
        assert_eq!(receiver.next_batch(IDLE), None);
    }

    #[test]
    fn dropping_the_receiver_drops_queued_items() {
        let (sender, receiver) = commit_queue(Gauge::noop());
        let item = Arc::new(());
        sender.send(Arc::clone(&item)).unwrap();
        drop(receiver);
        assert_eq!(Arc::strong_count(&item), 1);
        assert_eq!(sender.send(item), Err(SendError::Closed));
    }

    #[test]
    fn receiver_is_woken_by_the_last_item_it_waits_for() {
        let (sender, receiver) = commit_queue(Gauge::noop());
        let waiting = thread::spawn(move || receiver.queue.wait_for(2, IDLE));
        sender.send(0).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        sender.send(1).unwrap();
        assert_eq!(waiting.join().unwrap(), 2);
    }

    #[test]
    fn shared_batch_delays_the_next_one_until_as_many_arrive() {
        let (sender, mut receiver) = commit_queue(Gauge::noop());
        receiver.last_batch = 2;
        sender.send(0).unwrap();
        let sending = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        let mut received = receiver.next_batch(IDLE).unwrap();
        // Only a machine that stops the sending thread for the whole delay splits the batch.
        if received.len() == 1 {
            received.extend(receiver.next_batch(IDLE).unwrap());
        }
        assert_eq!(received, [0, 1]);
        drop(sending.join().unwrap());
    }

    #[test]
    fn batch_of_one_ends_the_delay() {
        let (sender, mut receiver) = commit_queue(Gauge::noop());
        receiver.last_batch = 2;
        sender.send(0).unwrap();
        assert_eq!(receiver.next_batch(IDLE), Some(vec![0]));
        assert_eq!(receiver.last_batch, 1);
    }
}
