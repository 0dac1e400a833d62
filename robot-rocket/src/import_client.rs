//! How fast the clients of imports send: slow ones make room for others.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

/// The rate in bytes per second below which a client lags. Lower, and clients keep others from importing that send
/// hardly anything; higher, and imports over slow networks are ended while there are many.
const RATE: u64 = 16 * 1024;

/// The lag from which an import may be ended in favour of another one. Lower, and short pauses end imports; higher,
/// and the other one waits for longer.
const LAG_LIMIT: Duration = Duration::from_secs(2);

/// The client of an import.
#[derive(Default)]
pub(crate) struct ImportClient {
    lag: Mutex<Lag>,
    /// Cancelled once a thread receives the body.
    pub(crate) has_thread: CancellationToken,
    /// Cancelled once a thread would not wait for the client: the whole body, or a full piece, has arrived.
    pub(crate) is_ahead: CancellationToken,
    /// Cancelled to end the import.
    pub(crate) ended: CancellationToken,
}

#[derive(Default)]
struct Lag {
    /// The time that the service has waited, less that which the bytes take at the rate.
    time: Duration,
    /// Since when the service waits for the client.
    since: Option<Instant>,
}

impl ImportClient {
    pub(crate) fn start_waiting(&self) {
        self.change(|lag| lag.since = Some(Instant::now()));
    }

    pub(crate) fn received(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let credit = Duration::from_micros(bytes.saturating_mul(1_000_000) / RATE);
        self.change(|lag| {
            lag.time = lag.now().saturating_sub(credit);
            lag.since = None;
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Lag) -> T) -> T {
        change(&mut self.lag.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Lag {
    fn now(&self) -> Duration {
        let waited = self.since.map(|since| since.elapsed());
        self.time.saturating_add(waited.unwrap_or_default())
    }
}

/// The clients of the imports that have a thread.
#[derive(Default)]
pub(crate) struct ImportClients(Mutex<Vec<Weak<ImportClient>>>);

impl ImportClients {
    pub(crate) fn add(&self, client: &Arc<ImportClient>) {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        clients.retain(|client| client.strong_count() > 0);
        clients.push(Arc::downgrade(client));
        client.has_thread.cancel();
    }

    /// Ends the import of the client that lags most, if any lags.
    pub(crate) fn end_slowest(&self) -> bool {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lags = clients.iter().enumerate().filter_map(|(index, client)| {
            let client = client.upgrade()?;
            Some((client.change(|lag| lag.now()), index, client))
        });
        let slowest = lags.max_by_key(|(lag, ..)| *lag);
        let Some((_, index, client)) = slowest.filter(|(lag, ..)| *lag >= LAG_LIMIT) else {
            return false;
        };
        clients.swap_remove(index);
        client.ended.cancel();
        true
    }
}
