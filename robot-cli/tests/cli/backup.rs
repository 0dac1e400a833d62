//! Tests of `backup`.

use crate::sandbox::Sandbox;

#[test]
fn backup_opens_as_a_catalogue() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r"
        backup copy.db -> 0 Backed up 3 robots to 'copy.db' (*).
        search 9 --format=csv --database=sqlite://copy.db -> 0 id,name,type,year\n3,HAL 9000,virtual,0
        list --count --database=sqlite://copy.db -> 0 3",
    );
    let bytes = sandbox.files()["copy.db"].len();
    let json = format!("{{\"bytes\":{bytes},\"file\":\"c.db\",\"robots\":3}}\n");
    sandbox.prints("backup c.db --format json", &json);
    let csv = format!("file,robots,bytes\n\"a,b.db\",3,{bytes}\n");
    sandbox.prints("backup a,b.db --format csv", &csv);
}

#[test]
fn backup_replaces_existing_file_only_with_force() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.write("copy.db", "precious");
    let message = "error: 'copy.db' exists; name another file, or replace it with --force\n";
    sandbox.fails("backup copy.db", message);
    assert_eq!(sandbox.read("copy.db"), "precious");
    sandbox.examples(
        r"
        backup --force copy.db -> 0 Backed up 3 robots to 'copy.db' (*).
        list --count --database=sqlite://copy.db -> 0 3",
    );
}

#[test]
fn backup_of_missing_file_or_memory_fails() {
    let sandbox = Sandbox::new();
    sandbox.examples(
        r"
        backup copy.db -> 1 ! *'robots.db'*
        backup copy.db --database=memory: -> 1 ! *SQLite*",
    );
    assert!(sandbox.files().is_empty());
}
