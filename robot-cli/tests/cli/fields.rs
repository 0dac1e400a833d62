//! Tests of own fields: the catalogue of a museum.

use crate::{sandbox::Sandbox, terminal::run_on_terminal};

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
    sandbox.examples(
        r"
        fields set museum.json -> 0 The catalogue has 8 fields now.
        add Owl --type coin --set accession=2020.1 --set maker=Athens --set weight=17 --set on_display=true --set condition=good -> 0 *
        add Amphora --set type=vase --year -540 --set accession=2020.2 --set maker=Exekias --set weight=5.5 --set on_display=false --set condition=fair -> 0 *",
    );
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
    museum().examples(
        r#"
        fields -> 0 NAME        TYPE     TITLE       REQUIRED  UNIQUE  INDEX  SEARCH  LIMITS\n*\nyear        integer  Year                          yes            an integer, -5000 or greater\n*\nmaker       string   Maker                         yes    yes     1 to 200 characters\n*
        fields --format csv -> 0 name,type,*\ncondition,enum,Condition,false,false,false,false,"good, fair or poor"
        fields --format ndjson -> 0 *"limits":"good, fair or poor"}"#,
    );
}

#[test]
fn own_values_are_shown_found_and_sorted() {
    let sandbox = museum();
    for (arguments, rows) in [
        ("list", [AMPHORA, OWL].concat().as_str()),
        ("list --where maker=Athens --where weight_from=3", OWL),
        ("list --where condition=good --where condition=poor", OWL),
        ("list --where year=", OWL),
        ("list --year-from -1000 --type vase", AMPHORA),
        ("list --sort=-weight --limit 1", OWL),
        ("search --words exek", AMPHORA),
        ("get 2", AMPHORA),
        ("list --where on_display=true", OWL),
    ] {
        let arguments = format!("{arguments} --format csv");
        sandbox.prints(&arguments, &format!("{HEADER}{rows}"));
    }
    sandbox.examples(
        r#"
        list --fields * --where weight=17 --format ndjson -> 0 {"id":"1","name":"Owl","type":"coin","accession":"2020.1","maker":"Athens","weight":17,"on_display":true,"condition":"good","revision":1}
        list --fields id,maker --where type=coin -> 0 ID  MAKER\n 1  Athens
        summary --by on_display -> 0 ON_DISPLAY  COUNT\nfalse           1\ntrue            1\nall             2
        summary --by maker --limit 1 -> 0 MAKER   COUNT\nAthens      1\nothers      1\nall         2
        summary --by maker --limit 1 --format json -> 0 {"count":2,"groups":[{"maker":"Athens","count":1}],"others":{"count":1,"values":1}}
        list --where maker_contains=THEN --where type_not=vase --fields id -> 0 ID\n 1
        summary --format csv -> 0 type,decade,count\ncoin,,1\nvase,-540,1
        list --words none -> 0 ! No robot meets these conditions.*"#,
    );
}

#[test]
fn update_and_delete_change_own_values() {
    let sandbox = museum();
    sandbox.examples(
        r"
        update 1 --set weight= --set maker= --unset condition --set on_display=false --year 5 --format csv -> 0 *\n1,Owl,coin,5,2020.1,,,false,
        update 1 --unset accession --unset type -> 1 ! type is required\naccession is required
        update 1 --set accession=2020.2 --set weight=-1 --set condition=bad -> 1 ! The accession must be unique\nThe weight cannot be less than 0\nValue of field 'condition' must be part of list: good, fair, poor
        update 1 --set weight=1 --if-revision 1 -> 1 ! error: The robot 1 was changed since it was read; read it again before you change it
        update --where maker=Exekias --set maker=Amasis --format csv -> 0 *\n2,Amphora,vase,-540,2020.2,Amasis,5.5,false,fair
        delete --where maker=Amasis -> 0 Deleted 1 robot.",
    );
}

#[test]
fn unknown_names_have_a_hint() {
    let sandbox = museum();
    let examples = r"
        update 1 --set makr=x -> 2 ! *'makr' is none of the fields NAMES; did you mean maker?\n*
        update 1 --unset makr -> 2 ! *'makr' is none of the fields NAMES; did you mean maker?\n*
        add x --set makr=x -> 2 ! *'makr' is none of the fields NAMES; did you mean maker?\n*
        fields remove makr -> 1 ! error: 'makr' is none of the fields NAMES; did you mean maker?
        list --where makr=x -> 2 ! *weight_from, weight_to, on_display, *; did you mean maker?\n*
        list --where colour=x -> 2 ! *on_display, *updated_by_contains\n*
        list --where maker -> 2 ! *write it as FIELD=VALUE*
        list --where condition=bad -> 2 ! *condition must be one of: good, fair, poor*
        list --sort=-wieght -> 2 ! *did you mean weight?\n*
        list --fields id,makr -> 2 ! *which is not a field; the fields are id,name,*; did you mean maker?\n*
        summary --by conditio -> 2 ! *NAMES; did you mean condition?\n*
        update 1 --set weight=heavy -> 2 ! *weight must be a number*
        update 1 --set weight=1 --set weight=2 -> 2 ! *weight is given twice*
        list --year-from x -> 2 ! *year_from must be an integer from -5000 to*";
    let names = "name, type, year, accession, maker, weight, on_display, condition";
    sandbox.examples(examples.replace("NAMES", names));
}

