//! Pending result: a value that is available, is awaited, or needs blocking work.

use std::{fmt, future::Future, pin::Pin};

/// Work that may block its thread for seconds.
pub type BlockingWork<T> = Box<dyn FnOnce() -> T + Send>;

/// A result that may not be available yet.
///
/// [`wait`](Self::wait) returns it on a thread that may block. In async code,
/// [`resolve`](Self::resolve) awaits it, and passes work that blocks to a function such as
/// `tokio::task::spawn_blocking`:
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{CatalogueExt, Draft, Robot};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let catalogue = robot_core::open("memory:")?;
/// let pending = catalogue.start_add(Draft::new("R2-D2", "droid", 1977));
/// let robot = pending.resolve(|work| tokio::task::spawn_blocking(work)).await??;
/// assert_eq!(robot.name(), "R2-D2");
/// # Ok(())
/// # }
/// ```
#[must_use = "blocking work does not start before `wait` or `resolve`"]
pub struct Pending<T>(Progress<T>);

enum Progress<T> {
    Ready(T),
    /// Another thread computes it.
    Awaited(Pin<Box<dyn Future<Output = T> + Send>>),
    /// Not started yet.
    Blocking(BlockingWork<T>),
}

impl<T> Pending<T> {
    /// A result that is available.
    ///
    /// ```
    /// assert_eq!(robot_core::Pending::ready(7).wait(), 7);
    /// ```
    pub fn ready(result: T) -> Self {
        Self(Progress::Ready(result))
    }

    /// A result that another thread computes.
    ///
    /// ```
    /// assert_eq!(robot_core::Pending::awaited(async { 7 }).wait(), 7);
    /// ```
    pub fn awaited(result: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Progress::Awaited(Box::pin(result)))
    }

    /// A result that takes work which may block its thread. The work starts when the result is
    /// waited for.
    ///
    /// ```
    /// let pending = robot_core::Pending::blocking(|| std::fs::read_dir("."));
    /// assert!(pending.wait().is_ok());
    /// ```
    pub fn blocking(work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(Progress::Blocking(Box::new(work)))
    }

    /// Returns the result; blocks the thread until it is available.
    pub fn wait(self) -> T {
        match self.0 {
            Progress::Ready(result) => result,
            Progress::Awaited(result) => pollster::block_on(result),
            Progress::Blocking(work) => work(),
        }
    }

    /// Awaits the result. Work that may block is passed to `spawn`, which runs it elsewhere.
    ///
    /// # Errors
    /// Those of `spawn`.
    pub async fn resolve<E, F>(self, spawn: impl FnOnce(BlockingWork<T>) -> F) -> Result<T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        match self.0 {
            Progress::Ready(result) => Ok(result),
            Progress::Awaited(result) => Ok(result.await),
            Progress::Blocking(work) => spawn(work).await,
        }
    }

    /// Applies a function to the result once it is available. The function must not block.
    ///
    /// ```
    /// let pending = robot_core::Pending::blocking(|| 7);
    /// assert_eq!(pending.map(|number| number + 1).wait(), 8);
    /// ```
    pub fn map<U>(self, function: impl FnOnce(T) -> U + Send + 'static) -> Pending<U>
    where
        T: 'static,
    {
        match self.0 {
            Progress::Ready(result) => Pending::ready(function(result)),
            Progress::Awaited(result) => Pending::awaited(async { function(result.await) }),
            Progress::Blocking(work) => Pending::blocking(|| function(work())),
        }
    }

    /// Replaces work that has not started by what `wrap` makes of it.
    pub(crate) fn wrap_work(self, wrap: impl FnOnce(BlockingWork<T>) -> BlockingWork<T>) -> Self {
        match self.0 {
            Progress::Blocking(work) => Self(Progress::Blocking(wrap(work))),
            started => Self(started),
        }
    }

    /// Whether dropping this discards the work: it has not started.
    pub(crate) fn is_unstarted(&self) -> bool {
        matches!(self.0, Progress::Blocking(_))
    }
}

impl<T: fmt::Debug> fmt::Debug for Pending<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Progress::Ready(result) => formatter.debug_tuple("Ready").field(result).finish(),
            Progress::Awaited(_) => formatter.write_str("Awaited"),
            Progress::Blocking(_) => formatter.write_str("Blocking"),
        }
    }
}
