//! Tests of `export`.

use std::{fmt::Write as _, fs};

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
    let ndjson = "{\"id\":\"2\",\"name\":\"Bender\",\"type\":\"mechanical\",\"year\":2996}\n";
    sandbox.prints("export --containing ende", ndjson);
    sandbox.prints("export - --containing=ende", ndjson);
    for format in ["csv", "json", "ndjson"] {
        let list = sandbox.stdout(&["list", "--format", format]);
        sandbox.prints(&["export", "--format", format], &list);
    }
}

#[test]
fn export_writes_fields_in_given_order() {
    let sandbox = Sandbox::with_three_robots();
    for (format, expected) in [
        ("csv", "year,name\n2996,Bender\n0,HAL 9000\n1977,R2-D2\n"),
        (
            "json",
            "[\n{\"year\":2996,\"name\":\"Bender\"},\n{\"year\":0,\"name\":\"HAL 9000\"},\n\
             {\"year\":1977,\"name\":\"R2-D2\"}\n]\n",
        ),
    ] {
        sandbox.prints(
            &["export", "--fields=year,name", "--format", format],
            expected,
        );
    }
}

#[test]
fn export_of_missing_catalogue_fails() {
    let sandbox = Sandbox::new();
    sandbox.write("good.csv", "previous content");
    let stderr = sandbox.stderr("export good.csv --database sqlite://typo.db", 1);
    assert!(stderr.contains("typo.db"), "{stderr}");
    assert_eq!(files(&sandbox), ["good.csv"]);
    assert_eq!(sandbox.read("good.csv"), "previous content");
}

#[test]
fn export_replaces_existing_file() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.write("robots.csv", "previous content");
    sandbox.prints("export robots.csv", "Exported 3 robots to robots.csv.\n");
    assert_eq!(
        sandbox.read("robots.csv"),
        "id,name,type,year\n2,Bender,mechanical,2996\n3,HAL 9000,virtual,0\n1,R2-D2,droid,1977\n"
    );
    assert_eq!(files(&sandbox), ["robots.csv"]);
}

#[test]
fn failed_export_keeps_existing_file() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "robots.db",
        "this is no database, and long enough to be read as if it were one",
    );
    sandbox.write("robots.csv", "previous content");
    let _ = sandbox.run("export robots.csv").code(1).stdout("");
    assert_eq!(sandbox.read("robots.csv"), "previous content");
    assert_eq!(files(&sandbox), ["robots.csv"]);
}

#[test]
fn export_to_invalid_path_fails() {
    let sandbox = Sandbox::with_three_robots();
    let unchanged = "no file was changed. Free disk space or choose another path, and run the \
                     command again\n";
    fs::create_dir(sandbox.path().join("directory.csv")).unwrap();
    sandbox.fails(
        "export directory.csv",
        &format!("error: cannot write 'directory.csv': is a directory; {unchanged}"),
    );
    let stderr = sandbox.stderr("export missing/robots.csv", 1);
    assert!(
        stderr.starts_with("error: cannot write 'missing/robots.csv': No such file"),
        "{stderr}"
    );
    assert!(stderr.ends_with(unchanged), "{stderr}");
}

