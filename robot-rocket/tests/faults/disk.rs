//! Small disk that a test can fill.

use std::{
    env,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::Path,
    process::{Command, ExitStatus},
};

use tempfile::TempDir;

use crate::options::Run;

/// Environment variable that is set in a namespace in which file systems can be mounted.
const IN_NAMESPACE: &str = "ROBOT_FAULTS_IN_NAMESPACE";

/// The exit status of a test run with a failed test.
const TEST_FAILED: i32 = 101;

/// A file system in memory, unmounted on drop.
pub(crate) struct Disk(TempDir);

impl Disk {
    /// Mounts a disk of a size in MiB.
    fn mount(size: usize) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={size}m"))
            .arg("tmpfs")
            .arg(folder.path())
            .output()
            .map_err(|error| format!("cannot run mount (Debian package mount): {error}"))?;
        if mounted.status.success() {
            return Ok(Self(folder));
        }
        Err(String::from_utf8_lossy(&mounted.stderr).into_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Uses all free space.
    pub(crate) fn fill(&self) {
        let mut ballast = File::create(self.0.path().join("ballast")).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            let piece = vec![1; size];
            let error = loop {
                if let Err(error) = ballast.write_all(&piece) {
                    break error;
                }
            };
            assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
        }
    }

    /// Frees the space again.
    pub(crate) fn free(&self) {
        fs::remove_file(self.0.path().join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: it is unmounted when no process uses it any more.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path())
            .status();
    }
}

/// Runs a test with a small disk: in this process if it may mount file systems, else in another
/// one in a namespace of its own.
pub(crate) fn with_small_disk(run: &Run, size: usize, test: impl FnOnce(&Disk)) {
    match Disk::mount(size) {
        Ok(disk) => test(&disk),
        Err(error) if env::var_os(IN_NAMESPACE).is_some() => {
            panic!("no file system can be mounted in a namespace, either: {error}")
        }
        Err(error) => {
            let inside = Command::new("unshare")
                .args(["--map-root-user", "--mount"])
                .arg(env::current_exe().unwrap())
                .args(run.arguments())
                .env(IN_NAMESPACE, "")
                .status();
            match inside.as_ref().map(ExitStatus::code) {
                Ok(Some(0)) => {}
                Ok(Some(TEST_FAILED)) => panic!("failed in a namespace of its own, see above"),
                _ => panic!(
                    "this test mounts a small disk: run it as root, or allow user namespaces: \
                     {error}; unshare: {inside:?}"
                ),
            }
        }
    }
}
