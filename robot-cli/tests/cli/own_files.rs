//! Tests of commands that must not touch the catalogue's own files, by any name.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
};

use crate::sandbox::{Sandbox, contains};

/// A sandbox with links to the files of the catalogue, and the names of all of them.
fn with_links() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::with_three_robots();
    symlink(".", sandbox.path("folder")).unwrap();
    fs::create_dir(sandbox.path("sub")).unwrap();
    let mut names = Vec::new();
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let file = format!("robots.db{suffix}");
        let link = format!("link{suffix}.csv");
        symlink(&file, sandbox.path(&link)).unwrap();
        let absolute = sandbox.path(&file).display().to_string();
        names.extend([format!("./{file}"), format!("folder/{file}")]);
        names.extend([format!("sub/../{file}"), file, link, absolute]);
    }
    (sandbox, names)
}

fn own_file(name: &str) -> String {
    format!("error: '{name}' belongs to the catalogue itself; choose another file\n")
}

#[test]
fn own_files_are_neither_written_nor_imported() {
    let (sandbox, names) = with_links();
    // Closed, so that only the database exists, and in use.
    for is_open in [false, true] {
        let catalogue = is_open.then(|| sandbox.open("robots.db"));
        for name in &names {
            sandbox.fails(["export", name, "--format=csv"], &own_file(name));
            sandbox.fails(["import", name, "--format=csv"], &own_file(name));
            sandbox.fails(["backup", "--force", name], &own_file(name));
        }
        if catalogue.is_some() {
            fs::hard_link(sandbox.path("robots.db-wal"), sandbox.path("log")).unwrap();
            sandbox.fails("export log --format=csv", &own_file("log"));
            let database = "list --database=sqlite://robots.db-wal";
            sandbox.reports(database, 1, &["it belongs to the database '"]);
        }
        assert_eq!(sandbox.count("robots.db"), 3);
    }
}

#[test]
fn hard_link_to_the_catalogue_is_not_exported_to() {
    let sandbox = Sandbox::with_three_robots();
    fs::hard_link(sandbox.path("robots.db"), sandbox.path("link.csv")).unwrap();
    let before = sandbox.files();
    sandbox.fails("export link.csv", &own_file("link.csv"));
    assert!(sandbox.files() == before);
}

#[test]
fn output_redirected_to_the_catalogue_is_rejected() {
    let sandbox = Sandbox::with_three_robots();
    let before = sandbox.files();
    for arguments in ["export", "list", "export /dev/stdout"] {
        let output = File::options().append(true).open(sandbox.path("robots.db"));
        let mut command = sandbox.command(arguments);
        let output = command.stdout(output.unwrap()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        contains(&stderr, &["error: standard output belongs to"]);
        assert!(sandbox.files() == before);
    }
}
