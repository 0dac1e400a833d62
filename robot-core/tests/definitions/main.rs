//! Definitions and own fields through the HTTP contract: messages, limits, imports and the description
//! of the API. The conformance cases have what depends on the store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod documents;
mod imports;

use std::sync::Arc;

use robot_core::{Catalogue, MemoryCatalogue, http::Api};
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

    /// Asserts the status and the messages, separated by `|`, of a request that fails.
    #[track_caller]
    fn assert_failure(&self, request: (&str, &str, &str), status: u16, messages: &str) {
        let (method, target, body) = request;
        let messages = messages.split('|').map(str::to_owned).collect();
        assert_eq!(
            self.failure(method, target, body),
            (status, messages),
            "{request:?}"
        );
    }

    /// Adds robots by their JSON.
    #[track_caller]
    fn add(&self, robots: &[&str]) {
        for robot in robots {
            assert_eq!(self.send("POST", "/api/robots", *robot).0, 201, "{robot}");
        }
    }
}

/// The lines of a table: what is before the arrow, and what is after it.
fn lines(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = table.lines().filter_map(|line| line.split_once(" -> "));
    lines.map(|(key, texts)| (key.trim(), texts))
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
    service.add(&[
        r#"{"name":"a","type":"vase","accession":"2020.1"}"#,
        r#"{"name":"a","type":"vase","accession":"2020.2"}"#,
    ]);
    for (members, messages) in lines(table) {
        let mut whole = json!({"name": "a", "type": "vase", "accession": "2021.1"});
        let parsed: Json = serde_json::from_str(members).unwrap();
        let all = whole.as_object_mut().unwrap();
        all.extend(parsed.as_object().unwrap().clone());
        for (method, target, body) in [
            ("POST", "/api/robots", &*whole.to_string()),
            ("PUT", "/api/robots/2", &whole.to_string()),
            ("PATCH", "/api/robots/2", members),
        ] {
            service.assert_failure((method, target, body), 409, messages);
        }
    }
    let required = "type is required|name is required|accession is required";
    service.assert_failure(("POST", "/api/robots", "{}"), 409, required);
    let patch = r#"{"accession":null,"name":null,"type":null,"year":null,"maker":null}"#;
    service.assert_failure(("PATCH", "/api/robots/2", patch), 409, required);
    let limits = r#"{"accession":"2020.2","maker":"nine 🤖🤖🤖🤖","weight":1.5,"rooms":99,"year":null,"page":"a:b"}"#;
    assert_eq!(service.send("PATCH", "/api/robots/2", limits).0, 200);
}

#[test]
fn values_of_another_type_return_400() {
    let service = Service::new(MUSEUM);
    let wrong = r#"{"page":[],"condition":false,"on_display":"true","acquired":20200531,"rooms":"1","weight":"1","maker":{},"accession":1,"year":1.5,"name":null}"#;
    let expected = "year must be an integer from -5000 to 2100|accession must be a string|\
        maker must be a string|weight must be a number|rooms must be an integer from 1 to 99|\
        acquired must be a string|on_display must be true or false|condition must be a string|page must be a string";
    for method_and_target in [
        "POST /api/robots",
        "PUT /api/robots/1",
        "PATCH /api/robots/1",
    ] {
        let (method, target) = method_and_target.split_once(' ').unwrap();
        service.assert_failure((method, target, wrong), 400, expected);
    }
    for (member, values) in [
        ("weight", r#"1e400 -1e400 true [1] "" {}"#),
        ("rooms", r#"1.0 1e1 9223372036854775808 """#),
        ("on_display", r#"0 "" "false""#),
    ] {
        for value in values.split(' ') {
            let body = format!(r#"{{"{member}":{value}}}"#);
            let (status, _) = service.failure("POST", "/api/robots", &body);
            assert_eq!(status, 400, "{body}");
        }
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
        fields=name,colour -> fields has 'colour', which is not a field; the fields are id,name,type,year,accession,maker,weight,rooms,acquired,on_display,condition,page,story,revision,created_at,updated_at,updated_by
        fields=*,name -> fields has '*', which is not a field; the fields are id,name,type,year,accession,maker,weight,rooms,acquired,on_display,condition,page,story,revision,created_at,updated_at,updated_by
        sort=type -> sort must be name, -name, year, -year, id, -id, accession, -accession, maker, -maker, weight, -weight, rooms, -rooms, acquired, -acquired, on_display, -on_display, condition, -condition, page, -page, created_at, -created_at, updated_at or -updated_at
        cursor=weight:x:1&sort=weight -> cursor is not one that a link of this service contains
        cursor=weight:1:1&sort=-weight -> cursor belongs to another sort; give the sort of the page that it comes from
        after=a&sort=weight -> after needs the order of the names; use cursor, as in the header Link";
    let service = Service::new(MUSEUM);
    for (query, message) in lines(table) {
        let target = format!("/api/robots?{query}");
        service.assert_failure(("GET", &target, ""), 400, message);
    }
    let values = |count: usize, separator: &str| {
        let values: Vec<_> = (0..count * 2)
            .map(|number| format!("v{}", number % count))
            .collect();
        format!("/api/robots?{separator}{}", values.join(separator))
    };
    for (separator, most, message) in [
        (
            "&maker=",
            100,
            "maker must have at most 100 different values",
        ),
        (
            "&maker_contains=",
            16,
            "maker_contains must have at most 16 different values",
        ),
        ("+", 16, "q must have at most 16 different words"),
    ] {
        let query = |count| values(count, separator).replace("?+", "?q=");
        assert_eq!(service.send("GET", &query(most), "").0, 200);
        service.assert_failure(("GET", &query(most + 1), ""), 400, message);
    }
    let expected = "by must be one of: name,type,year,accession,maker,weight,rooms,acquired,on_display,condition,page,story";
    service.assert_failure(("GET", "/api/robots/summary?by=id", ""), 400, expected);
    let strict = |query: &str| {
        let request = http::Request::get(format!("/api/robots?{query}"));
        let request = request.header("prefer", "handling=strict").body("");
        let response = service.api.handle(request.unwrap());
        let status = response.status().as_u16();
        let body = response.into_body().into_bytes().unwrap();
        (status, String::from_utf8(body).unwrap())
    };
    assert_eq!(strict("maker=&weight_from=1&q=x&on_display=true").0, 200);
    let (status, text) = strict("weigth_from=1");
    let suggestion = "did you mean weight_from?";
    assert!(status == 400 && text.contains(suggestion), "{text}");
}

#[test]
fn robots_without_values_are_found_and_counted_last() {
    let service = Service::new(r#"{"required":["name"],"properties":{"maker":{"type":"string"}}}"#);
    service.add(&[
        r#"{"name":"a"}"#,
        r#"{"name":"b","type":"virtual"}"#,
        r#"{"name":"c","year":1977}"#,
        r#"{"name":"d","type":"droid","year":5}"#,
    ]);
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
