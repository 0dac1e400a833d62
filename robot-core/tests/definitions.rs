//! Definitions and own fields through the HTTP contract: messages, limits, imports and the description
//! of the API. The conformance cases have what depends on the store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, time::Instant};

use robot_core::{Catalogue, CatalogueExt, Definition, MemoryCatalogue, http::Api};
use serde_json::{Value as Json, json};

/// A museum: limits of the built-in fields, and of others.
const MUSEUM: &str = r#"{"title": "Exhibits", "properties": {
    "name": {"unique": false},
    "type": {"enum": ["painting", "vase", "coin"]},
    "year": {"minimum": -5000, "maximum": 2100},
    "accession": {"type": "string", "pattern": "^[0-9]{4}\\.[0-9]+$", "unique": true},
    "maker": {"type": "string", "maxLength": 9, "title": "Maker", "search": true},
    "weight": {"type": "number", "minimum": 0, "maximum": 1.5},
    "rooms": {"type": "integer", "minimum": 1, "maximum": 99},
    "acquired": {"type": "string", "format": "date"},
    "on_display": {"type": "boolean"},
    "condition": {"enum": ["good", "fair", "poor"]},
    "page": {"type": "string", "format": "uri"},
    "story": {"type": "string", "maxLength": 501}},
    "required": ["name", "type", "accession"]}"#;

struct Service {
    catalogue: Arc<MemoryCatalogue>,
    api: Api,
}

impl Service {
    fn new(document: &str) -> Self {
        let catalogue = Arc::new(MemoryCatalogue::new());
        let api = Api::new(Arc::clone(&catalogue) as Arc<dyn Catalogue>);
        let service = Self { catalogue, api };
        assert_eq!(
            service.put_definition(document),
            (200, json!({"status": "OK"}))
        );
        service
    }

    fn send(&self, method: &str, target: &str, body: impl Into<Vec<u8>>) -> (u16, Json) {
        let request = http::Request::builder().method(method).uri(target);
        let request = request.header("content-type", "application/merge-patch+json");
        let response = self.api.handle(request.body(body.into()).unwrap());
        let status = response.status().as_u16();
        let body = response.into_body().into_bytes().unwrap();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    fn put_definition(&self, document: &str) -> (u16, Json) {
        self.send("PUT", "/api/definition", document)
    }

    /// The status and the messages of a request that fails.
    fn failure(&self, method: &str, target: &str, body: &str) -> (u16, Vec<String>) {
        let (status, mut body) = self.send(method, target, body);
        let messages = serde_json::from_value(body["messages"].take());
        (status, messages.unwrap_or_default())
    }
}

/// The lines of a table: what is before the arrow, and the texts after it, separated by `|`.
fn lines(table: &str) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let lines = table.lines().filter_map(|line| line.split_once(" -> "));
    lines.map(|(key, texts)| (key.trim(), texts.split('|').collect()))
}

