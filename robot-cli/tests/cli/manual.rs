//! Tests of `manual`.

use std::{fs, path::Path, process::Command};

use crate::sandbox::{Sandbox, contains};

fn write_pages(sandbox: &Sandbox) {
    let stdout = sandbox.stdout("manual share/man/man1");
    assert!(
        stdout.ends_with(": man -l share/man/man1/robot-cli.1\n"),
        "{stdout}"
    );
}

/// Standard error and standard output of groff for a page.
fn formatted(page: &Path) -> (String, String) {
    let output = Command::new("groff")
        .args(["-man", "-Tutf8", "-Kutf8", "-ww", "-P-c", "-P-b", "-P-u"])
        .arg(page)
        .output()
        .unwrap();
    (
        String::from_utf8(output.stderr).unwrap(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

#[test]
fn manual_without_directory_prints_main_page() {
    let sandbox = Sandbox::new();
    write_pages(&sandbox);
    let page = sandbox.read("share/man/man1/robot-cli.1");
    sandbox.prints("manual", &page);
    let parts = [
        "\nExamples:\n  robot\\-cli ",
        "\nExit status:\n",
        "\nEnvironment:\n",
        "robot\\-cli\\-add(1)",
    ];
    contains(&page, &parts);
}

#[cfg(target_os = "linux")]
#[test]
fn groff_formats_pages_without_warnings() {
    let sandbox = Sandbox::new();
    write_pages(&sandbox);
    for page in fs::read_dir(sandbox.path().join("share/man/man1")).unwrap() {
        let page = page.unwrap().path();
        let (warnings, text) = formatted(&page);
        assert_eq!(warnings, "", "{}", page.display());
        assert!(text.contains("Example"), "{}: {text}", page.display());
    }
    let (_, text) = formatted(&sandbox.path().join("share/man/man1/robot-cli-delete.1"));
    contains(&text, &["\n         robot-cli delete --yes 1 2 3\n"]);
}

#[test]
fn manual_to_unwritable_path_fails() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("taken"), "").unwrap();
    let stderr = sandbox.reports(
        "manual taken",
        1,
        &["error: cannot write the manual to 'taken': "],
    );
    assert!(
        stderr.ends_with("; choose a directory that you may write to\n"),
        "{stderr}"
    );
}
