//! The threads on which a server runs.

#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::{future::Future, io, time::Duration};

use rocket::{
    Config,
    tokio::{runtime::Builder, sync::Semaphore},
};

#[cfg(target_os = "linux")]
use crate::affinity::Cpus;

/// How long blocking work may go on after the end of the server, where `shutdown.force` is set.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Runs a server to its end, such as the future of [`Rocket::launch`](rocket::Rocket::launch), on
/// as many workers and blocking threads as its configuration says, though on one at least. On Linux,
/// if the workers are as many as the CPUs that the process may run on, each keeps to one of them.
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
    let workers = config.workers.max(1);
    let mut builder = Builder::new_multi_thread();
    builder
        .thread_name("rocket-worker-thread")
        .worker_threads(workers)
        .max_blocking_threads(config.max_blocking.clamp(1, Semaphore::MAX_PERMITS))
        .enable_all();
    #[cfg(target_os = "linux")]
    keep_to_cpus(&mut builder, workers);
    let runtime = builder.build()?;
    let outcome = runtime.block_on(server);
    if config.shutdown.force {
        runtime.shutdown_timeout(LAST_MOMENT);
    }
    Ok(outcome)
}

/// Binds each worker to a CPU, and no other thread of the runtime. Tokio says of workers alone that
/// they are parked.
#[cfg(target_os = "linux")]
fn keep_to_cpus(builder: &mut Builder, workers: usize) {
    if let Some(cpus) = Cpus::for_each_of(workers).map(Arc::new) {
        let for_workers = Arc::clone(&cpus);
        builder
            .on_thread_start(move || cpus.open_to_all())
            .on_thread_park(move || for_workers.bind());
    }
}
