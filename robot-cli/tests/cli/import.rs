//! Tests of `import`.

use std::fs;

use assert_cmd::Command;

use crate::sandbox::Sandbox;

const CSV: &str = "name,type,year\nR2-D2,droid,1977\n\"HAL, 9000\",virtual,1968\n";

/// The catalogue after an import of [`CSV`].
const ROWS: &str = "2,\"HAL, 9000\",virtual,1968\n1,R2-D2,droid,1977\n";

/// Lines 2 and 4 have two errors each.
const WITH_BAD_LINES: &str = "\
name,type,year\n\
Bender,bending,-1\n\
Marvin,droid,1978\n\
R2-D2,droid,soon,and more\n\
C-3PO,droid,1977\n";

const TYPE: &str = "Value of field 'type' must be part of list: droid, mechanical, virtual";

const FIELDS: &str = "The record has a different number of fields (4) than the header (3); put a \
                      field with commas, quotes or line breaks into quotes";

const TO_SKIP: &str = "To skip the records whose robots exist, add --on-conflict skip\n";

impl Sandbox {
    fn with_file(name: &str, content: impl AsRef<[u8]>) -> Self {
        let sandbox = Self::with_no_robots();
        sandbox.write(name, content);
        sandbox
    }
}

#[test]
fn format_comes_from_extension_or_option() {
    let object = |name| format!("{{\"name\":\"{name}\",\"type\":\"droid\",\"year\":1}}");
    let (a, b) = (object("a"), object("b"));
    let csv = "type,year,name\ndroid,1,a\ndroid,1,b\n".to_owned();
    for (arguments, content) in [
        ("robots.csv", csv.clone()),
        ("robots.json", format!("[{a},\n{b}]")),
        ("robots.ndjson", format!("{a}\n\n{b}\n")),
        ("robots.JSONL", format!("{a}\r\n{b}")),
        ("robots.json --format=csv", csv.clone()),
    ] {
        let file = arguments.split(' ').next().unwrap();
        let sandbox = Sandbox::with_file(file, content);
        sandbox.prints(&format!("import {arguments}"), "Added 2 robots.\n");
        sandbox.has("1,a,droid,1\n2,b,droid,1\n");
    }
    for file in ["-", "/dev/stdin"] {
        let sandbox = Sandbox::with_no_robots();
        let command = sandbox.command(["import", file, "--format", "ndjson"]);
        let content = format!("{a}\n{b}");
        let outcome = Command::from_std(command).write_stdin(content).assert();
        let _ = outcome.success().stdout("Added 2 robots.\n").stderr("");
        sandbox.has("1,a,droid,1\n2,b,droid,1\n");
    }
}

/// A file of a stranger: columns and values that the catalogue does not have.
const EXHIBITS: &str = "\u{feff}Name;Type;Year;Accession No;Maker\r\n\
    Vase;vase;c. 1890;0017;ACME\r\n\
    Vase;coin;-450;0018;\r\n";

#[test]
fn columns_are_stored_or_left_out_knowingly() {
    let sandbox = Sandbox::new();
    let ndjson = "{\"name\":\"a\",\"type\":\"droid\",\"year\":1,\"Maker\":\"x\"}\n";
    sandbox.write("exhibits.csv", EXHIBITS);
    sandbox.write("robots.ndjson", ndjson);
    sandbox.write("edited.csv", "id,name\n1,b\n");
    let advice = |names, list| {
        format!(
            "error: the file has columns that the catalogue does not have: {names}; add them with \
             --define, map them with --map, or leave them out with --ignore '{list}'\n"
        )
    };
    for (arguments, stderr) in [
        (
            "import exhibits.csv",
            advice("Accession No, Maker", "\"Accession No\",Maker"),
        ),
        ("import robots.ndjson", advice("Maker", "Maker")),
        (
            "import edited.csv",
            "error: the file has ids; add --match id to change the robots with these ids, --define to keep \
             them in a field, or --ignore id to leave them out\n"
                .to_owned(),
        ),
    ] {
        sandbox.ends(arguments, 1, "", &stderr);
        assert!(!sandbox.path().join("robots.db").exists());
    }
    sandbox.is_usage_error(
        "import exhibits.csv --map Maker=makr",
        "'makr' is none of the fields",
    );
    sandbox.is_usage_error("import exhibits.csv --define", "Add --yes");
    let note = "Columns that are left out: Maker.\n";
    sandbox.ends(
        "import robots.ndjson --ignore-unknown",
        0,
        "Added 1 robot.\n",
        note,
    );
    sandbox.prints(
        "import edited.csv --match id --dry-run",
        "Would add 0 robots, change 1; nothing was stored.\n",
    );
    sandbox.prints(
        "import edited.csv --match id",
        "Added 0 robots, changed 1.\n",
    );
    sandbox.has("1,b,droid,1\n");
}

