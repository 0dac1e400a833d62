//! The threads on which a server runs.

use std::{future::Future, io, time::Duration};

use rocket::{
    Config,
    tokio::{runtime::Builder, sync::Semaphore},
};

/// How long blocking work may go on after the end of the server, where `shutdown.force` is set.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Runs a server to its end, such as the future of [`Rocket::launch`](rocket::Rocket::launch), on
/// as many workers and blocking threads as its configuration says, though on one at least.
///
/// [`rocket::execute`], `#[rocket::main]` and `#[rocket::launch]` do as much for `Rocket.toml` and
/// the environment, but not for what else a server is configured with, such as the defaults of
/// [`figment`](crate::figment).
///
/// # Errors
/// The system does not let it wait for events, for one because too many files are open.
///
/// # Panics
/// The system has no thread to give.
///
/// ```
/// use rocket::{Config, tokio::runtime::Handle};
///
/// let config = Config { workers: 3, ..Config::default() };
/// let workers = robot_rocket::execute(&config, async { Handle::current().metrics().num_workers() });
/// assert_eq!(workers?, 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn execute<F: Future>(config: &Config, server: F) -> io::Result<F::Output> {
    let runtime = Builder::new_multi_thread()
        .thread_name("rocket-worker-thread")
        .worker_threads(config.workers.max(1))
        .max_blocking_threads(config.max_blocking.clamp(1, Semaphore::MAX_PERMITS))
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(server);
    if config.shutdown.force {
        runtime.shutdown_timeout(LAST_MOMENT);
    }
    Ok(outcome)
}
