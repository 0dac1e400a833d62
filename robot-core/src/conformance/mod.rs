//! Test cases that every store and every frontend must pass (feature `conformance`).
//!
//! A store or a frontend is added by one line, in a test without the default harness
//! (`harness = false` in `Cargo.toml`). Each case becomes a named test with its own catalogue:
//!
//! ```
//! use std::process::ExitCode;
//! use robot_core::{MemoryCatalogue, conformance::Suite};
//!
//! fn main() -> ExitCode {
//!     Suite::new()
//!         .store("memory", |_folder| MemoryCatalogue::new())
//!         .run()
//! }
//! ```
//!
//! A frontend is tested through a [`Client`]: [`Suite::http`] takes a function that starts a service
//! and returns its client. [`TcpClient`] is the client of a service that listens on a port;
//! [`Api`](crate::http::Api) is a client itself.
//!
//! A case fails by panicking, with the expected and the actual result.

#![expect(clippy::panic, reason = "a case fails by panicking")]

mod client;
mod http;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod scratch;
mod store;

use std::{
    path::Path,
    process::ExitCode,
    sync::{Arc, Barrier},
    thread,
};

use libtest_mimic::{Arguments, Trial};

pub use client::{Answer, Call, Client, Service, TcpClient};
#[cfg(any(feature = "postgres", feature = "mysql"))]
#[doc(hidden)]
pub use scratch::scratch_database;

use crate::{catalogue::Catalogue, http::Behaviour};

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
/// use robot_core::{MemoryCatalogue, conformance::Suite, http::Api};
///
/// fn main() -> ExitCode {
///     Suite::new()
///         .store("memory", |_folder| MemoryCatalogue::new())
///         .http(
///             "api",
///             |_folder| MemoryCatalogue::new(),
///             |catalogue, behaviour| Api::new(catalogue).behaviour(behaviour),
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

    /// Adds the cases of a store. `open` is called once for each case, with an empty folder that is
    /// deleted after it, and returns an empty catalogue.
    #[must_use]
    pub fn store<C: Catalogue>(
        mut self,
        name: &str,
        open: impl Fn(&Path) -> C + Send + Sync + 'static,
    ) -> Self {
        let open = Arc::new(open);
        for (case, run) in store::cases() {
            let open = Arc::clone(&open);
            self.add(format!("{name}::{case}"), move |folder| run(&open(folder)));
        }
        self
    }

    /// Adds the cases of a frontend. For each case, `open` is called as for a store, and then
    /// `serve`, which starts a service with this behaviour for that catalogue and returns a client of
    /// it. The service should stop when the client is dropped (see [`Service`]).
    #[must_use]
    pub fn http<S: Catalogue + 'static, C: Client>(
        mut self,
        name: &str,
        open: impl Fn(&Path) -> S + Send + Sync + 'static,
        serve: impl Fn(Arc<dyn Catalogue>, Behaviour) -> C + Send + Sync + 'static,
    ) -> Self {
        let start = Arc::new((open, serve));
        for behaviour in [Behaviour::A, Behaviour::B] {
            for (case, run) in http::cases() {
                let start = Arc::clone(&start);
                self.add(format!("{name}::{behaviour}::{case}"), move |folder| {
                    let (open, serve) = start.as_ref();
                    let store = http::Faulty::new(open(folder));
                    let client = serve(store.clone(), behaviour);
                    run(&http::Session::new(&client, behaviour, &store));
                });
            }
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
