//! Test cases that every store and every frontend must pass (feature `conformance`).
//!
//! A store or a frontend is added by one line, in a test without the default harness
//! (`harness = false` in `Cargo.toml`). Each case becomes a named test with its own catalogue:
//!
//! ```
//! use std::process::ExitCode;
//! use robot_core::{MemoryCatalogue, conformance::{Store, Suite}};
//!
//! fn main() -> ExitCode {
//!     Suite::new()
//!         .store("memory", Store::volatile(MemoryCatalogue::new))
//!         .run()
//! }
//! ```
//!
//! [`Store::persistent`] is a store that keeps its robots: further cases close it and open it again.
//!
//! A frontend is tested through a [`Client`]: [`Suite::http`] takes a function that starts a service
//! and returns its client. [`TcpClient`] is the client of a service that listens on a port;
//! [`Api`](crate::http::Api) is a client itself.
//!
//! A case fails by panicking, with the expected and the actual result.

#![expect(clippy::panic, reason = "a case fails by panicking")]

mod client;
mod configuration;
mod http;
mod opening;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod scratch;
mod store;
mod tcp;

use std::{
    path::Path,
    process::ExitCode,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use libtest_mimic::{Arguments, Trial};

pub use client::{Answer, Call, Client, Framing, Pace, Service};
pub use configuration::Configuration;
pub use opening::Store;
#[cfg(feature = "mysql")]
#[doc(hidden)]
pub use scratch::MysqlConnection;
#[cfg(feature = "postgres")]
#[doc(hidden)]
pub use scratch::PostgresConnection;
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[doc(hidden)]
pub use scratch::{Blocking, scratch_database};
pub use tcp::TcpClient;

use crate::{
    catalogue::{Catalogue, Error, Redefinition},
    model::{Definition, Revision},
};

/// A case and its name.
type Case<F> = (&'static str, F);

/// The table of cases: functions with their names. A case that is missing in it is dead code, which
/// the compiler reports.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        &[$((stringify!($case), $case)),+]
    };
}
use cases;

/// A suite that runs all cases for each store and each frontend.
///
/// ```
/// use std::process::ExitCode;
/// use robot_core::{MemoryCatalogue, conformance::{Store, Suite}};
///
/// fn main() -> ExitCode {
///     Suite::new()
///         .store("memory", Store::volatile(MemoryCatalogue::new))
///         .http(
///             "api",
///             Store::volatile(MemoryCatalogue::new),
///             |catalogue, configuration| configuration.api(catalogue),
///         )
///         .run()
/// }
/// ```
#[derive(Default)]
pub struct Suite {
    trials: Vec<Trial>,
}

impl Suite {
    /// An empty suite.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the cases of a store.
    #[must_use]
    pub fn store(mut self, name: &str, store: Store) -> Self {
        let Store { start, retention } = store;
        for (case, run) in store::reopening::cases(retention) {
            let start = Arc::clone(&start);
            self.add(format!("{name}::{case}"), move |folder| {
                run(&*start(folder));
            });
        }
        for (case, run) in store::cases() {
            let start = Arc::clone(&start);
            self.add(format!("{name}::{case}"), move |folder| {
                let catalogue = start(folder)();
                if !store::needs_definitions(case) || can_define(&catalogue) {
                    run(&catalogue);
                }
            });
        }
        self
    }

    /// Adds the cases of a frontend. For each case, the store is opened, and `serve` starts a service
    /// for that catalogue with this configuration and returns a client of it. The service should stop
    /// when the client is dropped (see [`Service`]).
    #[must_use]
    pub fn http<C: Client>(
        mut self,
        name: &str,
        store: Store,
        serve: impl Fn(Arc<dyn Catalogue>, Configuration) -> C + Send + Sync + 'static,
    ) -> Self {
        let (start, serve) = (store.start, Arc::new(serve));
        for (configuration, case, run) in http::cases() {
            let (start, serve) = (Arc::clone(&start), Arc::clone(&serve));
            let behaviour = configuration.behaviour;
            self.add(format!("{name}::{behaviour}::{case}"), move |folder| {
                let store = http::Faulty::new(start(folder)());
                if http::needs_definitions(case) && !can_define(&store) {
                    return;
                }
                let client = serve(store.clone(), configuration);
                run(&http::Session::new(&client, configuration, &store));
            });
        }
        self
    }

    /// Runs the cases that the command line selects, as `cargo test` does, and prints the results.
    #[must_use]
    pub fn run(self) -> ExitCode {
        libtest_mimic::run(&Arguments::from_args(), self.trials).exit_code()
    }

    fn add(&mut self, name: String, run: impl FnOnce(&Path) + Send + 'static) {
        self.trials.push(Trial::test(name, move || {
            let folder = tempfile::tempdir()?;
            run(folder.path());
            Ok(())
        }));
    }
}

/// Whether the definition of a store can be changed.
fn can_define(store: &dyn Catalogue) -> bool {
    let built_in = (**Definition::built_in()).clone();
    let mut never = Redefinition::new(built_in);
    never.expected = Revision::new(i64::MAX);
    !matches!(store.define(never), Err(Error::ReadOnly(_)))
}

/// Runs `count` calls concurrently, each on its own thread, and returns their results.
fn at_once<T: Send>(count: usize, call: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|number| {
                let (barrier, call) = (&barrier, &call);
                scope.spawn(move || {
                    barrier.wait();
                    call(number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| panic!("a call panicked")))
            .collect()
    })
}

/// Runs `write` while other threads repeat `read`.
fn read_meanwhile(write: impl FnOnce(), read: impl Fn() + Sync) {
    /// Ends the reads, also if `write` panics.
    struct Done<'a>(&'a AtomicBool);
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    read();
                }
            });
        }
        let _done = Done(&is_done);
        write();
    });
}
