//! Files that are written completely or not at all.

use std::{
    fs::{self, File, Metadata, Permissions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::{
    Existing,
    path::{folder_of, resolve},
    store_files::StoreFiles,
};

/// Why a file cannot be written.
///
/// ```
/// use robot_core::{OutputError, OutputFile, StoreFiles};
///
/// let files = StoreFiles::new(["robots.db".into()]);
/// let created = OutputFile::create("robots.db".as_ref(), &files);
/// assert!(matches!(created, Err(OutputError::OfCatalogue)));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// It is a file of the catalogue.
    #[error("it belongs to the catalogue itself")]
    OfCatalogue,
    /// It is a device, a pipe or a socket, which cannot be replaced.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is complete, but a power cut may undo the renaming: the file is then missing, or the previous one.
    #[error("it is complete, but its folder cannot be synced: {0}")]
    NotSynced(#[source] io::Error),
    /// The error of the system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A file that is written under a temporary name in its folder, and renamed when it is complete.
///
/// Until then, an existing file is as it was. If this is dropped before that, the temporary file is
/// deleted.
///
/// ```
/// use std::io::Write;
/// use robot_core::{Existing, OutputFile, StoreFiles};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("robots.csv");
/// std::fs::write(&path, "old")?;
/// let mut file = OutputFile::create(&path, &StoreFiles::of_url("sqlite://robots.db"))?;
/// file.write_all(b"new")?;
/// assert_eq!(std::fs::read_to_string(&path)?, "old");
/// file.finish(Existing::Replace)?;
/// assert_eq!(std::fs::read_to_string(&path)?, "new");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    temporary: NamedTempFile,
    /// The existing file, whose owner and permissions are kept.
    existing: Option<Metadata>,
    /// The permissions that a complete file gets, if not the usual ones.
    permissions: Option<Permissions>,
    /// The path after links are followed: the target of a symbolic link is replaced, not the link.
    path: PathBuf,
    /// Open, so that an unreadable folder is found before anything is written. Outside of Unix, a renamed
    /// file needs no sync of its folder.
    folder: Option<File>,
}

impl OutputFile {
    /// Creates the temporary file. An existing file's permissions and owner are kept.
    ///
    /// # Errors
    /// The file belongs to `catalogue` or is not a regular file, or its folder cannot be written.
    pub fn create(path: &Path, catalogue: &StoreFiles) -> Result<Self, OutputError> {
        if catalogue.contains(path) {
            return Err(OutputError::OfCatalogue);
        }
        let existing = match fs::metadata(path) {
            Ok(existing) if existing.is_dir() => {
                return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
            }
            Ok(existing) if !existing.is_file() => return Err(OutputError::NotRegular),
            Ok(existing) => Some(existing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let path = resolve(path)?;
        let folder = cfg!(unix).then(|| File::open(folder_of(&path)));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".robots-").suffix(".part");
        #[cfg(unix)]
        if existing.is_none() {
            // The usual permissions of new files, instead of those of temporary files; the umask
            // applies.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        }
        Ok(Self {
            temporary: builder.tempfile_in(folder_of(&path))?,
            permissions: existing.as_ref().map(Metadata::permissions),
            existing,
            path,
            folder: folder.transpose()?,
        })
    }

    /// The path of the temporary file.
    pub(crate) fn temporary_path(&self) -> &Path {
        self.temporary.path()
    }

    /// Writes to disk what the file has now.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.temporary.as_file().sync_all()
    }

    /// Gives a file that does not exist yet the permissions of another one, except that its owner may
    /// write it.
    pub(crate) fn readable_as(&mut self, other: &Path) -> io::Result<()> {
        if self.existing.is_none() {
            let mut permissions = fs::metadata(other)?.permissions();
            #[cfg(not(unix))]
            permissions.set_readonly(false);
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                permissions.set_mode(permissions.mode() | 0o200);
                // No other user may read it before.
                let private = Permissions::from_mode(0o600);
                self.temporary.as_file().set_permissions(private)?;
            }
            self.permissions = Some(permissions);
        }
        Ok(())
    }

    /// The path that the file gets.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs the file, renames it into place, and returns its size in bytes.
    ///
    /// # Errors
    /// [`OutputError::NotSynced`], or the error of the system: [`io::ErrorKind::AlreadyExists`] for an
    /// existing file that is to be kept.
    pub fn finish(self, existing: Existing) -> Result<u64, OutputError> {
        if let Some(mut permissions) = self.permissions {
            if let Some(existing) = &self.existing {
                keep_owner(self.temporary.as_file(), existing, &mut permissions);
            }
            self.temporary.as_file().set_permissions(permissions)?;
        }
        self.temporary.as_file().sync_all()?;
        let bytes = self.temporary.as_file().metadata()?.len();
        match existing {
            Existing::Keep => self.temporary.persist_noclobber(&self.path),
            Existing::Replace => self.temporary.persist(&self.path),
        }
        .map_err(|failed| failed.error)?;
        // The rename is durable when the folder is synced.
        let synced = self.folder.map(|folder| folder.sync_all());
        synced.transpose().map_err(OutputError::NotSynced)?;
        Ok(bytes)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.flush()
    }
}

/// Gives a file the owner and the group of an existing one, as far as the process may: only root may
/// give files to other users, and others to groups that they belong to. Members of another group must
/// not get the permissions of the right one.
#[cfg(unix)]
fn keep_owner(file: &File, existing: &Metadata, permissions: &mut Permissions) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let (owner, group) = (Some(existing.uid()), Some(existing.gid()));
    let kept = fchown(file, owner, group).or_else(|_| fchown(file, None, group));
    if kept.is_err() {
        permissions.set_mode(permissions.mode() & !0o070);
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata, _: &mut Permissions) {}
