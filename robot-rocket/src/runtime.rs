//! The threads on which a server runs.

use std::{future::Future, io, time::Duration};

use rocket::{Config, tokio::runtime::Builder};

/// How long requests may go on after the end, where Rocket's configuration says that it is the end.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Runs a server to its end, such as the future of [`Rocket::launch`](rocket::Rocket::launch), on
/// as many workers and blocking threads as its configuration says, though on one at least.
///
/// [`rocket::execute`], `#[rocket::main]` and `#[rocket::launch]` do as much for `Rocket.toml` and
/// the environment, but not for what else a server is configured with, such as the defaults of
/// [`figment`](crate::figment).
///
/// # Errors
/// The system has no threads to give.
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
        .max_blocking_threads(config.max_blocking.max(1))
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(server);
    if config.shutdown.force {
        runtime.shutdown_timeout(LAST_MOMENT);
    }
    Ok(outcome)
}
