//! What waits for the writer, and how much of it shares a commit.
//!
//! A channel would wake the writer for each change that comes while it waits for more. This queue
//! wakes it once, when there are as many as it waits for.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How many may wait. Behind so many, a caller is better told to come again.
const QUEUE_LIMIT: usize = 4096;

/// How many may share a commit, so that the first of them does not wait for ever.
const COMMIT_LIMIT: usize = 1024;

/// How long company is waited for.
const COMPANY_PATIENCE: Duration = Duration::from_millis(8);

/// From how many on, the costs of a commit are shared by enough of them.
const COMPANY_ENOUGH: usize = 16;

/// How many commits tell how much company there is.
const COMPANY_MEMORY: usize = 8;

/// A queue of whatever is to be committed.
pub(super) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Queue {
        state: Mutex::new(State {
            waiting: VecDeque::new(),
            awaited: usize::MAX,
            is_closed: false,
        }),
        enough: Condvar::new(),
    });
    let receiver = Receiver {
        queue: Arc::clone(&queue),
        sizes: VecDeque::new(),
        duration: Duration::ZERO,
    };
    (Sender(queue), receiver)
}

struct Queue<T> {
    state: Mutex<State<T>>,
    enough: Condvar,
}

struct State<T> {
    waiting: VecDeque<T>,
    /// How many have to wait before the receiver is woken.
    awaited: usize,
    /// Whether one of the two ends is gone.
    is_closed: bool,
}

impl<T> Queue<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.state().waiting.len()
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.enough.notify_one();
    }

    /// Waits for so many, though not beyond a limit of time, where there is one, and not once
    /// nothing more can come. Returns how many there are.
    fn wait_for(&self, count: usize, limit: Option<Duration>) -> usize {
        let mut state = self.state();
        let goes_on = |state: &mut State<T>| state.waiting.len() < count && !state.is_closed;
        state.awaited = count;
        state = match limit {
            Some(limit) => self
                .enough
                .wait_timeout_while(state, limit, goes_on)
                .map_or_else(|error| error.into_inner().0, |(state, _)| state),
            None => self
                .enough
                .wait_while(state, goes_on)
                .unwrap_or_else(PoisonError::into_inner),
        };
        state.awaited = usize::MAX;
        state.waiting.len()
    }
}

/// The end of those who want something committed. When it is gone, the receiver takes what is left.
pub(super) struct Sender<T>(Arc<Queue<T>>);

/// Why something cannot wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Too many others do.
    Full,
    /// Nobody would take it.
    Closed,
}

