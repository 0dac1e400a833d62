//! Tests of the state.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use futures_channel::oneshot;

use super::{
    Attempt, Terms,
    state::{BatcherState, Caller, Job, OVERLAP_DELAY, Turn, Wake},
};

const TIMEOUT: Duration = Duration::from_secs(2);

const LIMIT: Duration = Duration::from_secs(3);

fn state(connections: usize) -> BatcherState<u8, u8> {
    BatcherState::new(connections, 3)
}

fn job(item: u8, now: Instant) -> Job<u8, u8> {
    let (sender, _) = oneshot::channel();
    let caller = Caller {
        sender: Some(sender),
        submitted: now,
        deadline: now + TIMEOUT,
        terms: Terms {
            first_attempt: Attempt::InBatch,
            limit: LIMIT,
            is_write: true,
        },
        attempts: 0,
    };
    Job { item, caller }
}

/// Begins a turn and executes its batch.
fn begin(state: &mut BatcherState<u8, u8>, now: Instant) -> Option<(Turn, Vec<u8>)> {
    let turn = state.begin_turn(now)?;
    let jobs = state.take_batch(turn);
    let items = state.begin_execution(turn, jobs, Weak::new(), now);
    Some((turn, items))
}

fn items(begun: Option<(Turn, Vec<u8>)>) -> Vec<u8> {
    begun.map_or_else(Vec::new, |(_, items)| items)
}

#[test]
fn batch_has_what_was_queued_during_the_last_one() {
    let (mut state, now) = (state(4), Instant::now());
    state.queue(job(0, now), Attempt::InBatch);
    let (turn, first) = begin(&mut state, now).unwrap();
    assert_eq!(first, [0]);
    for item in 1..5 {
        state.queue(job(item, now), Attempt::InBatch);
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
    state.queue(job(0, now), Attempt::InBatch);
    begin(&mut state, now).unwrap();
    state.queue(job(1, now), Attempt::InBatch);
    assert!(begin(&mut state, now + OVERLAP_DELAY / 2).is_none());
    let later = now + OVERLAP_DELAY;
    assert_eq!(items(begin(&mut state, later)), [1]);
    // There are no more connections.
    state.queue(job(2, now), Attempt::InBatch);
    assert!(begin(&mut state, later + OVERLAP_DELAY).is_none());
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
    state.queue(job(9, now), Attempt::InBatch);
    assert_eq!(items(begin(&mut state, now)), [9]);
    state.end_turn(turns[0].0).unwrap();
    assert_eq!(items(begin(&mut state, now)), [2]);
}

#[test]
fn only_connection_executes_both_kinds_by_their_age() {
    let (mut state, now) = (state(1), Instant::now());
    state.queue_again(vec![job(0, now)], Attempt::Alone);
    state.queue(job(1, now + OVERLAP_DELAY), Attempt::InBatch);
    let (turn, first) = begin(&mut state, now).unwrap();
    assert_eq!(first, [0]);
    state.end_turn(turn).unwrap();
    assert_eq!(items(begin(&mut state, now)), [1]);
}

#[test]
fn jobs_expire_in_the_queue_and_reads_while_they_are_executed() {
    let (mut state, now) = (state(2), Instant::now());
    let mut read = job(0, now);
    read.caller.terms.is_write = false;
    read.caller.terms.limit = TIMEOUT;
    state.queue(read, Attempt::InBatch);
    let (turn, _) = begin(&mut state, now).unwrap();
    state.queue(job(1, now), Attempt::InBatch);
    state.queue(job(2, now + OVERLAP_DELAY), Attempt::InBatch);
    assert_eq!(state.take_expired(now).len(), 0);
    assert_eq!(state.take_expired(now + TIMEOUT).len(), 2);
    assert!(state.end_turn(turn).unwrap()[0].sender.is_none());
    assert_eq!(items(begin(&mut state, now)), [2]);
}

#[test]
fn worker_that_exceeds_the_limit_is_abandoned_and_replaced() {
    let (mut state, now) = (state(1), Instant::now());
    state.queue(job(0, now), Attempt::InBatch);
    assert!(matches!(state.wake(now), Wake::New));
    let (turn, _) = begin(&mut state, now).unwrap();
    state.queue(job(1, now + LIMIT), Attempt::InBatch);
    assert!(matches!(state.wake(now), Wake::None));
    assert!(state.take_overdue(now + LIMIT / 2).is_empty());
    let overdue = state.take_overdue(now + LIMIT);
    assert_eq!(overdue.len(), 1);
    assert_eq!(overdue[0].callers.len(), 1);
    assert!(state.end_turn(turn).is_none());
    assert!(matches!(state.wake(now), Wake::New));
    assert_eq!(items(begin(&mut state, now + LIMIT)), [1]);
}

#[test]
fn one_worker_is_woken_at_a_time() {
    let (mut state, now) = (BatcherState::<u8, u8>::new(2, 1), Instant::now());
    state.queue(job(0, now), Attempt::InBatch);
    state.queue(job(1, now), Attempt::InBatch);
    assert!(matches!(state.wake(now), Wake::New));
    assert!(matches!(state.wake(now), Wake::None));
    begin(&mut state, now).unwrap();
    assert!(matches!(state.wake(now), Wake::New));
    let (turn, _) = begin(&mut state, now).unwrap();
    state.end_turn(turn).unwrap();
    assert!(state.begin_turn(now).is_none());
    state.begin_idle();
    state.queue(job(2, now), Attempt::InBatch);
    assert!(matches!(state.wake(now), Wake::Idle));
}

#[test]
fn closed_batcher_finishes_what_is_queued() {
    let (mut state, now) = (state(1), Instant::now());
    state.queue(job(0, now), Attempt::InBatch);
    assert!(state.take_rest().is_empty());
    let end = now + LIMIT;
    assert_eq!(state.close(end), end);
    assert_eq!(state.close(end + LIMIT), end);
    assert!(!state.is_finished());
    let token = Arc::new(());
    let turn = state.begin_turn(now).unwrap();
    let jobs = state.take_batch(turn);
    state.begin_execution(turn, jobs, Arc::downgrade(&token), now);
    assert!(state.is_finished() && state.is_busy());
    state.end_turn(turn).unwrap();
    assert!(!state.is_busy());
}
