//! Kills of the server while it changes the definition. Each leaves the old definition or the new one, and its indexes
//! are complete after the next start.

use std::{thread, time::Instant};

#[cfg(all(feature = "postgres", feature = "mysql"))]
use crate::database_server::Kind;
use crate::{
    options::Run,
    process::{Server, assert_status},
    workload::{Outcome, send},
};

const TARGET: &str = "/api/definition";

/// Each change of the definition drops the values of `kind`.
const CHANGE: &str = "/api/definition?drop_values=true";

pub(crate) fn kill_leaves_a_complete_definition_on_sqlite(run: &Run) {
    kill_definitions(run, &[]);
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
pub(crate) fn kill_leaves_a_complete_definition(run: &Run, kind: Kind) {
    kill_definitions(run, &[("DATABASE_URL", &kind.shared_database())]);
}

fn kill_definitions(run: &Run, settings: &[(&str, &str)]) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::start(folder.path(), settings);
    let documents = [0, 1].map(|turn| {
        let answer = server.call("PUT", CHANGE, &definition(turn));
        assert_eq!(answer.status, 200, "{}", answer.text());
        server.get(TARGET).text()
    });
    let robots: Vec<_> = (0..2000).map(|robot| draft(robot, robot)).collect();
    let import = "/api/robots/import?format=json&atomic=true";
    let answer = server.call("POST", import, &format!("[{}]", robots.join(",")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let begin = Instant::now();
    server.call("PUT", CHANGE, &definition(0));
    let (mut present, duration) = (0, begin.elapsed());
    run.repeat(8, |random| {
        let values = [r#"{"kind":7}"#, r#"{"kind":"7"}"#][present];
        let headers = "Host: localhost\r\nContent-Type: application/merge-patch+json\r\n";
        assert_status(
            &server.ask("PATCH /v1/robots?type=droid", headers, values),
            200,
        );
        let (client, next) = (server.client(), definition(1 - present));
        let change = thread::spawn(move || send(&client, "PUT", CHANGE, &next).outcome);
        thread::sleep(duration.mul_f64(2.0 * random.f64()));
        server.signal("KILL");
        let outcome = change.join().unwrap();
        server = Server::start(folder.path(), settings);
        let document = server.get(TARGET).text();
        let found = documents.iter().position(|one| *one == document);
        println!("{}: {present} became {found:?}, {outcome:?}", run.name);
        assert!(outcome != Outcome::Done || found == Some(1 - present));
        let kept = server.get("/v1/robots?kind=7&limit=1000").text();
        assert_eq!(kept.contains(r#""kind":"#), found == Some(present));
        present = found.unwrap();
        for number in 0..8 {
            let found = server.get(&format!("/api/robots?f{number}=7")).text();
            assert!(found.contains(r#""name":"7"}"#), "f{number}: {found}");
        }
        let taken = [0, 2, 4, 6].map(|even| format!("\"The f{} must be unique\"", even + present));
        let answer = server.call("POST", "/api/robots", &draft(2000, 7)).text();
        assert!(answer.contains(&taken.join(",")), "{answer}");
    });
}

/// Half of the fields are unique, and the others have an index, in turn. The type of `kind` changes.
fn definition(turn: usize) -> String {
    let keyword = |number| ["unique", "index"][(number + turn) % 2];
    let field = |number| {
        format!(
            r#""f{number}":{{"type":"integer","{}":true}}"#,
            keyword(number)
        )
    };
    let fields = [0, 1, 2, 3, 4, 5, 6, 7].map(field).join(",");
    let kind = ["number", "string"][turn];
    format!(r#"{{"properties":{{{fields},"kind":{{"type":"{kind}","index":true}}}}}}"#)
}

fn draft(name: usize, value: usize) -> String {
    let values = [0, 1, 2, 3, 4, 5, 6, 7].map(|number| format!(r#","f{number}":{value}"#));
    let values = values.concat();
    format!(r#"{{"name":"{name}","type":"droid","year":1977{values}}}"#)
}
