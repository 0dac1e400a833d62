//! Tests of commands that must not touch the catalogue's own files, by any name.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
};

use crate::sandbox::{Sandbox, contains};

/// A sandbox with links to the files of the catalogue, and the names of all of them.
fn with_links() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::with_three_robots();
    let path = |name: &str| sandbox.path().join(name);
    symlink(".", path("folder")).unwrap();
    fs::create_dir(path("sub")).unwrap();
    let mut names = Vec::new();
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let file = format!("robots.db{suffix}");
        let link = format!("link{suffix}.csv");
        symlink(&file, path(&link)).unwrap();
        let absolute = path(&file).display().to_string();
        names.extend([format!("./{file}"), format!("folder/{file}")]);
        names.extend([format!("sub/../{file}"), file, link, absolute]);
    }
    (sandbox, names)
}

fn own_file(name: &str) -> String {
    format!("error: '{name}' belongs to the catalogue itself; choose another file\n")
}

#[test]
fn files_of_the_catalogue_are_neither_written_nor_imported() {
    let (sandbox, names) = with_links();
    // Closed, so that only the database exists, and in use.
    for is_open in [false, true] {
        let catalogue = is_open.then(|| sandbox.open("robots.db"));
        for name in &names {
            sandbox.fails(&["export", name, "--format=csv"], &own_file(name));
            sandbox.fails(&["import", name, "--format=csv"], &own_file(name));
            sandbox.fails(&["backup", "--force", name], &own_file(name));
        }
        if catalogue.is_some() {
            let path = |name| sandbox.path().join(name);
            fs::hard_link(path("robots.db-wal"), path("log")).unwrap();
            sandbox.fails("export log --format=csv", &own_file("log"));
        }
        let stdout = sandbox.stdout("list --format=csv");
        assert_eq!(stdout.lines().count(), 4, "{stdout}");
    }
}

#[test]
fn hard_link_to_the_catalogue_is_not_exported_to() {
    let sandbox = Sandbox::with_three_robots();
    let path = |name| sandbox.path().join(name);
    let (file, link) = (path("robots.db"), path("link.csv"));
    fs::hard_link(&file, &link).unwrap();
    let before = fs::read(&file).unwrap();
    sandbox.fails("export link.csv", &own_file("link.csv"));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(fs::read(&link).unwrap(), before);
}

#[test]
fn log_of_a_catalogue_is_not_copied_to() {
    let sandbox = Sandbox::with_three_robots();
    let _open = sandbox.open("robots.db");
    for to in [
        "robots.db-wal",
        "./robots.db",
        "robots.db-shm",
        "robots.db-journal",
    ] {
        let message =
            "error: --from and --to are the same catalogue; choose another one for --to\n";
        let copy = format!("copy --from=sqlite://robots.db --to sqlite://{to}");
        sandbox.fails(&copy, message);
    }
    let message = "it belongs to the database '";
    sandbox.reports("list --database=sqlite://robots.db-wal", 1, &[message]);
}

#[test]
fn output_redirected_to_the_catalogue_is_rejected() {
    let sandbox = Sandbox::with_three_robots();
    let file = sandbox.path().join("robots.db");
    let before = fs::read(&file).unwrap();
    for arguments in ["export", "list", "export /dev/stdout"] {
        let mut command = sandbox.command(arguments.split(' '));
        command.stdout(File::options().append(true).open(&file).unwrap());
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        contains(&stderr, &["error: standard output belongs to"]);
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}
