//! Tests of own fields: the catalogue of a museum.

use crate::sandbox::{Sandbox, contains};
#[cfg(target_os = "linux")]
use crate::terminal::Terminal;

const MUSEUM: &str = r#"{"title": "Exhibits", "properties": {
    "name": {"unique": false},
    "type": {"enum": ["painting", "vase", "coin"]},
    "year": {"minimum": -5000},
    "accession": {"type": "string", "pattern": "^[0-9]{4}\\.[0-9]+$", "unique": true},
    "maker": {"type": "string", "maxLength": 200, "index": true, "search": true},
    "weight": {"type": "number", "minimum": 0},
    "on_display": {"type": "boolean"},
    "condition": {"enum": ["good", "fair", "poor"]}},
    "required": ["name", "type", "accession"]}"#;

const HEADER: &str = "id,name,type,year,accession,maker,weight,on_display,condition\n";
const AMPHORA: &str = "2,Amphora,vase,-540,2020.2,Exekias,5.5,false,fair\n";
const OWL: &str = "1,Owl,coin,,2020.1,Athens,17,true,good\n";

/// A museum with two exhibits.
fn museum() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("museum.json", MUSEUM);
    sandbox.prints(
        "fields set museum.json",
        "The catalogue has 8 fields now.\n",
    );
    for robot in [
        "Owl --type coin --set accession=2020.1 --set maker=Athens --set weight=17 \
         --set on_display=true --set condition=good",
        "Amphora --set type=vase --year -540 --set accession=2020.2 --set maker=Exekias \
         --set weight=5.5 --set on_display=false --set condition=fair",
    ] {
        let robot = robot.split_whitespace().collect::<Vec<_>>().join(" ");
        sandbox.stdout(&format!("add {robot}"));
    }
    sandbox
}

#[test]
fn options_define_the_same_as_a_document() {
    let (written, typed) = (museum(), Sandbox::new());
    let json = typed.stdout("fields add accession --type string --format json");
    assert!(json.ends_with("\"accession\"],\"revision\":2}\n"), "{json}");
    for change in [
        r"change accession --pattern ^[0-9]{4}\.[0-9]+$ --unique --required",
        "add maker --max-length 200 --index --type string --search",
        "add weight --type number --minimum -5",
        "change weight --type integer --maximum 9",
        "change weight --type number --minimum 0",
        "add seen --type string --format date --format csv",
        "add on_display --type boolean",
        "add condition --choices good,bad",
        "change condition --choices good,fair,poor",
        "change name --unique=false",
        "change type --choices painting,vase,coin",
        "change year --minimum -5000 --required=false",
        "remove seen",
    ] {
        typed.stdout(&format!("fields {change}"));
    }
    let [written, typed] = [written, typed].map(|sandbox| sandbox.stdout("fields show"));
    assert_eq!(
        written,
        typed.replacen('{', "{\n  \"title\": \"Exhibits\",", 1)
    );
}

#[test]
fn fields_are_listed() {
    let sandbox = museum();
    let table = sandbox.stdout("fields");
    let rows = [
        "NAME        TYPE     TITLE       REQUIRED  UNIQUE  INDEX  SEARCH  LIMITS\n",
        "\nyear        integer  Year                          yes            an integer, -5000 or greater\n",
        "\nmaker       string   Maker                         yes    yes     1 to 200 characters\n",
    ];
    contains(&table, &rows);
    let row = "condition,enum,Condition,false,false,false,false,\"good, fair or poor\"\n";
    contains(&sandbox.stdout("fields --format csv"), &[row]);
    let last = sandbox.stdout("fields --format ndjson");
    let last: serde_json::Value = serde_json::from_str(last.lines().last().unwrap()).unwrap();
    assert_eq!(last["limits"], "good, fair or poor");
}