#[test]
fn wrong_definitions_are_refused() {
    let sandbox = museum();
    let before = sandbox.stdout("fields show");
    let wrong = r#"{"properties": {"maker": {"type": "text"}}}"#;
    sandbox.write("wrong.json", wrong);
    sandbox.examples(
        r#"
        fields set wrong.json -> 1 ! *wrong.json: properties.maker.type: must be string, integer, number or boolean*
        fields set missing.json -> 1 ! *cannot read 'missing.json': *
        fields set robots.db -> 1 ! *belongs to the catalogue itself*
        fields add maker --type string -> 1 ! *change it with: robot-cli fields change maker
        fields add a","b --type string -> 1 ! *a name has 1 to 63*
        fields add place -> 1 ! *properties.place: needs a type*
        fields remove name -> 1 ! *Each robot needs a name, which cannot be removed.
        fields remove condition -> 1 ! *2 robots (ids 1, 2) would lose the value; to drop the values, add --drop-values
        fields change condition --type integer -> 1 ! *add --drop-values"#,
    );
    assert_eq!(sandbox.stdout("fields show"), before);
    sandbox.examples(
        r"
        fields remove condition --drop-values -> 0 Removed the field condition.
        fields --format csv -> 0 *\non_display,*",
    );
    assert!(!sandbox.stdout("list --format json").contains("condition"));
}

#[test]
fn own_fields_move_with_their_catalogue() {
    let sandbox = museum();
    let exhibits = [HEADER, AMPHORA, OWL].concat();
    for file in ["exhibits.csv", "exhibits.json"] {
        let exported = format!("Exported 2 robots to {file}.\n");
        sandbox.prints(&format!("export {file}"), &exported);
        let other = Sandbox::new();
        other.write("museum.json", MUSEUM);
        other.stdout("fields set museum.json");
        other.write(file, sandbox.read(file));
        other.prints(&format!("import {file} --ignore id"), "Added 2 robots.\n");
        other.prints("list --format csv", &exhibits);
    }
    let wrong = "type,name,accession,weight\ncoin,A,2020.3,heavy\ncoin,A,2020.3,\ncoin,B,x,1\n";
    sandbox.write("wrong.csv", wrong);
    sandbox.examples(
        r"
        import wrong.csv --dry-run --keep-going -> 1 Would add 1 robot, fail 2; nothing was stored. ! wrong.csv:2: weight must be a number, not 'heavy'\nwrong.csv:4: The accession must match the pattern ^[0-9]{4}\.[0-9]+$
        copy --from sqlite://robots.db --to sqlite://copy.db -> 0 *
        backup backup.db -> 0 *
        restore backup.db --database sqlite://restored.db -> 0 *
        check --database sqlite://copy.db -> 0 *No problems found: 2 robots.
        check --database sqlite://restored.db -> 0 *No problems found: 2 robots.
        fields add rooms --type integer --database sqlite://other.db -> 0 *
        copy --from sqlite://robots.db --to sqlite://other.db -> 1 ! *the target has another definition than the source*rooms*
        fields --database sqlite://other.db -> 0 *",
    );
    for file in ["copy.db", "restored.db"] {
        let list = format!("list --format csv --database sqlite://{file}");
        sandbox.prints(&list, &exhibits);
    }
}

#[test]
fn check_permits_robots_older_than_a_rule() {
    museum().examples(
        r"
        add Owl --type coin --set accession=2020.3 -> 0 *
        fields change weight --maximum 6 --required -> 0 *
        fields change maker --type boolean --drop-values -> 0 *
        fields change type --choices painting,vase -> 0 *
        check -> 0 *rules: ok\nnames: ok\n*",
    );
}

#[test]
fn tables_have_the_fields_that_fit_the_terminal() {
    let sandbox = museum();
    sandbox.stdout(["update", "1", "--set", "maker=A mint in the city of Athens"]);
    for (columns, table) in [
        (
            200,
            "\
ID  NAME     TYPE  YEAR  ACCESSION  MAKER                         WEIGHT  ON_DISPLAY  CONDITION
 2  Amphora  vase  -540  2020.2     Exekias                          5.5  false       fair
 1  Owl      coin        2020.1     A mint in the city of Athens      17  true        good",
        ),
        (
            46,
            "\
ID  NAME     TYPE  YEAR  ACCESSION  MAKER
 2  Amphora  vase  -540  2020.2     Exekias
 1  Owl      coin        2020.1     A mint in…",
        ),
        (
            30,
            "ID  NAME     TYPE  YEAR\n 2  Amphora  vase  -540\n 1  Owl      coin",
        ),
    ] {
        let (shown, _) = run_on_terminal(&sandbox, (columns, ""), "list --color never", "");
        let lines: Vec<_> = shown.lines().map(str::trim_end).collect();
        assert_eq!(lines.join("\n"), table, "{columns}");
    }
}
