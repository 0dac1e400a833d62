//! The document of a definition, and what follows from it.

use std::time::Instant;

use robot_core::{Catalogue, CatalogueExt, Definition};
use serde_json::{Value as Json, json};

use crate::{MUSEUM, Service, lines};

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
        {"properties":{"weight_not":{"type":"string"}}} -> properties.weight_not: this name has another meaning; choose another one
        {"properties":{"a_contains":{"type":"string"}}} -> properties.a_contains: this name has another meaning; choose another one
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
    for (document, message) in lines(table) {
        service.assert_failure(("PUT", "/api/definition", document), 400, message);
    }
    let field = |name: &str, rest: &str| format!(r#"{{"properties":{{"{name}":{{{rest}}}}}}}"#);
    let many = |count: usize, one: &dyn Fn(usize) -> String| {
        (0..count).map(one).collect::<Vec<_>>().join(",")
    };
    let fields = many(65, &|number| format!(r#""f{number}":{{"type":"boolean"}}"#));
    let choices = many(5000, &|number| format!("\"{number}\""));
    let unclosed = "(".repeat(500);
    for document in [
        field("a", &format!("\"enum\":[{choices}]")),
        format!(r#"{{"properties":{{{fields}}}}}"#),
        field(&"a".repeat(64), r#""type":"string""#),
        field(&"a".repeat(49), r#""type":"string","unique":true"#),
        field("a", r#""type":"string","pattern":"(a{1000}){1000}""#),
        field("a", &format!(r#""type":"string","pattern":"{unclosed}""#)),
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
fn description_follows_the_definition() {
    let service = Service::new("{}");
    let describe = || service.send("GET", "/openapi.json", "").1;
    let parameters = |document: &Json, path: &str| {
        let described = document["paths"][path]["get"]["parameters"]
            .as_array()
            .unwrap()
            .clone();
        let names = described.iter().filter_map(|one| {
            let reference = one["$ref"]
                .as_str()
                .and_then(|reference| reference.strip_prefix('#'));
            let parameter = reference.and_then(|pointer| document.pointer(pointer));
            parameter.unwrap_or(one)["name"].as_str()
        });
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let built_in = describe();
    assert_eq!(service.put_definition(MUSEUM).0, 200);
    let document = describe();
    for path in
        "/api/robots /api/robots/search/{name} /api/robots/summary /api/robots/export".split(' ')
    {
        let names = parameters(&document, path);
        let expected = "maker weight weight_from weight_to acquired_to on_display condition q";
        for name in expected.split(' ') {
            assert!(names.contains(&name.to_owned()), "{path}: {name}");
        }
        assert!(!parameters(&built_in, path).contains(&"maker".to_owned()));
    }
    let draft = &document["components"]["schemas"]["RobotDraft"];
    assert_eq!(draft["required"], json!(["name", "type", "accession"]));
    let properties = &draft["properties"];
    assert_eq!(properties.get("id"), None);
    let table = r#"
        accession -> {"type": "string", "pattern": "^[0-9]{4}\\.[0-9]+$"}
        maker -> {"type": ["string", "null"], "maxLength": 9}
        weight -> {"type": ["number", "null"], "minimum": 0, "maximum": 1.5}
        rooms -> {"type": ["integer", "null"], "minimum": 1, "maximum": 99}
        acquired -> {"type": ["string", "null"], "format": "date"}
        on_display -> {"type": ["boolean", "null"]}
        year -> {"type": ["integer", "null"], "minimum": -5000, "maximum": 2100}
        page -> {"format": "uri"}
        condition -> {"enum": ["good", "fair", "poor", null]}"#;
    for (field, schema) in lines(table) {
        let schema: Json = serde_json::from_str(schema).unwrap();
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
