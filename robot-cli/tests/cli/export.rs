//! Tests of `export`.

use std::{
    fs::{self, File},
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
    thread,
};

use robot_core::Draft;

use crate::sandbox::Sandbox;

#[test]
fn export_to_stdout_is_ndjson_by_default() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r#"
        export --containing ende -> 0 {"id":"2","name":"Bender","type":"mechanical","year":2996,"revision":2}
        export - --containing=ende -> 0 {"id":"2","name":"Bender","type":"mechanical","year":2996,"revision":2}
        export --fields=year,name --format csv -> 0 year,name\n1977,R2-D2\n2996,Bender\n0,HAL 9000
        export --fields=year,name --format json --type=droid -> 0 [\n{"year":1977,"name":"R2-D2"}\n]"#,
    );
    for format in ["csv", "json", "ndjson"] {
        let list = sandbox.stdout(&format!("list --format {format} --sort id --fields *"));
        sandbox.prints(&format!("export --format {format}"), &list);
    }
}

#[test]
fn failed_export_keeps_existing_file() {
    let sandbox = Sandbox::new();
    let text = "this is no database, and long enough to be read as if it were one";
    sandbox.write("robots.db", text);
    sandbox.write("a.csv", "previous content");
    for database in ["robots.db", "typo.db"] {
        let export = format!("export a.csv --database sqlite://{database}");
        sandbox.reports(&export, 1, &[database]);
        assert_eq!(sandbox.read("a.csv"), "previous content");
        assert_eq!(sandbox.other_names(), ["a.csv"]);
    }
}

#[test]
fn export_to_invalid_path_fails() {
    let sandbox = Sandbox::with_three_robots();
    fs::create_dir(sandbox.path("directory.csv")).unwrap();
    sandbox.examples(
        r"
        export directory.csv -> 1 ! error: cannot write 'directory.csv': is a directory; no file was changed. Choose another path or free disk space, and run the command again
        export missing/a.csv -> 1 ! error: cannot write 'missing/a.csv': No such file or directory (os error 2); no file was changed. *",
    );
}

#[test]
fn export_replaces_the_target_of_a_link() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.write("real.csv", "previous content");
    let real = sandbox.path("real.csv");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.csv", sandbox.path("link.csv")).unwrap();
    let rows = "id,name,type,year,revision\n1,R2-D2,droid,1977,1\n2,Bender,mechanical,2996,2\n3,HAL 9000,virtual,0,3\n";
    sandbox.prints("export link.csv", "Exported 3 robots to link.csv.\n");
    assert_eq!(sandbox.read("real.csv"), rows);
    let mode = fs::metadata(&real).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    // The target may be missing.
    fs::remove_file(&real).unwrap();
    sandbox.prints("export link.csv", "Exported 3 robots to link.csv.\n");
    assert_eq!(sandbox.read("real.csv"), rows);
    assert_eq!(sandbox.other_names(), ["link.csv", "real.csv"]);
    assert!(sandbox.path("link.csv").is_symlink());
}

#[test]
fn export_writes_directly_to_pipes_and_devices() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.examples(
        r"
        export /dev/null --format=csv -> 0 Exported 3 robots to /dev/null.
        export /dev/full --format=csv -> 1 ! *No space left on device*the output may be incomplete*",
    );
    let pipe = sandbox.path("pipe.csv");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let reader = thread::spawn(move || fs::read_to_string(pipe).unwrap());
    sandbox.prints("export pipe.csv", "Exported 3 robots to pipe.csv.\n");
    assert_eq!(reader.join().unwrap().lines().count(), 4);
    let printed = sandbox.stdout("export --format=csv");
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        sandbox.prints(&format!("export {output} --format=csv"), &printed);
    }
    // A file, into which the shell has printed before.
    sandbox.write("out.csv", "before\n");
    let file = File::options().append(true).open(sandbox.path("out.csv"));
    let mut command = sandbox.command("export /dev/stdout --format=csv");
    assert!(command.stdout(file.unwrap()).status().unwrap().success());
    assert_eq!(sandbox.read("out.csv"), format!("before\n{printed}"));
}

#[test]
fn export_for_spreadsheets_marks_formulas() {
    let sandbox = Sandbox::new();
    sandbox.add(["=1+1", "R2-D2"].map(|name| Draft::new(name, "virtual", 7)));
    let examples = r"
        export --format=csv --fields=name -> 0 name\n=1+1\nR2-D2
        export --format=csv --fields=name --spreadsheet -> 0 BOMname\n'=1+1\nR2-D2
        export --spreadsheet -> 2 ! *--spreadsheet is only for CSV*
        export a.json --spreadsheet -> 2 ! *--spreadsheet is only for CSV*";
    sandbox.examples(examples.replace("BOM", "\u{feff}"));
}
