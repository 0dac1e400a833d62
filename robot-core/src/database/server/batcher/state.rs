//! State of a batcher: what is queued, and what is executed.

use std::{
    collections::VecDeque,
    sync::Weak,
    time::{Duration, Instant},
};

use futures_channel::oneshot;

use super::{Attempt, Terms};
use crate::catalogue::Result;

/// How long a batch may take before another worker takes what is queued, unless each batch has one item.
/// Shorter, and more connections share what one could do in larger batches; longer, and items wait for a
/// batch that waits for a lock.
pub(super) const OVERLAP_DELAY: Duration = Duration::from_millis(20);

/// How long a worker may take to connect before another one tries. Shorter, and a burst of requests opens
/// more connections than it needs; longer, and items wait for a host that does not answer although
/// another worker has a connection.
const CONNECT_DELAY: Duration = Duration::from_millis(500);

pub(super) type Sender<O> = oneshot::Sender<Result<O>>;

/// An item and its caller.
pub(super) struct Job<I, O> {
    pub(super) item: I,
    pub(super) caller: Caller<O>,
}

/// The caller of an item: where the result is sent, and until when.
pub(super) struct Caller<O> {
    /// `None` once the result is not needed any more.
    pub(super) sender: Option<Sender<O>>,
    pub(super) submitted: Instant,
    /// When the execution must have begun.
    pub(super) deadline: Instant,
    pub(super) terms: Terms,
    /// How often the item was executed.
    pub(super) attempts: u32,
}

impl<O> Caller<O> {
    /// Whether the result is not needed any more.
    fn is_expired(&self, now: Instant) -> bool {
        !self.terms.is_write && self.submitted + self.terms.limit <= now
    }

    /// The caller, of which this one remains without a sender.
    fn split_off(&mut self) -> Self {
        Self {
            sender: self.sender.take(),
            ..*self
        }
    }

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

/// A batch that is executed.
pub(super) struct Executing<O> {
    pub(super) callers: Vec<Caller<O>>,
    /// Alive as long as the thread.
    pub(super) token: Weak<()>,
}

impl<O> Executing<O> {
    fn limit(&self) -> Duration {
        let first = self.callers.first();
        first.map_or(Duration::ZERO, |caller| caller.terms.limit)
    }
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

pub(super) struct BatcherState<I, O> {
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
    /// Until when the workers may finish, if the batcher is closed.
    end: Option<Instant>,
    connections: usize,
    batch_limit: usize,
}

impl<I, O> BatcherState<I, O> {
    pub(super) fn new(connections: usize, batch_limit: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            alone: VecDeque::new(),
            running: Vec::new(),
            next_turn: 0,
            workers: 0,
            idle: 0,
            is_waking: false,
            end: None,
            connections,
            batch_limit,
        }
    }

    pub(super) fn queue_length(&self) -> usize {
        self.queue.len() + self.alone.len()
    }

    pub(super) fn queue(&mut self, job: Job<I, O>, attempt: Attempt) {
        match attempt {
            Attempt::InBatch => self.queue.push_back(job),
            Attempt::Alone => self.alone.push_back(job),
        }
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
        let is_recent = |running: &Running<O>| {
            let delay = match &running.batch {
                // An idle worker probably has a connection.
                None if self.idle == 0 => CONNECT_DELAY,
                _ if self.batch_limit == 1 => Duration::ZERO,
                _ => OVERLAP_DELAY,
            };
            running.turn.attempt == Attempt::InBatch && now < running.since + delay
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
            .filter(|_| !self.running.iter().any(is_recent));
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
        if self.workers < self.connections && self.end.is_none() {
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

    /// Starts no more workers. Returns until when they may finish: the deadline of the first call.
    pub(super) fn close(&mut self, deadline: Instant) -> Instant {
        *self.end.get_or_insert(deadline)
    }

    /// Whether the batcher is closed, and what was queued is done.
    pub(super) fn is_finished(&self) -> bool {
        self.end.is_some() && self.queue.is_empty() && self.alone.is_empty()
    }

    /// Empties the queue if the batcher is closed, and returns the callers.
    pub(super) fn take_rest(&mut self) -> Vec<Caller<O>> {
        if self.end.is_none() {
            return Vec::new();
        }
        let jobs = self.queue.drain(..).chain(self.alone.drain(..));
        jobs.map(|job| job.caller).collect()
    }

    /// Removes the workers that have not ended, and returns the callers of their batches.
    pub(super) fn abandon_all(&mut self) -> Vec<Caller<O>> {
        self.workers -= self.running.len();
        let batches = self.running.drain(..).filter_map(|running| running.batch);
        batches.flat_map(|batch| batch.callers).collect()
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
        token: Weak<()>,
        now: Instant,
    ) -> Vec<I> {
        let (items, callers) = jobs.into_iter().map(|job| (job.item, job.caller)).unzip();
        if let Some(running) = self.running(turn) {
            running.since = now;
            running.batch = Some(Executing { callers, token });
        }
        items
    }

    /// Ends the turn of a worker, which looks at the queue next, and returns the callers of its batch;
    /// `None` if the worker was abandoned.
    pub(super) fn end_turn(&mut self, turn: Turn) -> Option<Vec<Caller<O>>> {
        let index = self.running.iter().position(|each| each.turn == turn)?;
        let batch = self.running.swap_remove(index).batch;
        self.is_waking = true;
        Some(batch.map_or_else(Vec::new, |batch| batch.callers))
    }

    fn running(&mut self, turn: Turn) -> Option<&mut Running<O>> {
        self.running.iter_mut().find(|each| each.turn == turn)
    }

    /// Whether anything is queued or executed.
    pub(super) fn is_busy(&self) -> bool {
        !(self.queue.is_empty() && self.alone.is_empty() && self.running.is_empty())
    }

    /// The callers of items that were not executed in time, or whose results are not needed any more.
    pub(super) fn take_expired(&mut self, now: Instant) -> Vec<Caller<O>> {
        let mut expired = Vec::new();
        let is_expired = |job: &Job<I, O>| job.caller.deadline <= now;
        // In the order of their deadlines.
        while self.queue.front().is_some_and(is_expired) {
            expired.extend(self.queue.pop_front().map(|job| job.caller));
        }
        if self.alone.iter().any(is_expired) {
            let jobs = self.alone.drain(..);
            let (over, left): (VecDeque<_>, _) = jobs.partition(is_expired);
            self.alone = left;
            expired.extend(over.into_iter().map(|job| job.caller));
        }
        let executing = self
            .running
            .iter_mut()
            .filter_map(|each| each.batch.as_mut());
        for caller in executing.flat_map(|batch| &mut batch.callers) {
            if caller.is_expired(now) && caller.sender.is_some() {
                expired.push(caller.split_off());
            }
        }
        expired
    }

    /// Removes the workers that have exceeded the time limit of their batch, and returns the batches.
    pub(super) fn take_overdue(&mut self, now: Instant) -> Vec<Executing<O>> {
        let is_overdue = |each: &mut Running<O>| {
            let batch = each.batch.as_ref();
            batch.is_some_and(|batch| each.since + batch.limit() <= now)
        };
        let overdue = self.running.extract_if(.., is_overdue);
        let overdue: Vec<_> = overdue.filter_map(|running| running.batch).collect();
        self.workers -= overdue.len();
        overdue
    }
}
