//! Paths of files.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// The absolute path of a file after all links are followed. Its folder must exist, the file need
/// not.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    loop {
        match fs::canonicalize(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            resolved => return resolved,
        }
        let Ok(target) = fs::read_link(&path) else {
            let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
            return Ok(fs::canonicalize(folder_of(&path))?.join(name));
        };
        // A link to a file that does not exist. A circle of links is another error above.
        path = folder_of(&path).join(target);
    }
}

/// The folder of a file.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A path with a suffix, as SQLite names the files beside a database.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}
