//! The cases that every store and every frontend must pass (feature `conformance`).
//!
//! A store or a frontend joins with one line, in a test without the usual harness
//! (`harness = false` for it in `Cargo.toml`). Each case becomes a test with a name, run
//! against a catalogue of its own:
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
//! A frontend is tested as its clients see it, through a [`Client`]: [`Suite::http`] takes
//! whatever starts a service and returns one. [`TcpClient`] is the client for everything
//! that listens on a port, and [`Api`](crate::http::Api) itself is one, too.
//!
//! A case fails by panicking, with what it expected and what it got.

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
pub use scratch::scratch_database;

use crate::{catalogue::Catalogue, http::Behaviour};

/// A case for what it is given, by its name.
type Case<F> = (&'static str, F);

/// The table of cases: the functions of these names. A case that is not in it is dead code,
/// which the compiler reports.
macro_rules! cases {
    ($($case:ident),+ $(,)?) => {
        &[$((stringify!($case), $case)),+]
    };
}
use cases;

/// Cases to run: for each store and each frontend all of them.
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
    /// No cases yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a store under a name. `open` is called once for each case, with an empty folder
    /// that lasts as long, and returns an empty catalogue.
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

    /// Adds a frontend under a name. For each case, `open` is called as for a store, and then
    /// `serve`, which starts a service of this behaviour over that catalogue and returns a
    /// client of it. The service should end when the client is dropped (see [`Service`]).
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

    /// Runs the cases that the command line selects, as `cargo test` does, and prints how
    /// each went.
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

/// Runs so many calls at the same moment, each on a thread, and returns their results.
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
