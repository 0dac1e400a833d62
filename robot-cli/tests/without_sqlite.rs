//! Tests of a build without the feature `sqlite`.

#![cfg(not(feature = "sqlite"))]
#![expect(clippy::unwrap_used, reason = "a test whose setup fails has to fail")]

use std::process::Command;

#[test]
fn build_without_sqlite_has_the_catalogue_in_memory() {
    let run = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_robot-cli"));
        let command = command.args(arguments.split(' '));
        let output = command.env_remove("DATABASE_URL").output().unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let [stdout, stderr] = run("list");
    assert!(stderr.contains("--features sqlite"), "{stderr}");
    assert_eq!(stdout, "");
    let add = "--database memory: add R2-D2 --type droid --year 1977 --format csv";
    assert_eq!(run(add), ["id,name,type,year\n1,R2-D2,droid,1977\n", ""]);
}
