//! `/v1`, and what both APIs have beside the contract: ids as conditions, preferences and strict bodies.

use super::{Answer, Case, Session, json};
use crate::conformance::cases;

pub(super) const CASES: &[Case<fn(&Session<'_>)>] = cases![
    v1_returns_data_without_an_envelope,
    v1_list_has_100_robots_and_a_link,
    v1_failures_are_problem_details,
    access_says_what_the_client_may_do,
    preference_chooses_the_response_to_a_change,
    ids_choose_robots,
    changes_of_a_list_apply_to_all_or_none,
];

fn send(session: &Session<'_>, request: &str, prefer: &str) -> Answer {
    let mut parts = request.splitn(3, ' ');
    let [method, target, body] = [(); 3].map(|()| parts.next().unwrap_or_default());
    let content_type = ("Content-Type", "application/merge-patch+json");
    let headers = [content_type, ("Prefer", prefer)];
    session.call(
        method,
        target,
        &headers,
        body.replace("\\n", "\n").as_bytes(),
    )
}

/// Asserts the answers to requests, one a line: method, target and body, an arrow, the status, and the body or the
/// messages of a problem, each after its field. `*` stands for any body, and `$0` for the first of the ids.
#[track_caller]
fn assert_answers(session: &Session<'_>, ids: &[String], prefer: &str, requests: &str) {
    for line in requests
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let ids = ids.iter().zip(0..);
        let line = ids.fold(line.to_owned(), |line, (id, number)| {
            line.replace(&format!("${number}"), id)
        });
        let (request, expected) = line.split_once(" -> ").unwrap_or_default();
        let answer = send(session, request, prefer);
        let is_problem = answer.status >= 400 && !request.contains(" /api/");
        let body = if is_problem {
            problem(&answer)
        } else {
            answer.text()
        };
        let found = format!("{} {body}", answer.status);
        let is_as_expected = match expected.strip_suffix('*') {
            Some(start) => found.starts_with(start),
            None => found.trim_end() == expected,
        };
        assert!(is_as_expected, "{request}: {found}");
    }
}

/// The messages of a problem.
fn problem(answer: &Answer) -> String {
    let problem = json(answer);
    let media_type = answer.header("content-type");
    assert_eq!(media_type, Some("application/problem+json"), "{problem}");
    assert_eq!(problem["status"], answer.status, "{problem}");
    assert_eq!(
        problem["request_id"].as_str(),
        answer.header("x-request-id")
    );
    assert!(problem["title"].is_string() && problem["detail"].is_string());
    let errors = problem["errors"].as_array().into_iter().flatten();
    let text = |error: &serde_json::Value, name| error[name].as_str().unwrap_or("-").to_owned();
    let errors = errors.map(|error| text(error, "field") + ": " + &text(error, "message"));
    errors.collect::<Vec<_>>().join("|")
}

