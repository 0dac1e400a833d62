//! State of a batcher: what is queued, and what is executed.

use std::{
    collections::VecDeque,
    sync::Weak,
    time::{Duration, Instant},
};

use futures_channel::oneshot;

use super::Attempt;
use crate::catalogue::Result;

/// How long a worker may take to connect before another one tries. Shorter, and more workers connect at
/// the same time during an outage; longer, and items wait for a host that does not answer although
/// another worker has a connection.
const CONNECT_PATIENCE: Duration = Duration::from_millis(500);

pub(super) type Sender<O> = oneshot::Sender<Result<O>>;

/// An item, and who waits for its result.
pub(super) struct Job<I, O> {
    pub(super) item: I,
    pub(super) caller: Caller<O>,
}

/// Who waits for a result.
pub(super) struct Caller<O> {
    /// `None` once the result is not needed any more.
    pub(super) sender: Option<Sender<O>>,
    /// When the execution must have begun.
    pub(super) deadline: Instant,
    /// When the result is not needed any more.
    pub(super) expiry: Option<Instant>,
}

impl<O> Caller<O> {
    pub(super) fn send(self, result: Result<O>) {
        if let Some(sender) = self.sender {
            // The caller may have dropped its receiver.
            let _ = sender.send(result);
        }
    }
}

/// The right of a worker to execute a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    number: u64,
    pub(super) attempt: Attempt,
}

/// A worker that executes or connects.
struct Running<O> {
    turn: Turn,
    since: Instant,
    /// `None` while it connects.
    batch: Option<Executing<O>>,
}

struct Executing<O> {
    callers: Vec<Caller<O>>,
    limit: Duration,
    is_write: bool,
    /// Alive as long as the thread.
    token: Weak<()>,
}

/// A batch that has exceeded its time limit.
pub(super) struct Overdue<O> {
    pub(super) callers: Vec<Caller<O>>,
    pub(super) is_write: bool,
    pub(super) token: Weak<()>,
}

/// How a worker is obtained.
pub(super) enum Wake {
    /// None is needed, or there may be no more.
    None,
    /// An idle one is woken.
    Idle,
    /// A new one is started. It is counted already.
    New,
}

pub(super) struct State<I, O> {
    /// First attempts.
    queue: VecDeque<Job<I, O>>,
    /// Jobs of batches that failed, which are executed one by one.
    alone: VecDeque<Job<I, O>>,
    running: Vec<Running<O>>,
    next_turn: u64,
    workers: usize,
    /// The number of workers that wait for work.
    idle: usize,
    /// Whether a worker was woken or started, and has not looked at the queue yet.
    is_waking: bool,
    is_closed: bool,
    connections: usize,
    batch_limit: usize,
    patience: Duration,
}

impl<I, O> State<I, O> {
    pub(super) fn new(connections: usize, batch_limit: usize, patience: Duration) -> Self {
        Self {
            queue: VecDeque::new(),
            alone: VecDeque::new(),
            running: Vec::new(),
            next_turn: 0,
            workers: 0,
            idle: 0,
            is_waking: false,
            is_closed: false,
            connections,
            batch_limit,
            patience,
        }
    }

