//! Tests of a build without the feature `sqlite`.

#![cfg(not(feature = "sqlite"))]

use assert_cmd::Command;

fn run(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_robot-cli"))
        .args(arguments)
        .env_remove("DATABASE_URL")
        .assert()
}

#[test]
fn default_catalogue_fails_without_sqlite() {
    let outcome = run(&["list"]).code(1).stdout("");
    let stderr = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(stderr.contains("--features sqlite"), "{stderr}");
}

#[test]
fn catalogue_in_memory_works_without_sqlite() {
    let arguments = "--database memory: add R2-D2 --type droid --year 1977 --format csv";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let _ = run(&arguments)
        .success()
        .stdout("id,name,type,year\n1,R2-D2,droid,1977\n")
        .stderr("");
}
