//! The pages of the manual.

use std::{fs, path::Path, process::Command};

use crate::sandbox::Sandbox;

const PAGES: [&str; 14] = [
    "robot-cli",
    "robot-cli-add",
    "robot-cli-backup",
    "robot-cli-completions",
    "robot-cli-copy",
    "robot-cli-delete",
    "robot-cli-export",
    "robot-cli-get",
    "robot-cli-import",
    "robot-cli-list",
    "robot-cli-manual",
    "robot-cli-search",
    "robot-cli-token-new",
    "robot-cli-update",
];

fn write_pages(sandbox: &Sandbox) {
    let outcome = sandbox
        .run(&["manual", "share/man/man1"])
        .success()
        .stderr("");
    let said = String::from_utf8_lossy(&outcome.get_output().stdout);
    assert!(
        said.ends_with("read the first with: man -l share/man/man1/robot-cli.1\n"),
        "{said}"
    );
}

/// What groff has to say about a page, and what it makes of it.
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
fn every_command_has_a_page() {
    let sandbox = Sandbox::new();
    write_pages(&sandbox);
    for page in PAGES {
        let text =
            fs::read_to_string(sandbox.path().join(format!("share/man/man1/{page}.1"))).unwrap();
        for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(
                text.contains(&format!("\n.SH {heading}\n")),
                "{page}: {heading}"
            );
        }
        assert!(!text.contains("secret"), "{page}");
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn the_page_of_the_program_is_printed_where_no_folder_is_named() {
    let sandbox = Sandbox::new();
    write_pages(&sandbox);
    let page = fs::read_to_string(sandbox.path().join("share/man/man1/robot-cli.1")).unwrap();
    sandbox.prints(&["manual"], &page);
    for part in [
        ".SH EXAMPLES\n.nf\n",
        ".SH \"EXIT STATUS\"\n.nf\n",
        ".SH ENVIRONMENT\n.nf\n",
        "robot\\-cli\\-add(1)",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_pages_are_read_without_a_warning() {
    let sandbox = Sandbox::new();
    write_pages(&sandbox);
    for page in fs::read_dir(sandbox.path().join("share/man/man1")).unwrap() {
        let page = page.unwrap().path();
        let (warnings, text) = formatted(&page);
        assert_eq!(warnings, "", "{}", page.display());
        assert!(text.contains("EXAMPLE"), "{}: {text}", page.display());
    }
    let (_, text) = formatted(&sandbox.path().join("share/man/man1/robot-cli-delete.1"));
    assert!(
        text.contains("\n         robot-cli delete --yes 1 2 3\n"),
        "{text}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_told_with_a_remedy() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path().join("taken"), "").unwrap();
    let outcome = sandbox.run(&["manual", "taken"]).code(1).stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(
        said.starts_with("error: the manual could not be written to taken: "),
        "{said}"
    );
    assert!(
        said.ends_with("; name a folder that you may write to\n"),
        "{said}"
    );
}