    pub(super) fn queue_length(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn queue(&mut self, job: Job<I, O>) {
        self.queue.push_back(job);
    }

    /// Queues the jobs of a batch that failed.
    pub(super) fn queue_again(&mut self, jobs: Vec<Job<I, O>>, attempt: Attempt) {
        match attempt {
            Attempt::InBatch => jobs
                .into_iter()
                .rev()
                .for_each(|job| self.queue.push_front(job)),
            Attempt::Alone => self.alone.extend(jobs),
        }
    }

    /// What a worker may execute next.
    fn next(&self, now: Instant) -> Option<Attempt> {
        let is_patient = |running: &Running<O>| {
            let patience = match &running.batch {
                Some(_) => self.patience,
                None => CONNECT_PATIENCE,
            };
            running.turn.attempt == Attempt::InBatch && now < running.since + patience
        };
        let is_alone = |running: &&Running<O>| running.turn.attempt == Attempt::Alone;
        if self.running.len() >= self.connections {
            return None;
        }
        // One connection is left for first attempts.
        let may_be_alone = self.running.is_empty()
            || self.running.iter().filter(is_alone).count() + 1 < self.connections;
        let in_batch = self
            .queue
            .front()
            .filter(|_| !self.running.iter().any(is_patient));
        let alone = self.alone.front().filter(|_| may_be_alone);
        match (in_batch, alone) {
            (Some(job), Some(alone)) if alone.caller.deadline < job.caller.deadline => {
                Some(Attempt::Alone)
            }
            (Some(_), _) => Some(Attempt::InBatch),
            (None, Some(_)) => Some(Attempt::Alone),
            (None, None) => None,
        }
    }

    /// How a further worker is obtained, if one is needed now. A woken worker wakes the next one itself.
    pub(super) fn wake(&mut self, now: Instant) -> Wake {
        if self.is_waking || self.next(now).is_none() {
            return Wake::None;
        }
        if self.idle > 0 {
            self.is_waking = true;
            return Wake::Idle;
        }
        if self.workers < self.connections && !self.is_closed {
            self.is_waking = true;
            self.workers += 1;
            return Wake::New;
        }
        Wake::None
    }

    /// A worker has ended, or was not started.
    pub(super) fn remove_worker(&mut self) {
        self.workers -= 1;
        self.is_waking = false;
    }

    pub(super) fn has_workers(&self) -> bool {
        self.workers > 0
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether the batcher was dropped, and what was queued is done.
    pub(super) fn is_finished(&self) -> bool {
        self.is_closed && self.queue.is_empty() && self.alone.is_empty()
    }

    /// Everything that is queued, if the batcher was dropped.
    pub(super) fn take_rest(&mut self) -> Vec<Job<I, O>> {
        if !self.is_closed {
            return Vec::new();
        }
        self.queue.drain(..).chain(self.alone.drain(..)).collect()
    }

    pub(super) fn begin_idle(&mut self) {
        self.idle += 1;
    }

    pub(super) fn end_idle(&mut self) {
        self.idle -= 1;
        self.is_waking = false;
    }

    /// Begins the turn of a worker, if there is something to execute.
    pub(super) fn begin_turn(&mut self, now: Instant) -> Option<Turn> {
        self.is_waking = false;
        let attempt = self.next(now)?;
        let number = self.next_turn;
        let turn = Turn { number, attempt };
        self.next_turn += 1;
        self.running.push(Running {
            turn,
            since: now,
            batch: None,
        });
        Some(turn)
    }

    /// The jobs that a worker executes in its turn. None if others have taken them meanwhile.
    pub(super) fn take_batch(&mut self, turn: Turn) -> Vec<Job<I, O>> {
        match turn.attempt {
            Attempt::InBatch => {
                let count = self.queue.len().min(self.batch_limit);
                self.queue.drain(..count).collect()
            }
            Attempt::Alone => self.alone.pop_front().into_iter().collect(),
        }
    }

    /// Registers what a worker executes, and returns the items.
    pub(super) fn begin_execution(
        &mut self,
        turn: Turn,
        jobs: Vec<Job<I, O>>,
        limit: Duration,
        is_write: bool,
        token: Weak<()>,
        now: Instant,
    ) -> Vec<I> {
        let (items, callers) = jobs.into_iter().map(|job| (job.item, job.caller)).unzip();
        if let Some(running) = self.running(turn) {
            running.since = now;
            running.batch = Some(Executing {
                callers,
                limit,
                is_write,
                token,
            });
        }
        items
    }

    /// Begins the time limit of a batch again, because it is repeated. False if there is no time left
    /// for that, or the worker was abandoned.
    pub(super) fn restart(&mut self, turn: Turn, now: Instant) -> bool {
        let Some(running) = self.running(turn) else {
            return false;
        };
        running.since = now;
        let batch = running.batch.as_ref();
        batch.is_some_and(|batch| batch.callers.iter().any(|caller| now < caller.deadline))
    }

    /// Ends the turn of a worker, and returns who waits for its batch; `None` if the worker was
    /// abandoned.
    pub(super) fn end_turn(&mut self, turn: Turn) -> Option<Vec<Caller<O>>> {
        let index = self.running.iter().position(|each| each.turn == turn)?;
        let batch = self.running.swap_remove(index).batch;
        Some(batch.map_or_else(Vec::new, |batch| batch.callers))
    }

    fn running(&mut self, turn: Turn) -> Option<&mut Running<O>> {
        self.running.iter_mut().find(|each| each.turn == turn)
    }

    /// Whether anything is queued or executed.
    pub(super) fn is_busy(&self) -> bool {
        !(self.queue.is_empty() && self.alone.is_empty() && self.running.is_empty())
    }

    /// The senders of jobs that could not be executed in time, or are not needed any more.
    pub(super) fn take_expired(&mut self, now: Instant) -> Vec<Sender<O>> {
        let mut expired = Vec::new();
        for queue in [&mut self.queue, &mut self.alone] {
            while queue.front().is_some_and(|job| job.caller.deadline <= now) {
                expired.extend(queue.pop_front().and_then(|job| job.caller.sender));
            }
        }
        let executing = self
            .running
            .iter_mut()
            .filter_map(|each| each.batch.as_mut());
        for caller in executing.flat_map(|batch| &mut batch.callers) {
            if caller.expiry.is_some_and(|expiry| expiry <= now) {
                expired.extend(caller.sender.take());
            }
        }
        expired
    }

    /// Removes the workers that have exceeded the time limit of their batch.
    pub(super) fn take_overdue(&mut self, now: Instant) -> Vec<Overdue<O>> {
        let mut overdue = Vec::new();
        let is_overdue = |each: &mut Running<O>| {
            let batch = each.batch.as_ref();
            batch.is_some_and(|batch| each.since + batch.limit <= now)
        };
        for running in self.running.extract_if(.., is_overdue) {
            self.workers -= 1;
            overdue.extend(running.batch.map(|batch| Overdue {
                callers: batch.callers,
                is_write: batch.is_write,
                token: batch.token,
            }));
        }
        overdue
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(20);

    const TIMEOUT: Duration = Duration::from_secs(2);

    const LIMIT: Duration = Duration::from_secs(3);

    fn state(connections: usize) -> State<u8, u8> {
        State::new(connections, 3, PATIENCE)
    }

    fn job(item: u8, now: Instant) -> Job<u8, u8> {
        let (sender, _) = oneshot::channel();
        let caller = Caller {
            sender: Some(sender),
            deadline: now + TIMEOUT,
            expiry: None,
        };
        Job { item, caller }
    }

    /// Begins a turn and executes its batch.
    fn begin(state: &mut State<u8, u8>, now: Instant) -> Option<(Turn, Vec<u8>)> {
        let turn = state.begin_turn(now)?;
        let jobs = state.take_batch(turn);
        let items = state.begin_execution(turn, jobs, LIMIT, true, Weak::new(), now);
        Some((turn, items))
    }

    fn items(begun: Option<(Turn, Vec<u8>)>) -> Vec<u8> {
        begun.map_or_else(Vec::new, |(_, items)| items)
    }

    #[test]
    fn batch_has_what_was_queued_during_the_last_one() {
        let (mut state, now) = (state(4), Instant::now());
        state.queue(job(0, now));
        let (turn, first) = begin(&mut state, now).unwrap();
        assert_eq!(first, [0]);
        for item in 1..5 {
            state.queue(job(item, now));
        }
        assert!(begin(&mut state, now).is_none());
        assert_eq!(state.end_turn(turn).unwrap().len(), 1);
        let (turn, second) = begin(&mut state, now).unwrap();
        assert_eq!(second, [1, 2, 3]);
        assert_eq!(state.end_turn(turn).unwrap().len(), 3);
        assert_eq!(items(begin(&mut state, now)), [4]);
    }

    #[test]
    fn another_worker_continues_if_a_batch_takes_long() {
        let (mut state, now) = (state(2), Instant::now());
        state.queue(job(0, now));
        begin(&mut state, now).unwrap();
        state.queue(job(1, now));
        assert!(begin(&mut state, now + PATIENCE / 2).is_none());
        let later = now + PATIENCE;
        assert_eq!(items(begin(&mut state, later)), [1]);
        // There are no more connections.
        state.queue(job(2, now));
        assert!(begin(&mut state, later + PATIENCE).is_none());
    }

    #[test]
    fn failed_batch_is_executed_one_by_one_beside_first_attempts() {
        let (mut state, now) = (state(3), Instant::now());
        let jobs = (0..3).map(|item| job(item, now)).collect();
        state.queue_again(jobs, Attempt::Alone);
        let turns: Vec<_> = (0..3).map_while(|_| begin(&mut state, now)).collect();
        let alone: Vec<_> = turns
            .iter()
            .map(|(turn, items)| (turn.attempt, &items[..]))
            .collect();
        assert_eq!(alone, [(Attempt::Alone, &[0][..]), (Attempt::Alone, &[1])]);
        state.queue(job(9, now));
        assert_eq!(items(begin(&mut state, now)), [9]);
        state.end_turn(turns[0].0).unwrap();
        assert_eq!(items(begin(&mut state, now)), [2]);
    }

    #[test]
    fn only_connection_executes_both_kinds_by_their_age() {
        let (mut state, now) = (state(1), Instant::now());
        state.queue_again(vec![job(0, now)], Attempt::Alone);
        state.queue(job(1, now + PATIENCE));
        let (turn, first) = begin(&mut state, now).unwrap();
        assert_eq!(first, [0]);
        state.end_turn(turn).unwrap();
        assert_eq!(items(begin(&mut state, now)), [1]);
    }

    #[test]
    fn jobs_expire_in_the_queue_and_reads_while_they_are_executed() {
        let (mut state, now) = (state(2), Instant::now());
        let mut read = job(0, now);
        read.caller.expiry = Some(now + TIMEOUT);
        state.queue(read);
        let (turn, _) = begin(&mut state, now).unwrap();
        state.queue(job(1, now));
        state.queue(job(2, now + PATIENCE));
        assert_eq!(state.take_expired(now).len(), 0);
        assert_eq!(state.take_expired(now + TIMEOUT).len(), 2);
        assert!(state.end_turn(turn).unwrap()[0].sender.is_none());
        assert_eq!(items(begin(&mut state, now)), [2]);
    }

    #[test]
    fn worker_that_exceeds_the_limit_is_abandoned_and_replaced() {
        let (mut state, now) = (state(1), Instant::now());
        state.queue(job(0, now));
        assert!(matches!(state.wake(now), Wake::New));
        let (turn, _) = begin(&mut state, now).unwrap();
        state.queue(job(1, now + LIMIT));
        assert!(matches!(state.wake(now), Wake::None));
        assert!(state.take_overdue(now + LIMIT / 2).is_empty());
        let overdue = state.take_overdue(now + LIMIT);
        assert_eq!(overdue.len(), 1);
        assert!(overdue[0].is_write && overdue[0].callers.len() == 1);
        assert!(state.end_turn(turn).is_none());
        assert!(!state.restart(turn, now));
        assert!(matches!(state.wake(now), Wake::New));
        assert_eq!(items(begin(&mut state, now + LIMIT)), [1]);
    }

    #[test]
    fn repetition_has_a_limit_of_its_own_until_the_deadline() {
        let (mut state, now) = (state(1), Instant::now());
        state.queue(job(0, now));
        let (turn, _) = begin(&mut state, now).unwrap();
        let later = now + TIMEOUT / 2;
        assert!(state.restart(turn, later));
        assert!(state.take_overdue(now + LIMIT).is_empty());
        assert!(!state.restart(turn, now + TIMEOUT));
    }

    #[test]
    fn one_worker_is_woken_at_a_time() {
        let (mut state, now) = (State::<u8, u8>::new(2, 1, Duration::ZERO), Instant::now());
        state.queue(job(0, now));
        state.queue(job(1, now));
        assert!(matches!(state.wake(now), Wake::New));
        assert!(matches!(state.wake(now), Wake::None));
        begin(&mut state, now).unwrap();
        assert!(matches!(state.wake(now), Wake::New));
        let (turn, _) = begin(&mut state, now).unwrap();
        state.end_turn(turn).unwrap();
        state.begin_idle();
        state.queue(job(2, now));
        assert!(matches!(state.wake(now), Wake::Idle));
    }

    #[test]
    fn closed_batcher_finishes_what_is_queued() {
        let (mut state, now) = (state(1), Instant::now());
        state.queue(job(0, now));
        assert!(state.take_rest().is_empty());
        state.close();
        assert!(!state.is_finished());
        let token = Arc::new(());
        let turn = state.begin_turn(now).unwrap();
        let jobs = state.take_batch(turn);
        state.begin_execution(turn, jobs, LIMIT, false, Arc::downgrade(&token), now);
        assert!(state.is_finished() && state.is_busy());
        state.end_turn(turn).unwrap();
        assert!(!state.is_busy());
    }
}
