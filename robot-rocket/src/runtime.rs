//! The Tokio runtime of a server: its worker threads and blocking threads.

use std::{future::Future, io, time::Duration};

use rocket::{
    Config,
    tokio::{runtime::Builder, sync::Semaphore},
};

use crate::permits::further_threads;

/// The timeout for blocking work after the end of the server, if `shutdown.force` is set.
const BLOCKING_TIMEOUT: Duration = Duration::from_millis(500);

/// Runs a server to its end, such as the future of [`Rocket::launch`](rocket::Rocket::launch), with
/// the worker and blocking threads of its configuration, at least one of each.
///
/// [`rocket::execute`], `#[rocket::main]` and `#[rocket::launch]` use only `Rocket.toml` and the
/// environment, but not the defaults of [`figment`](crate::figment) or of the program.
///
/// # Errors
/// The runtime cannot be created, for example because too many files are open.
///
/// # Panics
/// If the system cannot start a thread.
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
    let max_blocking = config.max_blocking.max(1);
    let threads = max_blocking.saturating_add(further_threads(max_blocking));
    let runtime = Builder::new_multi_thread()
        .thread_name("rocket-worker-thread")
        .worker_threads(config.workers.max(1))
        .max_blocking_threads(threads.min(Semaphore::MAX_PERMITS))
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(server);
    if config.shutdown.force {
        runtime.shutdown_timeout(BLOCKING_TIMEOUT);
    }
    Ok(outcome)
}
