//! The number of files, among them connections, that this process may open.

/// The number that the process may reach at most.
#[cfg(unix)]
pub(crate) fn maximum() -> usize {
    use rustix::process::{Resource, getrlimit};
    let maximum = getrlimit(Resource::Nofile).maximum;
    maximum.map_or(usize::MAX, |files| files.try_into().unwrap_or(usize::MAX))
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub(crate) fn maximum() -> usize {
    usize::MAX
}

/// Permits this process to open [`maximum`] files: many systems start programs with 1,024.
pub(super) fn raise_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if limit != raised
            && let Err(cause) = setrlimit(Resource::Nofile, raised)
        {
            tracing::warn!("cannot raise the number of open files: {cause}; set it with ulimit -n");
        }
    }
}
