//! Tests of `import`.

use std::fs;

use crate::sandbox::{Sandbox, run_with_input};

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
        ("robots.json --format=csv", csv),
    ] {
        let file = arguments.split(' ').next().unwrap();
        let sandbox = Sandbox::with_file(file, content);
        sandbox.prints(&format!("import {arguments}"), "Added 2 robots.\n");
        sandbox.has("1,a,droid,1\n2,b,droid,1\n");
    }
    for file in ["-", "/dev/stdin"] {
        let sandbox = Sandbox::with_no_robots();
        let mut command = sandbox.command(["import", file, "--format", "ndjson"]);
        let outcome = run_with_input(&mut command, &format!("{a}\n{b}"));
        let expected = ("Added 2 robots.\n".to_owned(), String::new(), Some(0));
        assert_eq!(outcome, expected);
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
    sandbox.examples(
        r#"
        import exhibits.csv -> 1 ! error: the file has columns that the catalogue does not have: Accession No, Maker; add them with --define, map them with --map, or leave them out with --ignore '"Accession No",Maker'
        import robots.ndjson -> 1 ! *: Maker; *or leave them out with --ignore 'Maker'
        import edited.csv -> 1 ! error: the file has ids; add --match id to change the robots with these ids, --define to keep them in a field, or --ignore id to leave them out
        import exhibits.csv --map Maker=makr -> 2 ! *'makr' is none of the fields*
        import exhibits.csv --define -> 2 ! *Add --yes*"#,
    );
    assert!(!sandbox.path("robots.db").exists());
    sandbox.examples(
        r"
        import robots.ndjson --ignore-unknown -> 0 Added 1 robot. ! Columns that are left out: Maker.
        import edited.csv --match id --dry-run -> 0 Would add 0 robots, change 1; nothing was stored. ! *name *a *b*
        import edited.csv --match id -> 0 Added 0 robots, changed 1.",
    );
    sandbox.has("1,b,droid,1\n");
}

#[test]
fn import_with_define_adds_the_fields_that_it_needs() {
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
    let dry_run = "import exhibits.csv --define --dry-run";
    sandbox.ends(dry_run, 0, summary, proposal);
    let import = "import exhibits.csv --define --yes";
    sandbox.ends(import, 0, "Added 2 robots.\n", proposal);
    let rows = "1,Vase,vase,c. 1890,0017,ACME\n2,Vase,coin,-450,0018,\n";
    let header = "id,name,type,year_text,accession_no,maker\n";
    sandbox.prints("list --format csv", &[header, rows].concat());
    // Standard input is read twice, too.
    let mut command = sandbox.command("import - --format csv --define");
    let stderr = "-:2: The same robot is there already\n\
         -:3: The same robot is there already\n\
         2 of 2 records are there already; to leave them as they are, add --on-conflict skip, or to add \
         them again, --add-equal\n\
         2 of 2 records fail; nothing was stored. Fix them, or add --keep-going to import the others.\n";
    let expected = (String::new(), stderr.to_owned(), Some(1));
    assert_eq!(run_with_input(&mut command, EXHIBITS), expected);
}

#[test]
fn unusable_file_or_option_creates_no_catalogue() {
    let sandbox = Sandbox::new();
    sandbox.write("robots", CSV);
    sandbox.write("a.csv", CSV);
    fs::create_dir(sandbox.path("directory.csv")).unwrap();
    sandbox.examples(
        r"
        import robots -> 2 ! *add --format csv, json or ndjson*
        import - -> 2 ! *the format of standard input is unknown*
        import robots --format=table -> 2 ! *a table cannot be imported*
        export robots -> 2 ! *add --format csv, json or ndjson*
        export --format=table -> 2 ! *a table cannot be imported*
        import robots --on-conflict=merge -> 2 ! *[possible values: fail, skip, replace]*
        import a.csv --atomic --keep-going -> 2 ! *cannot be used*
        import robots.csv -> 1 ! error: cannot read 'robots.csv': No such file or directory (os error 2); check that it is a file that you may read
        import directory.csv -> 1 ! error: cannot read 'directory.csv': is a directory; check that it is a file that you may read
        import a.csv --dry-run -> 0 Would add 2 robots; nothing was stored.",
    );
    assert!(!sandbox.path("robots.db").exists());
}