impl<T> Sender<T> {
    /// Queues something up.
    pub(super) fn send(&self, item: T) -> Result<(), Refusal> {
        let Self(queue) = self;
        let mut state = queue.state();
        if state.is_closed {
            return Err(Refusal::Closed);
        }
        if state.waiting.len() >= QUEUE_LIMIT {
            return Err(Refusal::Full);
        }
        state.waiting.push_back(item);
        if state.waiting.len() == state.awaited {
            drop(state);
            queue.enough.notify_one();
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

/// The end of the writer. What waits when it goes, goes with it.
pub(super) struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// How many shared each of the last commits, the last first.
    sizes: VecDeque<usize>,
    /// How long the last took.
    duration: Duration,
}

impl<T> Receiver<T> {
    /// Waits for what is to be committed next; `None` when the sender is gone and nothing is left.
    ///
    /// Where several have shared a commit of late, as many as in the largest of them are waited for,
    /// though not for long: a commit of two costs less than two commits. Who waits in vain is alone
    /// now, and does not wait again.
    pub(super) fn next_batch(&mut self) -> Option<Vec<T>> {
        // Whoever has just been answered may be back at once.
        if self.wait_for_company() == 0 {
            if self.queue.wait_for(1, None) == 0 {
                return None;
            }
            self.wait_for_company();
        }
        let batch = self.take(COMMIT_LIMIT);
        if batch.len() == 1 {
            self.sizes.clear();
        }
        self.sizes.truncate(COMPANY_MEMORY - 1);
        self.sizes.push_front(batch.len());
        Some(batch)
    }

    /// Waits until as many are there as are expected, in spans of two commits. When nobody comes in one
    /// of them, whoever else was expected has left, and is not waited for again. Returns how many
    /// there are.
    fn wait_for_company(&mut self) -> usize {
        let deadline = Instant::now() + COMPANY_PATIENCE;
        let expected = self.expected();
        let span = self.duration * 2;
        let mut before = self.queue.len();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let now = self.queue.wait_for(expected, Some(span.min(left)));
            if now >= expected {
                return now;
            }
            if now == before {
                // Where nobody came at all, all may still be on their way.
                if now > 0 && span <= left {
                    self.sizes.clear();
                }
                return now;
            }
            before = now;
        }
    }

    /// How many are likely to come.
    fn expected(&self) -> usize {
        let most = self.sizes.iter().copied().max().unwrap_or(1);
        most.min(COMPANY_ENOUGH)
    }

    /// Takes all that waits.
    pub(super) fn take_all(&self) -> Vec<T> {
        self.take(usize::MAX)
    }

    fn take(&self, limit: usize) -> Vec<T> {
        let mut state = self.queue.state();
        let count = state.waiting.len().min(limit);
        state.waiting.drain(..count).collect()
    }

    /// Tells how long a commit has taken.
    pub(super) fn took(&mut self, duration: Duration) {
        self.duration = duration;
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

    /// A receiver whose last commits were of so many each, of which the very last took so long.
    fn after(sizes: &[usize], duration: Duration) -> (Sender<usize>, Receiver<usize>) {
        let (sender, mut receiver) = queue();
        receiver.sizes.extend(sizes);
        receiver.took(duration);
        (sender, receiver)
    }

    #[test]
    fn whatever_waits_is_one_batch_in_its_order() {
        let (sender, mut receiver) = queue();
        for item in 0..3 {
            sender.send(item).unwrap();
        }
        assert_eq!(receiver.next_batch(), Some(vec![0, 1, 2]));
    }

    #[test]
    fn a_batch_has_a_limit_and_so_has_the_queue() {
        let (sender, mut receiver) = queue();
        for item in 0..QUEUE_LIMIT {
            sender.send(item).unwrap();
        }
        assert_eq!(sender.send(QUEUE_LIMIT), Err(Refusal::Full));
        let batch = receiver.next_batch().unwrap();
        assert_eq!(batch, (0..COMMIT_LIMIT).collect::<Vec<_>>());
        sender.send(QUEUE_LIMIT).unwrap();
        assert_eq!(
            receiver.take_all(),
            (COMMIT_LIMIT..=QUEUE_LIMIT).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_is_left_is_taken_when_the_sender_is_gone_and_then_no_more_is_waited_for() {
        let (sender, mut receiver) = queue();
        sender.send(1).unwrap();
        drop(sender);
        assert_eq!(receiver.next_batch(), Some(vec![1]));
        assert_eq!(receiver.next_batch(), None);
    }

    #[test]
    fn a_receiver_that_waits_learns_that_the_sender_is_gone() {
        let (sender, mut receiver) = queue::<()>();
        let waiting = thread::spawn(move || receiver.next_batch());
        thread::sleep(Duration::from_millis(20));
        drop(sender);
        assert_eq!(waiting.join().unwrap(), None);
    }

    #[test]
    fn nothing_waits_for_a_receiver_that_is_gone() {
        let (sender, receiver) = queue();
        let waits = Arc::new(());
        sender.send(Arc::clone(&waits)).unwrap();
        drop(receiver);
        assert_eq!(Arc::strong_count(&waits), 1);
        assert_eq!(sender.send(waits), Err(Refusal::Closed));
    }

    #[test]
    fn a_receiver_that_waits_is_woken_by_the_first() {
        let (sender, mut receiver) = queue();
        let waiting = thread::spawn(move || receiver.next_batch());
        thread::sleep(Duration::from_millis(20));
        sender.send(1).unwrap();
        assert_eq!(waiting.join().unwrap(), Some(vec![1]));
    }

    #[test]
    fn a_receiver_that_waits_for_several_is_woken_when_they_are_there() {
        let (sender, receiver) = queue();
        let waiting = thread::spawn(move || receiver.queue.wait_for(2, None));
        sender.send(0).unwrap();
        thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        sender.send(1).unwrap();
        assert_eq!(waiting.join().unwrap(), 2);
    }

    #[test]
    fn as_many_as_there_were_of_late_are_expected_and_waited_for_but_not_for_ever() {
        assert_eq!(queue::<usize>().1.expected(), 1);
        assert_eq!(
            after(&[COMPANY_ENOUGH + 1], Duration::ZERO).1.expected(),
            COMPANY_ENOUGH
        );
        let (sender, mut receiver) = after(&[1, 3, 2], COMPANY_PATIENCE);
        assert_eq!(receiver.expected(), 3);
        sender.send(0).unwrap();
        let started = Instant::now();
        assert_eq!(receiver.next_batch(), Some(vec![0]));
        assert!(started.elapsed() >= COMPANY_PATIENCE);
    }

    #[test]
    fn whoever_comes_after_a_pause_waits_for_company_as_well() {
        let (sender, mut receiver) = after(&[2], COMPANY_PATIENCE);
        let waiting = thread::spawn(move || {
            let batch = receiver.next_batch();
            (batch, Instant::now())
        });
        thread::sleep(COMPANY_PATIENCE * 10);
        let sent = Instant::now();
        sender.send(0).unwrap();
        let (batch, returned) = waiting.join().unwrap();
        assert_eq!(batch, Some(vec![0]));
        assert!(returned - sent >= COMPANY_PATIENCE);
    }

    #[test]
    fn who_has_waited_in_vain_does_not_wait_again() {
        let (sender, mut receiver) = after(&[8, 8], COMPANY_PATIENCE / 4);
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        assert_eq!(receiver.next_batch(), Some(vec![0, 1]));
        assert_eq!(receiver.expected(), 2);
    }

    #[test]
    fn where_nobody_came_all_may_still_be_on_their_way() {
        let (_sender, mut receiver) = after(&[8], COMPANY_PATIENCE / 4);
        assert_eq!(receiver.wait_for_company(), 0);
        assert_eq!(receiver.expected(), 8);
    }

    #[test]
    fn those_who_were_long_not_there_are_forgotten() {
        // As commits are slow, patience ends before it is known whether anybody has left.
        let (sender, mut receiver) = after(&[5], COMPANY_PATIENCE);
        for _ in 0..COMPANY_MEMORY {
            assert_eq!(receiver.expected(), 5);
            sender.send(0).unwrap();
            sender.send(1).unwrap();
            assert_eq!(receiver.next_batch(), Some(vec![0, 1]));
        }
        assert_eq!(receiver.expected(), 2);
    }
}