#[cfg(unix)]
#[test]
fn export_keeps_symlink_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let sandbox = Sandbox::with_three_robots();
    sandbox.write("real.csv", "previous content");
    let real = sandbox.path().join("real.csv");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real.csv", sandbox.path().join("link.csv")).unwrap();
    let _ = sandbox.run("export link.csv").success();
    assert!(sandbox.read("real.csv").starts_with("id,name"));
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(
        fs::symlink_metadata(sandbox.path().join("link.csv"))
            .unwrap()
            .is_symlink()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn export_writes_directly_to_device() {
    let sandbox = Sandbox::with_three_robots();
    sandbox.prints(
        "export /dev/null --format=csv",
        "Exported 3 robots to /dev/null.\n",
    );
    let stderr = sandbox.stderr("export /dev/full --format=csv", 1);
    assert!(stderr.contains("No space left on device"), "{stderr}");
    assert!(stderr.contains("the output may be incomplete"), "{stderr}");
}

#[cfg(unix)]
#[test]
fn export_creates_the_target_of_a_broken_link() {
    let sandbox = Sandbox::with_three_robots();
    std::os::unix::fs::symlink("real.csv", sandbox.path().join("link.csv")).unwrap();
    let _ = sandbox.run("export link.csv").success();
    assert_eq!(files(&sandbox), ["link.csv", "real.csv"]);
    assert!(sandbox.read("real.csv").starts_with("id,name"));
}

#[cfg(target_os = "linux")]
#[test]
fn export_to_a_pipe_is_read_at_its_other_end() {
    let sandbox = Sandbox::with_three_robots();
    let pipe = sandbox.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reader = std::thread::spawn(move || fs::read_to_string(pipe).unwrap());
    sandbox.prints("export pipe.csv", "Exported 3 robots to pipe.csv.\n");
    assert_eq!(reader.join().unwrap().lines().count(), 4);
    let printed = sandbox.stdout("export --format=csv");
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        sandbox.prints(&["export", output, "--format=csv"], &printed);
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
fn exported_names_are_imported_unchanged() {
    let names = [
        " x ",
        "\"",
        "a,b",
        "a\nb",
        "\r\n",
        "\u{1}\u{1b}[31m",
        "\u{feff}",
        "=1+1",
        "🤖",
        "e\u{301}",
        "-",
        "\\",
    ];
    let sandbox = Sandbox::new();
    sandbox.add(names.map(|name| Draft::new(name, "virtual", 7)));
    let listed = |database: &str| {
        let arguments = ["export", "--fields=name,type,year", "--database", database];
        sandbox.stdout(&arguments)
    };
    for file in ["a.csv", "a.json", "a.ndjson"] {
        let database = format!("sqlite://{file}.db");
        let _ = sandbox.run(&["export", file]).success();
        sandbox.prints(
            &["import", file, "--database", &database],
            "Added 12 robots.\n",
        );
        assert!(listed(&database) == listed("sqlite://robots.db"), "{file}");
    }
}

#[test]
fn export_for_spreadsheets_marks_formulas() {
    let names = ["=1+1", "+", "-1", "@A", "\tx", "\rx", "'=1", "<&>", "R2-D2"];
    let sandbox = Sandbox::new();
    sandbox.add(names.map(|name| Draft::new(name, "virtual", 7)));
    let export = ["export", "--format=csv", "--fields=name"];
    sandbox.prints(
        &export,
        "name\n\tx\n\"\rx\"\n'=1\n+\n-1\n<&>\n=1+1\n@A\nR2-D2\n",
    );
    let marked = "name\n'\tx\n\"'\rx\"\n'=1\n'+\n'-1\n<&>\n'=1+1\n'@A\nR2-D2\n";
    sandbox.prints(&[&export[..], &["--spreadsheet"]].concat(), marked);
    for arguments in [
        &["export", "--spreadsheet"][..],
        &["export", "robots.json", "--spreadsheet"],
    ] {
        sandbox.is_usage_error(arguments, "--spreadsheet is only for CSV");
    }
}

#[test]
fn export_equals_import_for_100_000_robots() {
    let sandbox = Sandbox::new();
    let mut file = "name,type,year\n".to_owned();
    for number in 0..100_000 {
        let kind = ["droid", "mechanical", "virtual"][number % 3];
        writeln!(file, "\"RX, \"\"{number:06}\"\"\",{kind},{number}").unwrap();
    }
    sandbox.write("robots.csv", &file);
    sandbox.prints("import robots.csv", "Added 100,000 robots.\n");
    let mut found = "id,name,type,year\n".to_owned();
    for number in 42_420..42_430 {
        let id = number + 1;
        let kind = ["droid", "mechanical", "virtual"][number % 3];
        writeln!(found, "{id},\"RX, \"\"{number:06}\"\"\",{kind},{number}").unwrap();
    }
    sandbox.prints(&["search", "\"04242", "--format=csv"], &found);
    sandbox.prints(
        "export again.csv --fields=name,type,year",
        "Exported 100,000 robots to again.csv.\n",
    );
    assert!(sandbox.read("again.csv") == file);
}