#[test]
fn records_that_fail_are_reported() {
    let taken = format!("{CSV}R2-D2,droid,1\n");
    let object = |year| format!("{{\"name\":\"{year}\",\"type\":\"droid\",\"year\":{year}}}");
    for (file, content, rows, examples) in [
        (
            "a.csv",
            format!("{CSV}x,toaster,-1\ny,droid,1\n"),
            "",
            r"a.csv -> 1 ! a.csv:4: TYPE\na.csv:4: YEAR\n1 of 4 records fail; REFUSED",
        ),
        (
            "a.csv",
            taken.clone(),
            ROWS,
            r"
            a.csv -> 1 ! a.csv:4: NAME\nSKIP\n1 of 3 records fail; REFUSED
            a.csv --dry-run -> 1 Would add 2 robots, fail 1; nothing was stored. ! a.csv:4: NAME\nSKIP
            a.csv --keep-going -> 1 Added 2 robots, failed 1. ! SKIP\na.csv:4: NAME",
        ),
        (
            "a.json",
            format!("[{},{},{}]", object(1), object(2), object(-3)),
            "",
            r"a.json -> 1 ! a.json: record 3: YEAR\n1 of 3 records fail; REFUSED",
        ),
        (
            "a.json",
            format!("[\n{},\n{{\"name\" \"b\"}}\n]\n", object(1)),
            "",
            "a.json -> 1 ! error: a.json: line 3: The JSON is not valid here; nothing after it can be read",
        ),
        (
            "a.csv",
            WITH_BAD_LINES.to_owned(),
            "2,C-3PO,droid,1977\n1,Marvin,droid,1978\n",
            r"
            a.csv --atomic -> 1 ! a.csv:2: TYPE\na.csv:2: YEAR\na.csv:4: FIELDS\n2 of 4 records fail; REFUSED
            a.csv --keep-going -> 1 Added 2 robots, failed 2. ! a.csv:2: TYPE\na.csv:2: YEAR\na.csv:4: FIELDS",
        ),
        (
            "a.ndjson",
            "{\"\\u001b[31m\":1,\"\\u001b[31m\":2}\n".to_owned(),
            "",
            r"a.ndjson --keep-going -> 1 *! *'\u{1b}[31m'*",
        ),
    ] {
        let sandbox = Sandbox::with_file(file, content);
        let mut examples = examples.replace(&format!("{file} "), &format!("import {file} "));
        for (word, text) in [
            (
                "TYPE",
                "Value of field 'type' must be part of list: droid, mechanical, virtual",
            ),
            ("YEAR", "The year cannot be less than zero"),
            ("NAME", "The robot name must be unique"),
            (
                "FIELDS",
                "The record has a different number of fields (4) than the header (3); put a field with *",
            ),
            (
                "SKIP",
                "To skip the records whose robots exist, add --on-conflict skip",
            ),
            (
                "REFUSED",
                "nothing was stored. Fix them, or add --keep-going*to import the others.",
            ),
        ] {
            examples = examples.replace(word, text);
        }
        sandbox.examples(examples);
        sandbox.has(rows);
    }
}

#[test]
fn replacing_import_reports_unchanged_robots() {
    let sandbox = Sandbox::with_file("a.csv", CSV);
    sandbox.write("b.csv", CSV.replace("1977", "1978"));
    sandbox.examples(
        r"
        import a.csv -> 0 Added 2 robots.
        import a.csv --atomic --on-conflict=replace -> 0 Added 0 robots, left unchanged 2.
        import b.csv --atomic --on-conflict=replace -> 0 Added 0 robots, changed 1, left unchanged 1.",
    );
}
