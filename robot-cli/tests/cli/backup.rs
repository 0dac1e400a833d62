//! The catalogue's file is copied.

use crate::sandbox::Sandbox;

#[test]
fn a_backup_is_a_catalogue() {
    let sandbox = Sandbox::with_three_robots();
    let outcome = sandbox.run(&["backup", "copy.db"]).success().stderr("");
    let printed = String::from_utf8_lossy(&outcome.get_output().stdout);
    assert!(
        printed.starts_with("Backed up 3 robots to 'copy.db' (") && printed.ends_with(").\n"),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let list = |database: &str| {
        let outcome = sandbox.run(&["list", "--format=ndjson", "--database", database]);
        outcome.success().get_output().stdout.clone()
    };
    assert_eq!(list("sqlite://copy.db"), list("sqlite://robots.db"));
    sandbox.prints(
        &[
            "search",
            "L 9",
            "--format=csv",
            "--database=sqlite://copy.db",
        ],
        "id,name,type,year\n3,HAL 9000,virtual,0\n",
    );
}

#[test]
fn programs_get_the_numbers() {
    let sandbox = Sandbox::with_three_robots();
    let bytes = |name: &str| std::fs::metadata(sandbox.path().join(name)).unwrap().len();
    let print = |name: &str, format: &str| {
        let outcome = sandbox.run(&["backup", name, "--format", format]).success();
        String::from_utf8_lossy(&outcome.get_output().stdout).into_owned()
    };
    let csv = print("a,b.db", "csv");
    assert_eq!(
        csv,
        format!("file,robots,bytes\n\"a,b.db\",3,{}\n", bytes("a,b.db"))
    );
    let json = print("c.db", "json");
    assert_eq!(
        json,
        format!(
            "{{\"bytes\":{},\"file\":\"c.db\",\"robots\":3}}\n",
            bytes("c.db")
        )
    );
}

#[test]
fn a_file_that_is_there_is_replaced_by_force_alone() {
    let sandbox = Sandbox::with_three_robots();
    let file = sandbox.path().join("copy.db");
    std::fs::write(&file, "precious").unwrap();
    sandbox.fails(
        &["backup", "copy.db"],
        "error: 'copy.db' exists; name another file, or replace it with --force\n",
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let _ = sandbox.run(&["backup", "--force", "copy.db"]).success();
    sandbox.prints(
        &["get", "1", "--format=csv", "--database=sqlite://copy.db"],
        "id,name,type,year\n1,R2-D2,droid,1977\n",
    );
    sandbox.fails(
        &["backup", "--force", "robots.db"],
        "error: 'robots.db' belongs to the catalogue itself; name another file\n",
    );
}

#[test]
fn what_cannot_be_backed_up_is_told_with_a_remedy() {
    let sandbox = Sandbox::new();
    sandbox.fails(
        &["backup", "copy.db"],
        "error: there is no database 'robots.db'; check its path\n",
    );
    sandbox.fails(
        &["backup", "copy.db", "--database=memory:"],
        "error: only SQLite files are backed up here, and memory: is none; it is gone with its \
         program, which alone can copy it\n",
    );
    assert_eq!(sandbox.path().read_dir().unwrap().count(), 0);
}