#[test]
fn violations_have_the_order_of_contract_and_definition() {
    let table = r#"
        {"accession":""} -> accession is required
        {"accession":"20.1"} -> The accession must match the pattern ^[0-9]{4}\.[0-9]+$
        {"maker":"ten 🤖🤖🤖🤖🤖🤖"} -> The maker must be at most 9 characters long
        {"maker":"a\u0000"} -> The maker must not contain the NUL character (U+0000)
        {"weight":-0.1} -> The weight cannot be less than 0
        {"weight":2} -> The weight cannot be greater than 1.5
        {"rooms":0} -> The rooms cannot be less than 1
        {"rooms":100} -> The rooms cannot be greater than 99
        {"acquired":"2021-02-29"} -> The acquired must be a date, such as 2020-05-31
        {"condition":"bad"} -> Value of field 'condition' must be part of list: good, fair, poor
        {"page":"example.org"} -> The page must be a URI, such as https://example.org/
        {"year":-5001} -> The year cannot be less than -5000
        {"year":2101} -> The year cannot be greater than 2100
        {"rooms":0,"accession":"1","condition":"","year":-5001,"name":"","type":"droid"} -> Value of field 'type' must be part of list: painting, vase, coin|name is required|The year cannot be less than -5000|The accession must match the pattern ^[0-9]{4}\.[0-9]+$|The rooms cannot be less than 1
        {"accession":"2020.1","rooms":0} -> The accession must be unique|The rooms cannot be less than 1"#;
    let service = Service::new(MUSEUM);
    for accession in ["2020.1", "2020.2"] {
        let vase = json!({"name": "a", "type": "vase", "accession": accession}).to_string();
        assert_eq!(service.send("POST", "/api/robots", vase).0, 201);
    }
    for (members, messages) in lines(table) {
        let mut whole = json!({"name": "a", "type": "vase", "accession": "2021.1"});
        let members: Json = serde_json::from_str(members).unwrap();
        whole
            .as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        for (method, target, body) in [
            ("POST", "/api/robots", &whole),
            ("PUT", "/api/robots/2", &whole),
            ("PATCH", "/api/robots/2", &members),
        ] {
            let failure = service.failure(method, target, &body.to_string());
            let expected = (409, messages.iter().map(ToString::to_string).collect());
            assert_eq!(failure, expected, "{method} {body}");
        }
    }
    let failure = service.failure("POST", "/api/robots", "{}");
    let required = [
        "type is required",
        "name is required",
        "accession is required",
    ];
    assert_eq!(failure, (409, required.map(str::to_owned).into()));
    let patch = r#"{"accession":null,"name":null,"type":null,"year":null,"maker":null}"#;
    let (_, messages) = service.failure("PATCH", "/api/robots/2", patch);
    assert_eq!(
        messages,
        [
            "type is required",
            "name is required",
            "accession is required"
        ]
    );
    let limits = r#"{"accession":"2020.2","maker":"nine 🤖🤖🤖🤖","weight":1.5,"rooms":99,"year":null,"page":"a:b"}"#;
    assert_eq!(service.send("PATCH", "/api/robots/2", limits).0, 200);
}

