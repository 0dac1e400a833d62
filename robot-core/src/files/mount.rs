//! What a file lies on, by the mounts of this process. Only Linux lists them.

use std::{fs, path::Path};

/// What a file lies on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    /// A disk of this machine, as far as is known.
    Local,
    /// The file is a mount itself. Files beside it are on another one.
    Itself,
    /// A network file system, or one that a program provides, of this type, such as `nfs4`.
    Remote(String),
}

/// The beginnings of the types of remote file systems.
const REMOTE: [&str; 9] = [
    "9p", "afs", "ceph", "cifs", "fuse", "lustre", "nfs", "smb", "vboxsf",
];

/// What a file lies on, by its absolute path without links.
pub(crate) fn ground_of(file: &Path) -> Ground {
    let table = fs::read("/proc/self/mountinfo").unwrap_or_default();
    find(&String::from_utf8_lossy(&table), file)
}

fn find(table: &str, file: &Path) -> Ground {
    // The place of each mount, with spaces, and the type of its file system.
    let mounts = table.lines().filter_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let point = mount.split(' ').nth(4)?.replace("\\040", " ");
        Some((point, source.split(' ').next()?))
    });
    let mounts = mounts.filter(|(point, _)| file.starts_with(point));
    // Of several mounts at one place, the last one is visible.
    match mounts.max_by_key(|(point, _)| point.len()) {
        Some((point, _)) if Path::new(&point) == file => Ground::Itself,
        Some((_, kind)) if REMOTE.iter().any(|start| kind.starts_with(start)) => {
            Ground::Remote(kind.to_owned())
        }
        _ => Ground::Local,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:40 / /srv rw master:1 shared:2 - nfs4 host:/srv rw
31 22 0:41 / /srv2 rw - fuse.sshfs host:/ rw
32 22 8:2 / /srv/local rw - xfs /dev/sdb1 rw
33 22 8:1 /data/robots.db /app/robots.db rw - ext4 /dev/sda1 rw
34 22 0:42 / /mnt/two\\040words rw - cifs //host/share rw
35 22 0:43 / /over rw - 9p host rw
36 35 8:3 / /over rw - ext4 /dev/sdc1 rw
no mount";

    #[test]
    fn longest_mount_point_decides() {
        let remote = |kind: &str| Ground::Remote(kind.to_owned());
        for (file, expected) in [
            ("/robots.db", Ground::Local),
            ("/srv/robots.db", remote("nfs4")),
            ("/srv2/a/robots.db", remote("fuse.sshfs")),
            ("/srv3/robots.db", Ground::Local),
            ("/srv/local/robots.db", Ground::Local),
            ("/app/robots.db", Ground::Itself),
            ("/app/robots.db2", Ground::Local),
            ("/mnt/two words/robots.db", remote("cifs")),
            ("/over/robots.db", Ground::Local),
            ("robots.db", Ground::Local),
        ] {
            assert_eq!(find(TABLE, file.as_ref()), expected, "{file}");
        }
    }
}