#[test]
fn own_values_are_shown_found_and_sorted() {
    let sandbox = museum();
    for (arguments, rows) in [
        ("list", [AMPHORA, OWL].concat()),
        (
            "list --where maker=Athens --where weight_from=3",
            OWL.to_owned(),
        ),
        (
            "list --where condition=good --where condition=poor",
            OWL.to_owned(),
        ),
        ("list --where year=", OWL.to_owned()),
        ("list --year-from -1000 --type vase", AMPHORA.to_owned()),
        ("list --sort=-weight --limit 1", OWL.to_owned()),
        ("search --words exek", AMPHORA.to_owned()),
        ("get 2", AMPHORA.to_owned()),
        ("list --where on_display=true", OWL.to_owned()),
    ] {
        sandbox.prints(
            &format!("{arguments} --format csv"),
            &format!("{HEADER}{rows}"),
        );
    }
    sandbox.prints(
        "list --fields * --where weight=17 --format ndjson",
        "{\"id\":\"1\",\"name\":\"Owl\",\"type\":\"coin\",\"accession\":\"2020.1\",\"maker\":\"Athens\",\
         \"weight\":17,\"on_display\":true,\"condition\":\"good\",\"revision\":1}\n",
    );
    sandbox.prints(
        "list --fields id,maker --where type=coin",
        "ID  MAKER\n 1  Athens\n",
    );
    sandbox.prints(
        "summary --by on_display",
        "ON_DISPLAY  COUNT\nfalse           1\ntrue            1\nall             2\n",
    );
    sandbox.prints(
        "summary --format csv",
        "type,decade,count\ncoin,,1\nvase,-540,1\n",
    );
    contains(
        &sandbox.stderr("list --words none", 0),
        &["No robot meets these conditions."],
    );
}

#[test]
fn update_sets_and_unsets_values() {
    let sandbox = museum();
    sandbox.prints(
        "update 1 --set weight= --set maker= --unset condition --set on_display=false --year 5 --format csv",
        &format!("{HEADER}1,Owl,coin,5,2020.1,,,false,\n"),
    );
    sandbox.fails(
        "update 1 --unset accession --unset type",
        "type is required\naccession is required\n",
    );
    sandbox.fails(
        "update 1 --set accession=2020.2 --set weight=-1 --set condition=bad",
        "The accession must be unique\nThe weight cannot be less than 0\n\
         Value of field 'condition' must be part of list: good, fair, poor\n",
    );
    let stale =
        "error: The robot 1 was changed since it was read; read it again before you change it\n";
    sandbox.fails("update 1 --set weight=1 --if-revision 1", stale);
}

#[test]
fn unknown_names_have_a_hint() {
    let sandbox = museum();
    let names = "name, type, year, accession, maker, weight, on_display, condition";
    for arguments in [
        "update 1 --set makr=x",
        "update 1 --unset makr",
        "add x --set makr=x",
    ] {
        sandbox.reports(
            arguments,
            2,
            &[&format!(
                "'makr' is none of the fields {names}; did you mean maker?\n"
            )],
        );
    }
    sandbox.fails(
        "fields remove makr",
        &format!("error: 'makr' is none of the fields {names}; did you mean maker?\n"),
    );
    for (arguments, part) in [
        (
            "list --where makr=x",
            "weight_from, weight_to, on_display, condition; did you mean maker?\n",
        ),
        ("list --where colour=x", "on_display, condition\n"),
        ("list --where maker", "write it as FIELD=VALUE"),
        (
            "list --where condition=bad",
            "condition must be one of: good, fair, poor",
        ),
        ("list --sort=-wieght", "did you mean weight?\n"),
        (
            "list --fields id,makr",
            "which is not a field; the fields are id,name,",
        ),
        ("list --fields id,makr", "; did you mean maker?\n"),
        (
            "summary --by conditio",
            "type, on_display, condition; did you mean condition?\n",
        ),
        ("update 1 --set weight=heavy", "weight must be a number"),
        (
            "update 1 --set weight=1 --set weight=2",
            "weight is given twice",
        ),
        (
            "list --year-from x",
            "year_from must be an integer from -5000 to",
        ),
    ] {
        sandbox.is_usage_error(arguments, part);
    }
}

#[test]
fn wrong_definitions_are_refused() {
    let sandbox = museum();
    let before = sandbox.stdout("fields show");
    sandbox.write(
        "wrong.json",
        r#"{"properties": {"maker": {"type": "text"}}}"#,
    );
    for (arguments, message) in [
        (
            "set wrong.json",
            "wrong.json: properties.maker.type: must be string, integer, number or boolean",
        ),
        ("set missing.json", "cannot read 'missing.json': "),
        ("set robots.db", "belongs to the catalogue itself"),
        (
            "add maker --type string",
            "change it with: robot-cli fields change maker\n",
        ),
        ("add a\",\"b --type string", "a name has 1 to 63"),
        ("add place", "properties.place: needs a type"),
        (
            "remove name",
            "Each robot needs a name, which cannot be removed.",
        ),
        (
            "remove condition",
            "2 robots (ids 1, 2) would lose the value; to drop the values, add --drop-values\n",
        ),
        ("change condition --type integer", "add --drop-values\n"),
    ] {
        let arguments = format!("fields {arguments}");
        sandbox.reports(&arguments, 1, &[message]);
    }
    assert_eq!(sandbox.stdout("fields show"), before);
    sandbox.prints(
        "fields remove condition --drop-values",
        "Removed the field condition.\n",
    );
    assert!(!sandbox.stdout("list --format json").contains("condition"));
}