#[test]
fn values_of_another_type_return_400() {
    let service = Service::new(MUSEUM);
    let wrong = r#"{"page":[],"condition":false,"on_display":"true","acquired":20200531,"rooms":"1","weight":"1","maker":{},"accession":1,"year":1.5,"name":null}"#;
    let expected = [
        "year must be an integer from -5000 to 2100",
        "accession must be a string",
        "maker must be a string",
        "weight must be a number",
        "rooms must be an integer from 1 to 99",
        "acquired must be a string",
        "on_display must be true or false",
        "condition must be a string",
        "page must be a string",
    ];
    for (method, target) in [
        ("POST", "/api/robots"),
        ("PUT", "/api/robots/1"),
        ("PATCH", "/api/robots/1"),
    ] {
        let failure = service.failure(method, target, wrong);
        assert_eq!(
            failure,
            (400, expected.map(str::to_owned).into()),
            "{method}"
        );
    }
    for (member, values) in [
        (
            "weight",
            &["1e400", "-1e400", "true", "[1]", "\"\"", "{}"][..],
        ),
        ("rooms", &["1.0", "1e1", "9223372036854775808", "\"\""]),
        ("on_display", &["0", "\"\"", "\"false\""]),
    ] {
        for value in values {
            let body = format!(r#"{{"{member}":{value}}}"#);
            assert_eq!(
                service.failure("POST", "/api/robots", &body).0,
                400,
                "{body}"
            );
        }
    }
}

#[test]
fn invalid_definitions_are_refused_with_the_place() {
    let table = r#"
         -> the definition: is not valid JSON (line 1, column 0)
        [] -> the definition: must be a JSON object
        {"title":" "} -> title: must have 1 to 100 characters
        {"title":1} -> title: must be a string
        {"fields":{}} -> fields: is not a keyword here; the keywords are title, noun, properties and required
        {"title":"a","title":"b"} -> title: is given twice; give it once
        {"properties":[]} -> properties: must be a JSON object
        {"properties":{"a":{"type":"string"},"a":{"type":"string"}}} -> properties.a: is given twice; give it once
        {"properties":{"a":1}} -> properties.a: must be a JSON object
        {"properties":{"a":{"type":"string","type":"string"}}} -> properties.a.type: is given twice; give it once
        {"properties":{"__proto__":{"type":"string"}}} -> properties.__proto__: a name has 1 to 63 of the characters a to z, 0 to 9 and _, the first one a letter
        {"properties":{"Maker":{"type":"string"}}} -> properties.Maker: a name has 1 to 63 of the characters a to z, 0 to 9 and _, the first one a letter
        {"properties":{"":{"type":"string"}}} -> properties.: a name has 1 to 63 of the characters a to z, 0 to 9 and _, the first one a letter
        {"properties":{"é":{"type":"string"}}} -> properties.é: a name has 1 to 63 of the characters a to z, 0 to 9 and _, the first one a letter
        {"properties":{"id":{"type":"string"}}} -> properties.id: this name has another meaning; choose another one
        {"properties":{"weight_to":{"type":"string"}}} -> properties.weight_to: this name has another meaning; choose another one
        {"properties":{"a":{}}} -> properties.a: needs a type (string, integer, number or boolean), or an enum
        {"properties":{"a":{"type":"array"}}} -> properties.a.type: must be string, integer, number or boolean; an enum has strings, and the built-in fields keep their types
        {"properties":{"a":{"type":["string","null"]}}} -> properties.a.type: must be string, integer, number or boolean
        {"properties":{"a":{"type":"integer","enum":["1"]}}} -> properties.a.type: must be string, integer, number or boolean; an enum has strings, and the built-in fields keep their types
        {"properties":{"a":{"enum":[1]}}} -> properties.a.enum: must be an array of strings
        {"properties":{"a":{"enum":["x",""]}}} -> properties.a.enum: choices have 1 to 255 characters
        {"properties":{"a":{"enum":["x","x"]}}} -> properties.a.enum: has 'x' twice
        {"properties":{"a":{"enum":["x"],"maxLength":3}}} -> properties.a.maxLength: does not fit the field, which permits type, title, description, enum, unique, index, search; leave it out
        {"properties":{"a":{"type":"string","maxLength":0}}} -> properties.a.maxLength: must be an integer from 1 to 10000
        {"properties":{"a":{"type":"string","maxLength":501,"index":true}}} -> properties.a: unique and index need a maxLength of at most 500
        {"properties":{"a":{"type":"string","format":"email"}}} -> properties.a.format: must be date or uri
        {"properties":{"a":{"type":"string","format":"date","pattern":"x"}}} -> properties.a.pattern: excludes format; give one of them
        {"properties":{"a":{"type":"string","minLength":1}}} -> properties.a.minLength: is not a keyword here; the keywords are type, enum, maxLength, pattern, format, minimum, maximum, unique, index, search, title and description
        {"properties":{"a":{"type":"integer","minimum":1.5}}} -> properties.a.minimum: must be an integer of 64 bits
        {"properties":{"a":{"type":"number","minimum":2,"maximum":1}}} -> properties.a.minimum: must not be greater than maximum
        {"properties":{"a":{"type":"boolean","search":true}}} -> properties.a.search: does not fit the field, which permits type, title, description, unique, index; leave it out
        {"properties":{"a":{"type":"boolean","unique":1}}} -> properties.a.unique: must be true or false
        {"properties":{"name":{"type":"integer"}}} -> properties.name.type: must be string, integer, number or boolean; an enum has strings, and the built-in fields keep their types
        {"properties":{"name":{"maxLength":20}}} -> properties.name.maxLength: must be 255, or missing
        {"properties":{"name":{"pattern":"a"}}} -> properties.name.pattern: does not fit the field, which permits type, title, description, maxLength, unique; leave it out
        {"properties":{"type":{"unique":true}}} -> properties.type.unique: does not fit the field, which permits type, title, description, enum; leave it out
        {"properties":{"year":{"minimum":5,"maximum":4}}} -> properties.year.minimum: must not be greater than maximum
        {"required":["type"]} -> required: must have name, which every robot needs
        {"required":["name","maker"]} -> required: has 'maker', which is not a field
        {"required":["name","name"]} -> required: has name twice; name it once"#;
    let service = Service::new(MUSEUM);
    let before = service.send("GET", "/api/definition", "");
    for (document, messages) in lines(table) {
        let failure = service.failure("PUT", "/api/definition", document);
        assert_eq!(
            failure,
            (400, messages.into_iter().map(str::to_owned).collect()),
            "{document}"
        );
    }
    let field = |name: &str, rest: &str| format!(r#"{{"properties":{{"{name}":{{{rest}}}}}}}"#);
    let many = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let fields = many(65, &|number| format!(r#""f{number}":{{"type":"boolean"}}"#));
    let choices = many(5000, &|number| format!("\"{number}\""));
    for document in [
        field("a", &format!("\"enum\":[{choices}]")),
        format!(r#"{{"properties":{{{fields}}}}}"#),
        field(&"a".repeat(64), r#""type":"string""#),
        field(&"a".repeat(49), r#""type":"string","unique":true"#),
        field("a", r#""type":"string","pattern":"(a{1000}){1000}""#),
        field(
            "a",
            &format!(r#""type":"string","pattern":"{}""#, "(".repeat(500)),
        ),
        field("a", r#""type":"string","pattern":"(?=a)""#),
        "[".repeat(60_000),
        format!("{{\"title\":{}", "[".repeat(60_000)),
        "\u{feff}{}".to_owned(),
        "{} {}".to_owned(),
    ] {
        let (status, messages) = service.failure("PUT", "/api/definition", &document);
        assert_eq!((status, messages.len()), (400, 1), "{document:.80}");
        assert!(messages[0].len() < 300, "{messages:?}");
    }
    let too_long = format!("{{}}{}", " ".repeat(65_535));
    assert_eq!(service.put_definition(&too_long).0, 413);
    assert_eq!(service.send("PUT", "/api/definition", [b'"', 0xff]).0, 400);
    assert_eq!(service.send("GET", "/api/definition", ""), before);
}

#[test]
fn patterns_take_linear_time() {
    let document = r#"{"properties":{"a":{"type":"string","maxLength":10000,"pattern":"^(a+)+(a|a)*(.*)*b$"}}}"#;
    let service = Service::new(document);
    let body = json!({"name": "a", "type": "droid", "year": 1, "a": "a".repeat(9999)}).to_string();
    let start = Instant::now();
    assert_eq!(service.send("POST", "/api/robots", body).0, 409);
    assert!(start.elapsed().as_secs() < 30);
}

#[test]
fn document_is_equal_after_it_was_read_and_sent_again() {
    let service = Service::new(MUSEUM);
    let get = || service.send("GET", "/api/definition", "").1;
    let document = get();
    assert_eq!(document["title"], "Exhibits");
    assert_eq!(
        document["properties"]["maker"],
        json!({"type": "string", "maxLength": 9, "search": true, "title": "Maker"})
    );
    assert_eq!(document["required"], json!(["name", "type", "accession"]));
    let text = service.catalogue.definition().to_string();
    assert_eq!(service.put_definition(&text).0, 200);
    assert_eq!(get(), document);
    let least = r#"{"properties":{"year":{"minimum":-9223372036854775808}}}"#;
    for document in [MUSEUM, least] {
        let definition: Definition = document.parse().unwrap();
        assert_eq!(definition.to_string().parse(), Ok(definition));
    }
}

#[test]
fn wrong_parameters_return_400() {
    let table = "
        maker=a&maker=%FF -> maker is not UTF-8
        weight=x -> weight must be a number
        weight=NaN -> weight must be a number
        weight=inf -> weight must be a number
        weight_from= -> weight_from must be a number
        weight_from=1&weight_from=2 -> weight_from is given twice; give it once
        weight=1&weight_to=2 -> weight excludes weight_from and weight_to; give either it or them
        weight_from=2&weight_to=1 -> weight_from must not be greater than weight_to
        rooms=1.5 -> rooms must be an integer from 1 to 99
        acquired=yesterday -> acquired must be a date, such as 2020-05-31
        acquired_from=2020-13-01 -> acquired_from must be a date, such as 2020-05-31
        on_display=1 -> on_display must be true or false
        condition=bad -> condition must be one of: good, fair, poor
        type=droid -> type must be one of: painting, vase, coin
        type=case -> type must be one of: painting, vase, coin; did you mean vase?
        name=a&name=b -> name is given twice; give it once
        fields=name,colour -> fields has 'colour', which is not a field; the fields are id,name,type,year,accession,maker,weight,rooms,acquired,on_display,condition,page,story,revision
        fields=*,name -> fields has '*', which is not a field; the fields are id,name,type,year,accession,maker,weight,rooms,acquired,on_display,condition,page,story,revision
        sort=type -> sort must be name, -name, year, -year, id, -id, accession, -accession, maker, -maker, weight, -weight, rooms, -rooms, acquired, -acquired, on_display, -on_display, condition, -condition, page or -page
        cursor=weight:x:1&sort=weight -> cursor is not one that a link of this service contains
        cursor=weight:1:1&sort=-weight -> cursor belongs to another sort; give the sort of the page that it comes from
        after=a&sort=weight -> after needs the order of the names; use cursor, as in the header Link";
    let service = Service::new(MUSEUM);
    for (query, messages) in lines(table) {
        let failure = service.failure("GET", &format!("/api/robots?{query}"), "");
        assert_eq!(
            failure,
            (400, messages.into_iter().map(str::to_owned).collect()),
            "{query}"
        );
    }
    for (parameter, limit, message) in [
        (
            "maker=",
            100,
            "maker must have at most 100 different values",
        ),
        ("q=", 16, "q must have at most 16 different words"),
    ] {
        let query = |count: usize| {
            let values: Vec<_> = (0..count * 2)
                .map(|number| format!("v{}", number % count))
                .collect();
            match parameter {
                "q=" => format!("/api/robots?q={}", values.join("+")),
                name => format!("/api/robots?{name}{}", values.join(&format!("&{name}"))),
            }
        };
        assert_eq!(service.send("GET", &query(limit), "").0, 200);
        let failure = service.failure("GET", &query(limit + 1), "");
        assert_eq!(failure, (400, vec![message.to_owned()]));
    }
    let failure = service.failure("GET", "/api/robots/summary?by=maker", "");
    let expected = "by must be one of: type,acquired,on_display,condition";
    assert_eq!(failure, (400, vec![expected.to_owned()]));
    let strict = |query: &str| {
        let request = http::Request::get(format!("/api/robots?{query}"));
        let request = request
            .header("prefer", "handling=strict")
            .body("")
            .unwrap();
        let response = service.api.handle(request);
        let status = response.status().as_u16();
        (
            status,
            String::from_utf8(response.into_body().into_bytes().unwrap()).unwrap(),
        )
    };
    assert_eq!(strict("maker=&weight_from=1&q=x&on_display=true").0, 200);
    let (status, text) = strict("weigth_from=1");
    assert!(
        status == 400 && text.contains("did you mean weight_from?"),
        "{text}"
    );
}

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
    let definition = |document: &str| document.parse::<Definition>().unwrap();
    for (document, expected) in [
        (
            r#"{"noun": {"one": "toy robot", "many": "toy robots"}}"#,
            "2 robots, no robot: 'my robot', a robot.",
        ),
        (
            r#"{"noun": {"one": "toy", "many": "toys"}}"#,
            "2 toys, no toy: 'my robot', a toy.",
        ),
        (
            r#"{"noun": {"one": "toy", "many": "toys"}, "properties": {"robot": {"type": "string"}}}"#,
            "2 robots, no robot: 'my robot', a robot.",
        ),
    ] {
        let worded = definition(document).worded("2 robots, no robot: 'my robot', a robot.");
        assert_eq!(worded, expected);
    }
    for (method, target, body, message) in [
        ("GET", "/v1/robots/9", "", "No toy has the id 9"),
        (
            "POST",
            "/v1/robots",
            r#"{"name":"A","type":"robot"}"#,
            "The toy name must be unique",
        ),
        (
            "POST",
            "/v1/robots",
            r#"{"name":"Z","type":"robots"}"#,
            rejected,
        ),
        (
            "GET",
            "/v1/robots?type=my+robot",
            "",
            "type must be one of: robot, bear",
        ),
        (
            "PATCH",
            "/v1/robots",
            "{}",
            "This would change every toy; give at least one condition, such as id=1",
        ),
        (
            "POST",
            "/api/robots",
            r#"{"name":"A","type":"bear"}"#,
            "The robot name must be unique",
        ),
    ] {
        let (_, reply) = service.send(method, target, body);
        let messages = [&reply["detail"], &reply["messages"][0]];
        assert!(messages.contains(&&json!(message)), "{target}: {reply}");
    }
}

#[test]
fn imports_report_own_rules_by_line() {
    let service = Service::new(MUSEUM);
    let taken = json!({"name": "x", "type": "vase", "accession": "1.1"});
    assert_eq!(
        service
            .send(
                "POST",
                "/api/robots",
                taken.to_string().replace("1.1", "2020.1")
            )
            .0,
        201
    );
    let file = "name,type,accession,weight,on_display,colour\n\
                a,vase,2021.1,x,,\n\
                b,vase,2021.2,,maybe,\n\
                c,vase,2021.3,0.5,true,red\n\
                d,vase,2021.3,,,\n\
                e,vase,,9,,\n\
                f,pot,2020.1,,,\n\
                c,vase,2021.4,,,\n";
    let messages = [
        "line 2: weight must be a number",
        "line 3: on_display must be true or false",
        "line 5: The accession must be unique",
        "line 6: accession is required",
        "line 6: The weight cannot be greater than 1.5",
        "line 7: Value of field 'type' must be part of list: painting, vase, coin",
        "line 7: The accession must be unique",
    ];
    let lines: Vec<_> = file
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<_> = line.split(',').collect();
            let json = |text: &str| serde_json::from_str(text).unwrap_or(json!(text));
            json!({"name": fields[0], "type": fields[1], "accession": fields[2],
               "weight": (!fields[3].is_empty()).then(|| json(fields[3])),
               "on_display": (!fields[4].is_empty()).then(|| json(fields[4])), "colour": fields[5]})
            .to_string()
        })
        .collect();
    let ndjson = format!("\n{}", lines.join("\n"));
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
            let messages = messages
                .iter()
                .filter(|message| !(is_skip && message.ends_with("must be unique")));
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
    let count = |query: &str| {
        service
            .send("GET", &format!("/api/robots?{query}"), "")
            .1
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (
            count("name=c"),
            count("name=c&type=coin"),
            count("weight=0.5")
        ),
        (4, 2, 1)
    );
}

#[test]
fn imports_replace_robots_with_equal_names_and_values() {
    let service = Service::new(
        r#"{"properties":{"serial":{"type":"string","unique":true},"maker":{"type":"string"}}}"#,
    );
    let row = |name: &str, serial: &str| format!("{name},droid,1,{serial}\n");
    let header = "name,type,year,serial\n";
    for (options, rows, counts, serials) in [
        (
            "",
            [row("a", "s"), row("b", "t")].concat(),
            [2, 0, 0, 0],
            "a=s b=t",
        ),
        (
            "&on_conflict=skip",
            [row("a", "x"), row("c", "s")].concat(),
            [0, 0, 2, 0],
            "a=s b=t",
        ),
        (
            "&on_conflict=replace",
            [row("a", "u"), row("c", "s")].concat(),
            [1, 1, 0, 0],
            "a=u b=t c=s",
        ),
        (
            "&on_conflict=replace",
            [row("a", "t"), row("a", "v")].concat(),
            [0, 0, 0, 2],
            "a=u b=t c=s",
        ),
        (
            "&on_conflict=replace&atomic=true",
            [row("a", "w"), row("b", "t")].concat(),
            [0, 1, 0, 0],
            "a=w b=t c=s",
        ),
    ] {
        let target = format!("/api/robots/import?format=csv{options}");
        let (_, reply) = service.send("POST", &target, header.to_owned() + &rows);
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

#[test]
fn description_follows_the_definition() {
    let service = Service::new("{}");
    let describe = || service.send("GET", "/openapi.json", "").1;
    let parameters = |document: &Json, path: &str| {
        let described = document["paths"][path]["get"]["parameters"]
            .as_array()
            .unwrap()
            .clone();
        let names = described.iter().filter_map(|one| one["name"].as_str());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let built_in = describe();
    assert_eq!(service.put_definition(MUSEUM).0, 200);
    let document = describe();
    for path in [
        "/api/robots",
        "/api/robots/search/{name}",
        "/api/robots/summary",
        "/api/robots/export",
    ] {
        let names = parameters(&document, path);
        for name in [
            "maker",
            "weight",
            "weight_from",
            "weight_to",
            "acquired_to",
            "on_display",
            "condition",
            "q",
        ] {
            assert!(names.iter().any(|known| known == name), "{path}: {name}");
        }
        assert!(!parameters(&built_in, path).contains(&"maker".to_owned()));
    }
    let draft = &document["components"]["schemas"]["RobotDraft"];
    assert_eq!(draft["required"], json!(["name", "type", "accession"]));
    let properties = &draft["properties"];
    let order: Vec<_> = properties.as_object().unwrap().keys().collect();
    assert!(
        order.contains(&&"accession".to_owned()) && !order.contains(&&"id".to_owned()),
        "{order:?}"
    );
    for (field, schema) in [
        (
            "accession",
            json!({"type": "string", "pattern": r"^[0-9]{4}\.[0-9]+$"}),
        ),
        ("maker", json!({"type": ["string", "null"], "maxLength": 9})),
        (
            "weight",
            json!({"type": ["number", "null"], "minimum": 0, "maximum": 1.5}),
        ),
        (
            "rooms",
            json!({"type": ["integer", "null"], "minimum": 1, "maximum": 99}),
        ),
        (
            "acquired",
            json!({"type": ["string", "null"], "format": "date"}),
        ),
        ("on_display", json!({"type": ["boolean", "null"]})),
        (
            "year",
            json!({"type": ["integer", "null"], "minimum": -5000, "maximum": 2100}),
        ),
        ("page", json!({"format": "uri"})),
        ("condition", json!({"enum": ["good", "fair", "poor", null]})),
    ] {
        for (keyword, value) in schema.as_object().unwrap() {
            assert_eq!(&properties[field][keyword], value, "{field}.{keyword}");
        }
    }
    let created = &document["components"]["schemas"]["RobotCreated"]["properties"]["data"];
    assert_eq!(
        created["required"],
        json!(["name", "type", "accession", "id"])
    );
    assert_eq!(service.put_definition("{}").0, 200);
    assert_eq!(describe(), built_in);
}

#[test]
fn robots_without_values_are_found_and_counted_last() {
    let service = Service::new(r#"{"required":["name"],"properties":{"maker":{"type":"string"}}}"#);
    for (name, robot_type, year) in [
        ("a", None, None),
        ("b", Some("virtual"), None),
        ("c", None, Some(1977)),
        ("d", Some("droid"), Some(5)),
    ] {
        let robot = json!({"name": name, "type": robot_type, "year": year});
        assert_eq!(
            service.send("POST", "/api/robots", robot.to_string()).0,
            201
        );
    }
    let groups = &service.send("GET", "/api/robots/summary", "").1["data"]["groups"];
    let expected = json!([
        {"type": "droid", "decade": 0, "count": 1},
        {"type": "virtual", "decade": null, "count": 1},
        {"type": null, "decade": 1970, "count": 1},
        {"type": null, "decade": null, "count": 1},
    ]);
    assert_eq!(groups, &expected);
    // Robots that were stored before a rule may lack the value.
    let required = r#"{"properties":{"maker":{"type":"string"}},"required":["name","maker"]}"#;
    assert_eq!(service.put_definition(required).0, 200);
    let found = service.send("GET", "/api/robots?maker=", "").1;
    assert_eq!(found.as_array().unwrap().len(), 4);
}

#[test]
fn newer_rules_are_checked_for_values_that_change() {
    let define = |service: &Service, choices: &str, required: &str| {
        let document = format!(
            r#"{{"properties":{{"state":{{"enum":[{choices}]}},"note":{{"type":"string"}}}},"required":["name"{required}]}}"#
        );
        service.send("PUT", "/v1/definition", document.as_str()).0
    };
    let service = Service::new("{}");
    assert_eq!(define(&service, r#""good","poor""#, ""), 200);
    let (_, robot) = service.send("POST", "/v1/robots", r#"{"name":"a","state":"poor"}"#);
    let target = format!("/v1/robots/{}", robot["id"].as_str().unwrap());
    assert_eq!(define(&service, r#""good","fair""#, r#","note""#), 200);
    for (body, status) in [
        (r#"{"name":"b","state":"poor"}"#, 200),
        (r#"{"name":"b","state":"bad"}"#, 422),
        (r#"{"name":"c","state":"good"}"#, 200),
        (r#"{"name":"c","state":"poor"}"#, 422),
    ] {
        assert_eq!(service.send("PUT", &target, body).0, status, "{body}");
    }
    let robot = &service.catalogue.list().unwrap()[0];
    assert_eq!(
        (robot.name(), robot.value("state")),
        ("c", Some("good".into()))
    );
}
