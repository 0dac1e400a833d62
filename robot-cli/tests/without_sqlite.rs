//! A build without the feature `sqlite`: only catalogues in memory are left, and it says so.

#![cfg(not(feature = "sqlite"))]

use assert_cmd::Command;

fn run(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_robot-cli"))
        .args(arguments)
        .env_remove("DATABASE_URL")
        .assert()
}

#[test]
fn the_default_catalogue_is_told_to_be_left_out() {
    let outcome = run(&["list"]).code(1).stdout("");
    let said = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(
        said.starts_with("error: 'sqlite' stores were left out when this program was built"),
        "{said}"
    );
}

#[test]
fn a_catalogue_in_memory_works() {
    let arguments = "--database memory: add R2-D2 --type droid --year 1977 --format csv";
    let arguments: Vec<_> = arguments.split(' ').collect();
    let _ = run(&arguments)
        .success()
        .stdout("id,name,type,year\n1,R2-D2,droid,1977\n")
        .stderr("");
}