#[test]
fn own_fields_move_with_their_catalogue() {
    let sandbox = museum();
    let exhibits = [HEADER, AMPHORA, OWL].concat();
    for file in ["exhibits.csv", "exhibits.json"] {
        sandbox.prints(
            &format!("export {file}"),
            &format!("Exported 2 robots to {file}.\n"),
        );
        let other = Sandbox::new();
        other.write("museum.json", MUSEUM);
        other.stdout("fields set museum.json");
        other.write(file, sandbox.read(file));
        other.prints(&format!("import {file} --ignore id"), "Added 2 robots.\n");
        other.prints("list --format csv", &exhibits);
    }
    sandbox.write(
        "wrong.csv",
        "type,name,accession,weight\ncoin,A,2020.3,heavy\ncoin,A,2020.3,\ncoin,B,x,1\n",
    );
    let failed = "wrong.csv:2: weight must be a number\n\
                  wrong.csv:4: The accession must match the pattern ^[0-9]{4}\\.[0-9]+$\n";
    let summary = "Would add 1 robot, fail 2; nothing was stored.\n";
    sandbox.ends(
        "import wrong.csv --dry-run --keep-going",
        1,
        summary,
        failed,
    );

    sandbox.stdout("copy --from sqlite://robots.db --to sqlite://copy.db");
    sandbox.stdout("backup backup.db");
    sandbox.stdout("restore backup.db --database sqlite://restored.db");
    for file in ["copy.db", "restored.db"] {
        let database = format!("--database sqlite://{file}");
        sandbox.prints(&format!("list --format csv {database}"), &exhibits);
        contains(
            &sandbox.stdout(&format!("check {database}")),
            &["No problems found: 2 robots."],
        );
    }
    sandbox.stdout("fields add rooms --type integer --database sqlite://other.db");
    sandbox.reports(
        "copy --from sqlite://robots.db --to sqlite://other.db",
        1,
        &["the target has another definition than the source", "rooms"],
    );
    sandbox.stdout("fields --database sqlite://other.db");
}

#[test]
fn check_permits_robots_older_than_a_rule() {
    let sandbox = museum();
    sandbox.stdout("add Owl --type coin --set accession=2020.3");
    sandbox.stdout("fields change weight --maximum 6 --required");
    sandbox.stdout("fields change maker --type boolean --drop-values");
    sandbox.stdout("fields change type --choices painting,vase");
    contains(&sandbox.stdout("check"), &["rules: ok\nnames: ok\n"]);
}

#[test]
fn update_and_delete_take_conditions() {
    let sandbox = museum();
    sandbox.prints(
        "update --where maker=Exekias --set maker=Amasis --format csv",
        &[HEADER, &AMPHORA.replace("Exekias", "Amasis")].concat(),
    );
    sandbox.prints("delete --where maker=Athens", "Deleted 1 robot.\n");
    sandbox.prints(
        "update 2 --set maker=Exekias --format csv",
        &[HEADER, AMPHORA].concat(),
    );
    sandbox.prints("list --format csv", &[HEADER, AMPHORA].concat());
}

#[cfg(target_os = "linux")]
#[test]
fn tables_have_the_fields_that_fit_the_terminal() {
    let sandbox = museum();
    sandbox.stdout(&["update", "1", "--set", "maker=A mint in the city of Athens"]);
    for (columns, table) in [
        (
            200,
            "ID  NAME     TYPE  YEAR  ACCESSION  MAKER                         WEIGHT  ON_DISPLAY  CONDITION\n \
             2  Amphora  vase  -540  2020.2     Exekias                          5.5  false       fair     \n \
             1  Owl      coin        2020.1     A mint in the city of Athens      17  true        good     \n",
        ),
        (
            46,
            "ID  NAME     TYPE  YEAR  ACCESSION  MAKER\n \
             2  Amphora  vase  -540  2020.2     Exekias\n \
             1  Owl      coin        2020.1     A mint in…\n",
        ),
        (
            30,
            "ID  NAME     TYPE  YEAR\n \
             2  Amphora  vase  -540\n \
             1  Owl      coin\n",
        ),
    ] {
        let (shown, _) = Terminal::new(&sandbox)
            .columns(columns)
            .run("list --color never", "");
        let trimmed = |text: &str| {
            text.lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(trimmed(&shown), trimmed(table), "{columns}");
    }
}
