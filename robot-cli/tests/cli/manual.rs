//! Tests of `manual`.

use std::process::Command;

use crate::sandbox::{Sandbox, contains, start, wait};

const WRITE: &str = "manual share/man/man1 -> 0 *: man -l share/man/man1/robot-cli.1";

#[test]
fn manual_without_directory_prints_main_page() {
    let sandbox = Sandbox::new();
    sandbox.examples(WRITE);
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

#[test]
fn groff_formats_pages_without_warnings() {
    let sandbox = Sandbox::new();
    sandbox.examples(WRITE);
    for page in sandbox.names("share/man/man1") {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-Kutf8", "-ww", "-P-c", "-P-b", "-P-u"]);
        groff.arg(sandbox.path("share/man/man1").join(&page));
        let (text, warnings, _) = wait(start(&mut groff));
        assert_eq!(warnings, "", "{page}");
        contains(&text, &["Example"]);
        if page == "robot-cli-delete.1" {
            contains(&text, &["\n         robot-cli delete --yes 1 2 3\n"]);
        }
    }
}

#[test]
fn manual_to_unwritable_path_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("taken", "");
    sandbox.examples("manual taken -> 1 ! error: cannot write the manual to 'taken': *; choose a directory that you may write to");
}