fn v1_returns_data_without_an_envelope(session: &Session<'_>) {
    let draft = r#"POST /v1/robots {"name":"R2","type":"droid","year":1977}"#;
    let created = send(session, draft, "");
    let id = json(&created)["id"].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (created.status, created.header("etag")),
        (201, Some("\"1\""))
    );
    let location = created.header("location").unwrap_or_default();
    assert_eq!(location, format!("robots/{id}"));
    assert_eq!(created.header("content-type"), Some("application/json"));
    // A robot that was read can be sent back.
    let requests = r#"
        GET /v1/robots/$0 -> 200 {"id":"$0","name":"R2","type":"droid","year":1977,"revision":1}
        PUT /v1/robots/$0 {"id":"$0","name":"R2","type":"droid","year":8,"revision":1} -> 200 {"id":"$0","name":"R2","type":"droid","year":8,"revision":2}
        PATCH /v1/robots/$0 {"year":9} -> 200 {"id":"$0","name":"R2","type":"droid","year":9,"revision":3}
        PATCH /v1/robots/$0 {} -> 200 {"id":"$0","name":"R2","type":"droid","year":9,"revision":3}
        GET /v1/robots -> 200 [{"id":"$0","name":"R2","type":"droid","year":9,"revision":3}]
        GET /v1/robots/search/2?fields=year -> 200 [{"year":9}]
        GET /v1/robots/summary?by=type -> 200 {"count":1,"groups":[{"type":"droid","count":1}]}
        DELETE /v1/robots/$0 -> 204
        GET /v1/robots/$0 -> 404 -: No robot has the id $0
        PATCH /v1/robots/$0 {"year":9} -> 404 -: No robot has the id $0
        GET /v1/robots/0 -> 404 -: No robot has the id 0
        PUT /v1/robots/0 {"id":"0","name":"R2","type":"droid","year":8} -> 404 -: No robot has the id 0
        POST /v1/robots/import?format=csv name,type,year\nA,droid,1\nB,droid,-1\n -> 200 {"added":1,"replaced":0,"skipped":0,"failed":1,"ids":["*
        POST /v1/robots/import?format=csv name,type,year\nB,droid,-1\n -> 422 year: line 2: The year cannot be less than zero
        GET /v1/robots/export?fields=name -> 200 *"#;
    assert_answers(session, &[id], "", requests);
}

fn v1_list_has_100_robots_and_a_link(session: &Session<'_>) {
    let names = session.add_many(101);
    let first = session.get("/v1/robots");
    assert_eq!(super::names(&first), names[..100]);
    let link = first.header("link").unwrap_or_default();
    let next = format!("<robots?limit=100&after={}>; rel=\"next\"", names[99]);
    assert_eq!(link, next);
    assert_eq!(session.names("/api/robots"), names);
}

fn v1_failures_are_problem_details(session: &Session<'_>) {
    let [first, second] = ["R2", "R5"].map(|name| session.add(name));
    let ids = [first, second, "x".repeat(101)];
    let requests = r#"
        POST /v1/robots {"name":"R2","type":"droid","year":1} -> 409 name: The robot name must be unique
        POST /v1/robots {"name":"R2","type":"droid","year":-1} -> 422 name: The robot name must be unique|year: The year cannot be less than zero
        POST /v1/robots {"name":1,"makr":2,"yaer":3} -> 400 name: name must be a string|makr: 'makr' is not a field; the fields are name, type, year|yaer: 'yaer' is not a field; did you mean year?
        PUT /v1/robots/$0 {"name":"R5","type":"droid","year":1} -> 409 name: The robot name must be unique
        PATCH /v1/robots/$0 {"id":"0"} -> 400 id: id must be $0, as in the path, or be left out
        PATCH /v1/robots?id=$0 {"id":"$0"} -> 400 id: id must be left out; the service chooses ids
        POST /v1/robots {"id":"5","name":"R6","type":"droid","year":1} -> 400 id: id must be left out; the service chooses ids
        POST /v1/robots {"revision":5,"name":"R6","type":"droid","year":1} -> 400 revision: revision must be left out; the service counts revisions
        GET /v1/robots?year_gt=1 -> 400 -: 'year_gt' is not a parameter; did you mean year_from?
        GET /v1/robots?name_contains= -> 400 -: name_contains must be a text of 1 to 100 characters
        GET /v1/robots?name_contains=$2 -> 400 -: name_contains must be a text of 1 to 100 characters
        GET /v1/robots?type_not=toaster -> 400 -: type must be one of: droid, mechanical, virtual
        GET /v1/robots?type_contains=x -> 400 -: 'type_contains' is not a parameter; *
        GET /v1/robots?limt=1 -> 400 -: 'limt' is not a parameter; did you mean limit?
        PUT /v1/robots -> 405 -: This path does not allow this method; allowed: GET, HEAD, POST, PATCH, DELETE, OPTIONS
        GET /v1/robot -> 404 -: There is nothing at this path; the paths are *
        GET /v1 -> 404 -: There is nothing at this path; the paths are *"#;
    assert_answers(session, &ids, "", requests);
    let lenient = r#"POST /v1/robots?x=1 {"name":"HAL","type":"virtual","year":1,"x":1} -> 201 *"#;
    assert_answers(session, &ids, "handling=lenient", lenient);
    let strict = r#"POST /api/robots {"yaer":1} -> 400 {"status":"ERROR","messages":["'yaer' is not a field; did you mean year?"]}"#;
    assert_answers(session, &ids, "handling=strict", strict);
}

fn access_says_what_the_client_may_do(session: &Session<'_>) {
    let answer = session.get("/v1/access");
    let permissions = r#"{"define":true,"name":null,"read":true,"write":true}"#;
    assert_eq!((answer.status, &*answer.text()), (200, permissions));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
}

fn preference_chooses_the_response_to_a_change(session: &Session<'_>) {
    for base in ["/api", "/v1"] {
        let id = session.add(base);
        for request in [
            r#"POST /robots {"name":"A","type":"droid","year":1}"#,
            r#"PUT /robots/$0 {"name":"B","type":"droid","year":2}"#,
            r#"PATCH /robots/$0 {"year":3}"#,
            "DELETE /robots/$0",
        ] {
            let request = request
                .replacen('/', &format!("{base}/"), 1)
                .replace("$0", &id);
            let is_post = request.starts_with("POST");
            let minimal = send(session, &request, "return=minimal");
            let is_created = is_post && (base == "/v1" || session.created() == 201);
            assert_eq!(
                minimal.status,
                if is_created { 201 } else { 204 },
                "{request}"
            );
            let location = minimal.header("location").unwrap_or_default();
            assert_eq!(location.starts_with("robots/"), is_post);
            let is_tagged = minimal.header("etag").is_some();
            assert_eq!(
                (is_tagged, minimal.text()),
                (!request.starts_with("DELETE"), String::new())
            );
            let applied = minimal.header("preference-applied");
            assert_eq!(applied, Some("return=minimal"));
            if request.starts_with("PATCH") {
                let answer = send(session, &request, "return=representation");
                assert_eq!(
                    answer.header("preference-applied"),
                    Some("return=representation")
                );
                let revision = answer.header("etag").map(|etag| etag.replace('"', ""));
                let revision = format!(r#""revision":{}}}"#, revision.unwrap_or_default());
                let (robot, answer) = (r#"{"id":"#, answer.text());
                let start = if base == "/v1" {
                    robot.to_owned()
                } else {
                    format!(r#"{{"status":"OK","data":{robot}"#)
                };
                assert!(
                    answer.starts_with(&start) && answer.contains(&revision),
                    "{answer}"
                );
            }
        }
        session.assert_lists(base, "/robots -> A");
        assert_answers(
            session,
            &[],
            "",
            "DELETE /v1/robots?name=A -> 200 {\"count\":1,*",
        );
    }
}

fn ids_choose_robots(session: &Session<'_>) {
    let ids = ["R2-D2", "R5-D4", "C-3PO"].map(|name| session.add(name));
    let query = format!("id={}&id={}", ids[2], ids[0]);
    for base in ["/api", "/v1"] {
        session.assert_lists(base, &format!("/robots?{query} -> C-3PO|R2-D2\n/robots?{query}&sort=-id&limit=1 -> C-3PO\n/robots/search/D?{query} -> R2-D2"));
    }
    let many = |count: i32| (1..=count).fold(String::new(), |query, id| format!("{query}&id={id}"));
    let (most, beyond) = (many(1000), many(1001));
    assert_answers(
        session,
        &ids,
        "",
        &format!(
            "
        GET /v1/robots/summary?by=type&{query} -> 200 {{\"count\":2,*
        GET /api/robots/export?fields=name&name=C-3PO&{query} -> 200 {{\"name\":\"C-3PO\"}}
        GET /v1/robots?fields=name&name=R2-D2{most} -> 200 [{{\"name\":\"R2-D2\"}}]
        GET /v1/robots?{beyond} -> 400 -: id must have at most 1000 different values
        GET /v1/robots?id=99999999999999999999&id=0 -> 200 []
        GET /v1/robots/summary?id=0 -> 200 {{\"count\":0,*
        GET /v1/robots?id=x -> 400 -: id must be a positive integer"
        ),
    );
}

fn changes_of_a_list_apply_to_all_or_none(session: &Session<'_>) {
    let ids: Vec<_> = (0..7)
        .map(|number| session.add(&format!("R{number}")))
        .collect();
    let requests = r#"
        DELETE /v1/robots -> 400 -: This would change every robot; give at least one condition, such as id=1
        DELETE /v1/robots?fold=true&containing=%CC%81&q=%CC%81 -> 400 *
        PATCH /v1/robots?dry_run=true {} -> 400 *
        DELETE /v1/robots?tpye=droid -> 400 -: 'tpye' is not a parameter; did you mean type?
        DELETE /v1/robots?name_contains=r&name_not=R0&type_not=virtual&dry_run=true -> 200 {"count":6,"ids":["$1",*
        DELETE /api/robots?type=droid -> 405 *
        PATCH /v1/robots?year=1977 {"year":-1} -> 422 year: The year cannot be less than zero (robots $0, $1, $2, $3, $4 and 2 others)
        PATCH /v1/robots?year=1977 {"name":"HAL"} -> 409 name: The robot name must be unique (robots $0, $1, $2, $3, $4 and 2 others)
        DELETE /v1/robots?id=$0&id=$6&dry_run=true -> 200 {"count":2,"ids":["$0","$6"]}
        PATCH /v1/robots?year=1977 {} -> 200 {"count":7,*
        PATCH /v1/robots?year=1977 {"ids":[]} -> 400 *
        PATCH /v1/robots {"ids":["$0","x"],"changes":{"year":5}} -> 400 *
        PATCH /v1/robots {"ids":["$0"]} -> 400 *
        PATCH /v1/robots {"ids":["$0"],"changes":{"year":5},"dry_run":true} -> 400 *
        PATCH /v1/robots?year=1 {"ids":["$0"],"changes":{"year":5}} -> 200 {"count":0,"ids":[]}
        PATCH /v1/robots {"ids":["$0",$6,"0"],"changes":{"year":5}} -> 200 {"count":2,"ids":["$0","$6"],"changes":{"after":*
        GET /v1/robots?year=5&fields=name,revision -> 200 [{"name":"R0","revision":8},{"name":"R6","revision":9}]
        DELETE /v1/robots {"ids":["$0","$1"],"revisions":[1]} -> 200 {"count":0,"ids":[]}
        PATCH /v1/robots {"ids":["$0","$1"],"revisions":[1],"changes":{"year":6}} -> 200 {"count":0,"ids":[]}
        DELETE /v1/robots?dry_run=true {"ids":["$0","$1"],"revisions":[2,8,9]} -> 200 {"count":2,"ids":["$0","$1"]}
        DELETE /v1/robots {"ids":["$0"],"revisions":[]} -> 400 *
        DELETE /v1/robots {"ids":["$0"],"revisions":["8"]} -> 400 *
        DELETE /v1/robots?year=1977 {"id":["$0"]} -> 400 *
        DELETE /v1/robots {"ids":["$0"],"changes":{}} -> 400 *
        DELETE /v1/robots {"ids":["$1","$2"]} -> 200 {"count":2,"ids":["$1","$2"],"changes":{"after":*
        DELETE /v1/robots?year=1977 -> 200 {"count":3,*
        DELETE /v1/robots?year=1977 -> 200 {"count":0,"ids":[]}
        PATCH /v1/robots?id=$0 {"name":"R6"} -> 409 name: The robot name must be unique (robot $0)
        PATCH /v1/robots?id=$0 {"name":"R7"} -> 200 {"count":1,*
        PATCH /v1/robots?id=0 {"name":"R7"} -> 200 {"count":0,*
        PATCH /v1/robots?id=0 {"year":-1} -> 422 year: The year cannot be less than zero
        GET /v1/robots?fields=name -> 200 [{"name":"R6"},{"name":"R7"}]"#;
    assert_answers(session, &ids, "", requests);
}
