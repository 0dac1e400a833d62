//! The outcome of a call that may still be under way: something to wait on, or to await.

use std::{fmt, future::Future, pin::Pin};

/// The outcome of a call, which may not be there yet.
///
/// [`wait`](Self::wait) gets it on any thread that may block. Where none may, in async code, its
/// three cases are dealt with apart:
///
/// ```
/// use robot_core::Pending;
///
/// async fn outcome<T: Send + 'static>(pending: Pending<T>) -> T {
///     match pending {
///         Pending::Ready(outcome) => outcome,
///         Pending::Awaited(outcome) => outcome.await,
///         // Here goes what the runtime has for it, such as `tokio::task::spawn_blocking`.
///         Pending::Blocking(work) => std::thread::spawn(work).join().unwrap(),
///     }
/// }
/// ```
#[must_use = "work that nobody has begun is never done"]
pub enum Pending<T> {
    /// It is there.
    Ready(T),
    /// Another thread is at it, and will tell.
    Awaited(Pin<Box<dyn Future<Output = T> + Send>>),
    /// Nobody is at it yet: whoever calls this does it, and may be blocked for seconds.
    Blocking(Box<dyn FnOnce() -> T + Send>),
}

impl<T> Pending<T> {
    /// Work that another thread is at.
    ///
    /// ```
    /// use robot_core::Pending;
    ///
    /// let pending = Pending::awaited(async { 7 });
    /// assert_eq!(pending.wait(), 7);
    /// ```
    pub fn awaited(outcome: impl Future<Output = T> + Send + 'static) -> Self {
        Self::Awaited(Box::pin(outcome))
    }

    /// Work that may block whoever does it.
    ///
    /// ```
    /// use robot_core::Pending;
    ///
    /// let pending = Pending::blocking(|| std::fs::read_dir("."));
    /// assert!(pending.wait().is_ok());
    /// ```
    pub fn blocking(work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self::Blocking(Box::new(work))
    }

    /// Does what is to be done, or blocks until it is done.
    ///
    /// ```
    /// use robot_core::Pending;
    ///
    /// assert_eq!(Pending::Ready(7).wait(), 7);
    /// assert_eq!(Pending::blocking(|| 7).wait(), 7);
    /// assert_eq!(Pending::awaited(async { 7 }).wait(), 7);
    /// ```
    pub fn wait(self) -> T {
        match self {
            Self::Ready(outcome) => outcome,
            Self::Awaited(outcome) => pollster::block_on(outcome),
            Self::Blocking(work) => work(),
        }
    }

    /// What a function makes of the outcome, once it is there. The function must not block.
    ///
    /// ```
    /// use robot_core::Pending;
    ///
    /// assert_eq!(Pending::blocking(|| 7).map(|number| number + 1).wait(), 8);
    /// ```
    pub fn map<U>(self, function: impl FnOnce(T) -> U + Send + 'static) -> Pending<U>
    where
        T: 'static,
    {
        match self {
            Self::Ready(outcome) => Pending::Ready(function(outcome)),
            Self::Awaited(outcome) => Pending::awaited(async { function(outcome.await) }),
            Self::Blocking(work) => Pending::blocking(|| function(work())),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Pending<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(outcome) => formatter.debug_tuple("Ready").field(outcome).finish(),
            Self::Awaited(_) => formatter.write_str("Awaited"),
            Self::Blocking(_) => formatter.write_str("Blocking"),
        }
    }
}
