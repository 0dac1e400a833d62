//! Tests of `export`.

use std::fs;

use robot_core::Draft;

use crate::sandbox::Sandbox;

/// The names of all files except those of the catalogue.
fn files(sandbox: &Sandbox) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with("robots.db"))
        .collect();
    names.sort();
    names
}

#[test]
fn export_to_stdout_is_ndjson_by_default() {
    let sandbox = Sandbox::with_three_robots();
    let ndjson =
        "{\"id\":\"2\",\"name\":\"Bender\",\"type\":\"mechanical\",\"year\":2996,\"revision\":1}\n";
    sandbox.prints("export --containing ende", ndjson);
    sandbox.prints("export - --containing=ende", ndjson);
    for format in ["csv", "json", "ndjson"] {
        let list = sandbox.stdout(&format!("list --format {format} --sort id --fields *"));
        sandbox.prints(&format!("export --format {format}"), &list);
    }
    sandbox.prints(
        "export --fields=year,name --format csv",
        "year,name\n1977,R2-D2\n2996,Bender\n0,HAL 9000\n",
    );
    sandbox.prints(
        "export --fields=year,name --format json --type=droid",
        "[\n{\"year\":1977,\"name\":\"R2-D2\"}\n]\n",
    );
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
        assert_eq!(files(&sandbox), ["a.csv"]);
    }
}

#[test]
fn export_to_invalid_path_fails() {
    let sandbox = Sandbox::with_three_robots();
    fs::create_dir(sandbox.path().join("directory.csv")).unwrap();
    for (file, reason) in [
        ("directory.csv", "is a directory"),
        ("missing/a.csv", "No such file or directory (os error 2)"),
    ] {
        let message = format!(
            "error: cannot write '{file}': {reason}; no file was changed. Choose another path or \
             free disk space, and run the command again\n"
        );
        sandbox.fails(&format!("export {file}"), &message);
    }
}

#[cfg(unix)]
#[test]
fn export_replaces_the_target_of_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let sandbox = Sandbox::with_three_robots();
    sandbox.write("real.csv", "previous content");
    let path = |name: &str| sandbox.path().join(name);
    fs::set_permissions(path("real.csv"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.csv", path("link.csv")).unwrap();
    let rows = "id,name,type,year,revision\n1,R2-D2,droid,1977,1\n2,Bender,mechanical,2996,1\n3,HAL 9000,virtual,0,1\n";
    sandbox.prints("export link.csv", "Exported 3 robots to link.csv.\n");
    assert_eq!(sandbox.read("real.csv"), rows);
    let mode = fs::metadata(path("real.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    // The target may be missing.
    fs::remove_file(path("real.csv")).unwrap();
    sandbox.prints("export link.csv", "Exported 3 robots to link.csv.\n");
    assert_eq!(sandbox.read("real.csv"), rows);
    assert_eq!(files(&sandbox), ["link.csv", "real.csv"]);
    assert!(path("link.csv").is_symlink());
}

#[cfg(target_os = "linux")]
#[test]
fn export_writes_directly_to_pipes_and_devices() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        "export /dev/null --format=csv",
        "Exported 3 robots to /dev/null.\n",
    );
    let incomplete = ["No space left on device", "the output may be incomplete"];
    sandbox.reports("export /dev/full --format=csv", 1, &incomplete);
    let pipe = sandbox.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    sandbox.prints("export pipe.csv", "Exported 3 robots to pipe.csv.\n");
    assert_eq!(reader.join().unwrap().lines().count(), 4);
    let printed = sandbox.stdout("export --format=csv");
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        sandbox.prints(&format!("export {output} --format=csv"), &printed);
    }
    // A file, into which the shell has printed before.
    let file = sandbox.path().join("out.csv");
    fs::write(&file, "before\n").unwrap();
    let mut command = sandbox.command(["export", "/dev/stdout", "--format=csv"]);
    command.stdout(fs::File::options().append(true).open(&file).unwrap());
    assert!(command.status().unwrap().success());
    assert_eq!(sandbox.read("out.csv"), format!("before\n{printed}"));
}

#[test]
fn export_for_spreadsheets_marks_formulas() {
    let sandbox = Sandbox::new();
    sandbox.add(["=1+1", "R2-D2"].map(|name| Draft::new(name, "virtual", 7)));
    let export = "export --format=csv --fields=name";
    sandbox.prints(export, "name\n=1+1\nR2-D2\n");
    let marked = "\u{feff}name\n'=1+1\nR2-D2\n";
    sandbox.prints(&format!("{export} --spreadsheet"), marked);
    for arguments in ["export --spreadsheet", "export a.json --spreadsheet"] {
        sandbox.is_usage_error(arguments, "--spreadsheet is only for CSV");
    }
}
