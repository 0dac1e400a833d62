//! Tests of `backup`.

use crate::sandbox::Sandbox;

#[test]
fn backup_opens_as_a_catalogue() {
    let sandbox = Sandbox::with_three_robots();
    let printed = sandbox.stdout("backup copy.db");
    assert!(
        printed.starts_with("Backed up 3 robots to 'copy.db' (") && printed.ends_with(").\n"),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 1, "{printed}");
    for arguments in ["list --format=ndjson", "search 9 --format=csv"] {
        let copied = sandbox.stdout(&format!("{arguments} --database=sqlite://copy.db"));
        sandbox.prints(arguments, &copied);
    }
    let bytes = |name: &str| std::fs::metadata(sandbox.path().join(name)).unwrap().len();
    let csv = sandbox.stdout("backup a,b.db --format csv");
    let expected = format!("file,robots,bytes\n\"a,b.db\",3,{}\n", bytes("a,b.db"));
    assert_eq!(csv, expected);
    let json = sandbox.stdout("backup c.db --format json");
    let bytes = bytes("c.db");
    let expected = format!("{{\"bytes\":{bytes},\"file\":\"c.db\",\"robots\":3}}\n");
    assert_eq!(json, expected);
}

#[test]
fn backup_replaces_existing_file_only_with_force() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.write("copy.db", "precious");
    sandbox.fails(
        "backup copy.db",
        "error: 'copy.db' exists; name another file, or replace it with --force\n",
    );
    assert_eq!(sandbox.read("copy.db"), "precious");
    let _ = sandbox.run("backup --force copy.db").success();
    sandbox.prints(
        "get 1 --format=csv --database=sqlite://copy.db",
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
    sandbox.reports("backup --force robots.db", 1, &["error: 'robots.db' "]);
}

#[test]
fn backup_of_missing_file_or_memory_fails() {
    let sandbox = Sandbox::new();
    sandbox.reports("backup copy.db", 1, &["'robots.db'"]);
    sandbox.reports("backup copy.db --database=memory:", 1, &["SQLite"]);
    assert!(sandbox.is_empty());
}