#[test]
fn file_of_a_stranger_is_imported_with_the_fields_that_it_needs() {
    let sandbox = Sandbox::new();
    sandbox.write("exhibits.csv", EXHIBITS);
    let proposal = "\
COLUMN        FIELD         VALUES               REASON
Name          name          1 to 255 characters  names are repeated, such as 'Vase'
Type          type          coin or vase         the file has other types
Year          year_text     1 to 255 characters  new: a text because of 'c. 1890' (line 2); 'c. 1890' (line 2) is not a year
Accession No  accession_no  1 to 255 characters  new: a text because of '0017' (line 2)
Maker         maker         1 to 255 characters  new: a text because of 'ACME' (line 2)
              year                               left out: no record has a value
";
    let summary = "Would add 2 robots; nothing was stored.\n";
    sandbox.ends(
        "import exhibits.csv --define --dry-run",
        0,
        summary,
        proposal,
    );
    sandbox.ends(
        "import exhibits.csv --define --yes",
        0,
        "Added 2 robots.\n",
        proposal,
    );
    let rows = "1,Vase,vase,c. 1890,0017,ACME\n2,Vase,coin,-450,0018,\n";
    let header = "id,name,type,year_text,accession_no,maker\n";
    sandbox.prints("list --format csv", &[header, rows].concat());
    // Standard input is read twice, too.
    let command = sandbox.command(["import", "-", "--format", "csv", "--define"]);
    let outcome = Command::from_std(command).write_stdin(EXHIBITS).assert();
    let _ = outcome.code(1).stdout("").stderr(
        "-:2: The same robot is there already\n\
         -:3: The same robot is there already\n\
         2 of 2 records are there already; to leave them as they are, add --on-conflict skip, or to add \
         them again, --add-equal\n\
         2 of 2 records fail; nothing was stored. Fix them, or add --keep-going to import the others.\n",
    );
}

