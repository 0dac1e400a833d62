//! Check of the catalogue of a URL, and of the robots of any catalogue.

mod robots;

use std::ops::ControlFlow;

use crate::catalogue::{CheckError, CheckReport, OpenOptions};
#[cfg(feature = "sqlite")]
use crate::{catalogue::url::scheme_of, database::sqlite};

pub use robots::{check, repair};

impl OpenOptions {
    /// Checks the catalogue of a URL, also while other programs use it. An SQLite file is not changed:
    /// it is checked by SQLite, and whether its search index is complete. The robots of every store are
    /// checked as by [`check`](crate::check()).
    ///
    /// `next` is called with the number of robots that were read, some times per second or after some
    /// thousand robots, and can stop the check.
    ///
    /// # Errors
    /// A [`CheckError`] if the catalogue cannot be checked. Damage is a finding of the report.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// use std::ops::ControlFlow;
    /// use robot_core::OpenOptions;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let url = format!("sqlite://{}/robots.db", folder.path().display());
    /// robot_core::open(&url)?;
    /// let report = OpenOptions::default().check(&url, |_| ControlFlow::Continue(()))?;
    /// assert!(report.is_passed());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(
        &self,
        url: &str,
        next: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<CheckReport, CheckError> {
        #[cfg(feature = "sqlite")]
        if scheme_of(url) == "sqlite" {
            let mut next = next;
            return sqlite::check(url, self, &mut next);
        }
        let options = Self {
            must_exist: true,
            ..*self
        };
        let catalogue = options.open(url)?;
        check(&catalogue, next)
    }
}
