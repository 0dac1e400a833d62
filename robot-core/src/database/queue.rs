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
        last: VecDeque::new(),
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
    /// The last commits, the last first.
    last: VecDeque<Commit>,
}

/// What is remembered of a commit.
#[derive(Default)]
struct Commit {
    /// How many shared it; none, once it is known that they do not come back.
    shared: usize,
    /// How many came while it was under way.
    came: usize,
    took: Duration,
}

impl<T> Receiver<T> {
    /// Waits for what is to be committed next; `None` when the sender is gone and nothing is left.
    ///
    /// A commit of two costs less than two commits. So where others are likely to come, they are
    /// waited for, though not for long. Who is alone does not wait.
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
            self.forget_company();
        }
        self.last.truncate(COMPANY_MEMORY - 1);
        self.last.push_front(Commit {
            shared: batch.len(),
            ..Commit::default()
        });
        Some(batch)
    }

    /// Waits until as many are there as are expected, in spans of two commits. When nobody comes in one
    /// of them, those who shared the last commits do not come back. Returns how many there are.
    fn wait_for_company(&mut self) -> usize {
        let deadline = Instant::now() + COMPANY_PATIENCE;
        let expected = self.expected();
        let span = self.span();
        let mut before = self.queue.len();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let now = self.queue.wait_for(expected, Some(span.min(left)));
            if now < expected && now > before {
                before = now;
                continue;
            }
            // Where nobody came at all, all may still be on their way.
            if (1..expected).contains(&now) && span <= left {
                self.forget_company();
            }
            return now;
        }
    }

    /// How many are likely to come: those who shared one of the last commits, once they have been
    /// answered, or others, if they go on to come as they did while commits were under way.
    fn expected(&self) -> usize {
        let back = self.last.iter().map(|commit| commit.shared).max();
        back.unwrap_or_default()
            .max(self.others())
            .clamp(1, COMPANY_ENOUGH)
    }

    /// How many are likely to come who have not been answered just now; none, where hardly anybody
    /// came while commits were under way.
    fn others(&self) -> usize {
        let came: usize = self.last.iter().map(|commit| commit.came).sum();
        if came * 2 < self.last.len() {
            return 0;
        }
        let patience = usize::try_from(COMPANY_PATIENCE.as_micros()).unwrap_or(usize::MAX);
        let took = usize::try_from(self.took_in_all().as_micros()).unwrap_or(usize::MAX);
        came.saturating_mul(patience)
            .checked_div(took)
            .unwrap_or_default()
    }

    /// How long nobody has to come until nobody is expected any more: as long as two commits take.
    fn span(&self) -> Duration {
        let commits = u32::try_from(self.last.len()).unwrap_or(u32::MAX).max(1);
        self.took_in_all() * 2 / commits
    }

    fn took_in_all(&self) -> Duration {
        self.last.iter().map(|commit| commit.took).sum()
    }

    /// Expects nobody back who shared one of the last commits.
    fn forget_company(&mut self) {
        for commit in &mut self.last {
            commit.shared = 0;
        }
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

    /// Tells how long the commit of the last batch has taken.
    pub(super) fn took(&mut self, duration: Duration) {
        let came = self.queue.len();
        if let Some(commit) = self.last.front_mut() {
            (commit.came, commit.took) = (came, duration);
        }
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

    /// A receiver whose last commits were of so many each, and each took so long.
    fn after(sizes: &[usize], took: Duration) -> (Sender<usize>, Receiver<usize>) {
        let (sender, mut receiver) = queue();
        receiver.last.extend(sizes.iter().map(|&shared| Commit {
            shared,
            took,
            ..Commit::default()
        }));
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

    /// A receiver as someone committed alone so many times, while each time so many came.
    fn beside(commits: usize, came: usize, took: Duration) -> Receiver<usize> {
        let (_, mut receiver) = queue();
        receiver.last.extend((0..commits).map(|_| Commit {
            shared: 1,
            came,
            took,
        }));
        receiver
    }

    #[test]
    fn as_many_are_expected_as_go_on_to_come_within_patience() {
        assert_eq!(beside(8, 1, COMPANY_PATIENCE / 4).expected(), 4);
        assert_eq!(beside(1, 3, COMPANY_PATIENCE / 2).expected(), 6);
        assert_eq!(
            beside(8, 5, COMPANY_PATIENCE / 8).expected(),
            COMPANY_ENOUGH
        );
        assert_eq!(beside(8, 1, COMPANY_PATIENCE * 2).expected(), 1);
        assert_eq!(beside(8, 1, Duration::ZERO).expected(), 1);
    }

    #[test]
    fn who_comes_now_and_then_is_not_waited_for() {
        let mut receiver = beside(8, 0, COMPANY_PATIENCE / 16);
        for commit in receiver.last.iter_mut().take(3) {
            commit.came = 1;
        }
        assert_eq!(receiver.expected(), 1);
        receiver.last[3].came = 1;
        assert_eq!(receiver.expected(), 8);
    }

    #[test]
    fn those_who_came_while_a_commit_was_under_way_are_counted() {
        let (sender, mut receiver) = queue();
        sender.send(0).unwrap();
        assert_eq!(receiver.next_batch(), Some(vec![0]));
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        receiver.took(COMPANY_PATIENCE / 4);
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
            receiver.took(COMPANY_PATIENCE);
        }
        assert_eq!(receiver.expected(), 2);
    }
}