#[test]
fn unknown_format_or_field_is_usage_error() {
    let sandbox = Sandbox::new();
    sandbox.write("robots", CSV);
    for (arguments, stderr) in [
        ("import robots", "add --format csv, json or ndjson"),
        ("import -", "the format of standard input is unknown"),
        ("import robots --format=table", "a table cannot be imported"),
        ("export robots", "add --format csv, json or ndjson"),
        ("export --format=table", "a table cannot be imported"),
        (
            "import robots --on-conflict=merge",
            "[possible values: fail, skip, replace]",
        ),
        ("import robots.csv --atomic --keep-going", "cannot be used"),
    ] {
        sandbox.is_usage_error(arguments, stderr);
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn unreadable_file_creates_no_catalogue() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path().join("directory.csv")).unwrap();
    for (file, reason) in [
        ("robots.csv", "No such file or directory (os error 2)"),
        ("directory.csv", "is a directory"),
    ] {
        let message = format!(
            "error: cannot read '{file}': {reason}; check that it is a file that you may read\n"
        );
        sandbox.fails(&format!("import {file}"), &message);
    }
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn nothing_is_stored_if_records_fail() {
    let object = |year| format!("{{\"name\":\"{year}\",\"type\":\"droid\",\"year\":{year}}}");
    let refused = |failed, records| {
        format!(
            "{failed} of {records} records fail; nothing was stored. Fix them, or add --keep-going to import \
             the others.\n"
        )
    };
    for (file, content, stderr) in [
        (
            "a.csv",
            format!("{CSV}x,toaster,-1\ny,droid,1\n"),
            format!(
                "a.csv:4: {TYPE}\na.csv:4: The year cannot be less than zero\n{}",
                refused(1, 4)
            ),
        ),
        (
            "a.csv",
            format!("{CSV}R2-D2,droid,1\n"),
            format!(
                "a.csv:4: The robot name must be unique\n{TO_SKIP}{}",
                refused(1, 3)
            ),
        ),
        (
            "a.json",
            format!("[{},{},{}]", object(1), object(2), object(-3)),
            format!(
                "a.json: record 3: The year cannot be less than zero\n{}",
                refused(1, 3)
            ),
        ),
        (
            "a.json",
            format!("[\n{},\n{{\"name\" \"b\"}}\n]\n", object(1)),
            "error: a.json: line 3: The JSON is not valid here; nothing after it can be read\n"
                .to_owned(),
        ),
    ] {
        let sandbox = Sandbox::with_file(file, content);
        sandbox.ends(&format!("import {file}"), 1, "", &stderr);
        sandbox.has("");
    }
}

#[test]
fn records_that_fail_are_reported() {
    let taken = format!("{CSV}R2-D2,droid,1\n");
    let bad =
        format!("a.csv:2: {TYPE}\na.csv:2: The year cannot be less than zero\na.csv:4: {FIELDS}\n");
    let is_taken = "a.csv:4: The robot name must be unique\n";
    for (content, options, summary, stderr, rows) in [
        (
            WITH_BAD_LINES,
            "--keep-going",
            "Added 2 robots, failed 2.\n",
            bad.clone(),
            "2,C-3PO,droid,1977\n1,Marvin,droid,1978\n",
        ),
        (
            &taken,
            "--keep-going",
            "Added 2 robots, failed 1.\n",
            format!("{TO_SKIP}{is_taken}"),
            ROWS,
        ),
        (
            &taken,
            "--dry-run",
            "Would add 2 robots, fail 1; nothing was stored.\n",
            format!("{is_taken}{TO_SKIP}"),
            "",
        ),
        (
            WITH_BAD_LINES,
            "--atomic",
            "",
            format!(
                "{bad}2 of 4 records fail; nothing was stored. Fix them, or add --keep-going to import the \
                 others.\n"
            ),
            "",
        ),
    ] {
        let sandbox = Sandbox::with_file("a.csv", content);
        sandbox.ends(&format!("import a.csv {options}"), 1, summary, &stderr);
        sandbox.has(rows);
    }
    let sandbox = Sandbox::with_file("a.csv", CSV);
    sandbox.prints("import a.csv", "Added 2 robots.\n");
    let replace = "import a.csv --atomic --on-conflict=replace";
    sandbox.prints(replace, "Added 0 robots, left unchanged 2.\n");
    sandbox.write("a.csv", CSV.replace("1977", "1978"));
    sandbox.prints(replace, "Added 0 robots, changed 1, left unchanged 1.\n");
}

#[test]
fn dry_run_creates_no_catalogue() {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", CSV);
    let summary = "Would add 2 robots; nothing was stored.\n";
    sandbox.prints("import a.csv --dry-run", summary);
    assert!(!sandbox.path().join("robots.db").exists());
}

#[test]
fn control_characters_of_records_are_escaped() {
    let sandbox = Sandbox::with_file("a.ndjson", "{\"\\u001b[31m\":1,\"\\u001b[31m\":2}\n");
    let outcome = sandbox.run("import a.ndjson --keep-going").code(1);
    let stderr = String::from_utf8_lossy(&outcome.get_output().stderr);
    assert!(stderr.contains(r"'\u{1b}[31m'"), "{stderr}");
}
