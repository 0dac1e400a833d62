//! Imports of own fields, and the noun of the owner in messages.

use robot_core::{CatalogueExt, Definition};
use serde_json::{Value as Json, json};

use crate::{MUSEUM, Service, lines};

#[test]
fn v1_uses_the_noun_of_the_owner_and_reports_each_record() {
    let service = Service::new(
        r#"{"noun": {"one": "toy", "many": "toys"}, "properties": {"type": {"enum": ["robot", "bear"]}, "year": false}}"#,
    );
    let rejected = "Value of field 'type' must be part of list: robot, bear";
    let (status, reply) = service.send(
        "POST",
        "/v1/robots/import?format=csv",
        "name,type\nA,bear\nB,robots\nA,robot\nC,robot\n",
    );
    let errors = json!([
        {"code": "invalid", "line": 3, "field": "type", "message": format!("line 3: {rejected}")},
        {"code": "taken", "line": 4, "field": "name", "message": "line 4: The toy name must be unique"},
        {"code": "note", "message": "To skip names that are taken, add on_conflict=skip to the query; to update their \
            toys, on_conflict=replace"},
    ]);
    assert_eq!((status, &reply["errors"]), (200, &errors));
    assert_eq!(reply["ids"], json!(["1", null, null, "2"]));
    let same = service.send(
        "POST",
        "/v1/robots/import?format=csv&match=name",
        "name,type\nC,bear\nA,bear\nD,bear\n",
    );
    assert_eq!(same.1["ids"], json!(["2", "1", "3"]));
    let unworded = "2 robots, no robot: 'my robot', a robot.";
    let worded = "2 toys, no toy: 'my robot', a toy.";
    for (one, many, properties, expected) in [
        ("toy robot", "toy robots", "{}", unworded),
        ("toy", "toys", "{}", worded),
        ("toy", "toys", r#"{"robot": {"type": "string"}}"#, unworded),
    ] {
        let document = format!(
            r#"{{"noun": {{"one": "{one}", "many": "{many}"}}, "properties": {properties}}}"#
        );
        let definition: Definition = document.parse().unwrap();
        assert_eq!(definition.worded(unworded), expected);
    }
    let table = r#"
        GET /v1/robots/9 -> No toy has the id 9
        POST /v1/robots {"name":"A","type":"robot"} -> The toy name must be unique
        POST /v1/robots {"name":"Z","type":"robots"} -> Value of field 'type' must be part of list: robot, bear
        GET /v1/robots?type=my+robot -> type must be one of: robot, bear
        PATCH /v1/robots {} -> This would change every toy; give at least one condition, such as id=1
        POST /api/robots {"name":"A","type":"bear"} -> The robot name must be unique"#;
    for (request, message) in lines(table) {
        let mut parts = request.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let (_, reply) = service.send(part(), part(), part());
        let messages = [&reply["detail"], &reply["messages"][0]];
        assert!(messages.contains(&&json!(message)), "{request}: {reply}");
    }
}

#[test]
fn imports_report_own_rules_by_line() {
    let service = Service::new(MUSEUM);
    service.add(&[r#"{"name":"x","type":"vase","accession":"2020.1"}"#]);
    let file = "name,type,accession,weight,on_display,colour\n\
                a,vase,2021.1,x,,\n\
                b,vase,2021.2,,maybe,\n\
                c,vase,2021.3,0.5,true,red\n\
                d,vase,2021.3,,,\n\
                e,vase,,9,,\n\
                f,pot,2020.1,,,\n\
                c,vase,2021.4,,,\n";
    let messages = [
        "line 2: weight must be a number, not 'x'",
        "line 3: on_display must be true or false, not 'maybe'",
        "line 5: The accession must be unique",
        "line 6: accession is required",
        "line 6: The weight cannot be greater than 1.5",
        "line 7: Value of field 'type' must be part of list: painting, vase, coin",
        "line 7: The accession must be unique",
    ];
    let mut ndjson = String::new();
    for line in file.lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let value = |text: &str| match text {
            "" => Json::Null,
            text => serde_json::from_str(text).unwrap_or(text.into()),
        };
        let robot = json!({"name": fields[0], "type": fields[1], "accession": fields[2],
            "weight": value(fields[3]), "on_display": value(fields[4]), "colour": fields[5]});
        ndjson.extend(["\n", &robot.to_string()]);
    }
    for (format, file) in [("csv", file), ("ndjson", &ndjson)] {
        for options in [
            "atomic=true",
            "dry_run=true",
            "atomic=true&dry_run=true",
            "on_conflict=skip&dry_run=true",
        ] {
            let target = format!("/api/robots/import?format={format}&{options}");
            let (_, found) = service.failure("POST", &target, file);
            let is_skip = options.contains("skip");
            let is_shown = |message: &&&str| !(is_skip && message.ends_with("must be unique"));
            let messages = messages.iter().filter(is_shown);
            assert!(found.iter().eq(messages), "{format} {options}: {found:?}");
            assert_eq!(service.catalogue.list().unwrap().len(), 1);
        }
    }
    let (status, reply) = service.send("POST", "/api/robots/import?format=csv", file);
    assert_eq!((status, &reply["messages"]), (200, &json!(messages)));
    assert_eq!(
        reply["data"],
        json!({"added": 2, "replaced": 0, "skipped": 0, "failed": 5, "ignored": ["colour"]})
    );
    let target = "/api/robots/import?format=csv&propose=true";
    let (_, reply) = service.send("POST", target, "id,name,type\n1,a,coin\n2,a,coin\n");
    assert_eq!(
        reply["data"]["columns"],
        json!({"id": "source_id", "name": "name", "type": "type"})
    );
    // Equal names are permitted, so that no record replaces another one.
    let target = "/api/robots/import?format=csv&atomic=true";
    let file = "name,type,accession\nc,coin,2022.1\nc,coin,2022.2\n";
    let replacing = format!("{target}&on_conflict=replace");
    assert_eq!(service.failure("POST", &replacing, file).0, 400);
    let (_, reply) = service.send("POST", target, file);
    assert_eq!(reply["data"]["added"], 2);
    for (query, count) in [("name=c", 4), ("name=c&type=coin", 2), ("weight=0.5", 1)] {
        let found = service.send("GET", &format!("/api/robots?{query}"), "").1;
        assert_eq!(found.as_array().unwrap().len(), count, "{query}");
    }
}

#[test]
fn imports_replace_robots_with_equal_names_and_values() {
    let service = Service::new(
        r#"{"properties":{"serial":{"type":"string","unique":true},"maker":{"type":"string"}}}"#,
    );
    for (options, rows, counts, serials) in [
        ("fail", "a=s b=t", [2, 0, 0, 0], "a=s b=t"),
        ("skip", "a=x c=s", [0, 0, 2, 0], "a=s b=t"),
        ("replace", "a=u c=s", [1, 1, 0, 0], "a=u b=t c=s"),
        ("replace", "a=t a=v", [0, 0, 0, 2], "a=u b=t c=s"),
        (
            "replace&atomic=true",
            "a=w b=t",
            [0, 1, 0, 0],
            "a=w b=t c=s",
        ),
    ] {
        let mut file = "name,type,year,serial\n".to_owned();
        for row in rows.split(' ') {
            file.extend([&*row.replace('=', ",droid,1,"), "\n"]);
        }
        let target = format!("/api/robots/import?format=csv&on_conflict={options}");
        let (_, reply) = service.send("POST", &target, file);
        let [added, replaced, skipped, failed] = counts;
        let expected =
            json!({"added": added, "replaced": replaced, "skipped": skipped, "failed": failed});
        assert!(
            reply["data"] == expected || added + replaced == 0 || reply["data"]["unchanged"] == 1,
            "{options} {rows}: {reply}"
        );
        let robots = service.catalogue.list().unwrap();
        let stored = robots
            .iter()
            .map(|robot| format!("{}={}", robot.name(), robot.value("serial").unwrap()));
        assert_eq!(stored.collect::<Vec<_>>().join(" "), serials);
    }
}
