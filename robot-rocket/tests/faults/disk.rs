//! A small disk, which is full soon.

use std::{
    env,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::Path,
    process::{Command, ExitStatus},
};

use tempfile::TempDir;

use crate::options::Run;

/// Where this is set, file systems can be mounted, or nowhere.
const IN_A_NAMESPACE: &str = "ROBOT_FAULTS_IN_A_NAMESPACE";

/// With this status a test run ends in which a test has failed.
const TEST_FAILED: i32 = 101;

/// A file system in memory, which is gone when this is dropped.
pub(crate) struct Disk(TempDir);

impl Disk {
    /// Mounts a disk of so many MiB.
    fn mount(size: usize) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={size}m"))
            .arg("tmpfs")
            .arg(folder.path())
            .output()
            .map_err(|error| format!("mount, of the package of this name: {error}"))?;
        if mounted.status.success() {
            return Ok(Self(folder));
        }
        Err(String::from_utf8_lossy(&mounted.stderr).into_owned())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes all the room that there is.
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

    /// Gives the room back.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.0.path().join("ballast")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // It goes away when nobody uses it any more.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path())
            .status();
    }
}

/// Runs a test with a small disk: here where file systems may be mounted, or else by running it
/// alone in a namespace in which everybody may.
pub(crate) fn with_a_small_disk(run: &Run, size: usize, test: impl FnOnce(&Disk)) {
    match Disk::mount(size) {
        Ok(disk) => test(&disk),
        Err(error) if env::var_os(IN_A_NAMESPACE).is_some() => {
            panic!("no file system can be mounted in a namespace either: {error}")
        }
        Err(error) => {
            let inside = Command::new("unshare")
                .args(["--map-root-user", "--mount"])
                .arg(env::current_exe().unwrap())
                .args(run.arguments())
                .env(IN_A_NAMESPACE, "")
                .status();
            match inside.as_ref().map(ExitStatus::code) {
                Ok(Some(0)) => {}
                Ok(Some(TEST_FAILED)) => panic!("it failed in a namespace of its own, see above"),
                _ => panic!(
                    "this test mounts a small disk, for which it must be run by root, or be \
                     allowed a user namespace: {error}; unshare: {inside:?}"
                ),
            }
        }
    }
}
