//! Upgrade of a database of the previous version, the way back, and two versions on one database.

use std::{fs, path::PathBuf};

use robot_core::{
    Catalogue, CatalogueExt, Change, Draft, Error, Filter, OpenError, Pages, Redefinition,
    Revision, Robot, RobotId, Sort, http::Api,
};

use crate::{
    backend::{Backend, database_tests, previous, version},
    draft, names,
};

database_tests![
    previous_version_is_upgraded,
    recorded_migrations_follow_the_folders,
    down_sql_restores_the_previous_version,
    statements_of_the_previous_version_succeed,
    changes_by_other_programs_are_found,
    values_of_other_kinds_are_listed,
    database_before_0_1_0_is_not_changed,
    robots_of_a_later_type_are_shown,
];

/// What a backend needs for these tests.
trait Upgrade: Backend {
    /// A query for texts that describe the table and its indexes.
    const SCHEMA: &str;
}

#[cfg(feature = "sqlite")]
impl Upgrade for crate::backend::Sqlite {
    const SCHEMA: &str = "SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY name";
}

#[cfg(feature = "postgres")]
impl Upgrade for crate::backend::Postgres {
    const SCHEMA: &str =
        "SELECT concat_ws(' ', column_name, data_type, column_default, is_nullable)
         FROM information_schema.columns WHERE table_schema = current_schema()
         UNION ALL SELECT replace(indexdef, current_schema(), '') FROM pg_indexes WHERE schemaname = current_schema()
         UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint
         WHERE connamespace = current_schema()::regnamespace
         ORDER BY 1";
}

#[cfg(feature = "mysql")]
impl Upgrade for crate::backend::Mysql {
    const SCHEMA: &str = "SELECT CONCAT_WS(' ', column_name, column_type, column_default,
             is_nullable, collation_name)
         FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'robots'
         UNION ALL SELECT CONCAT_WS(' ', index_name, column_name)
         FROM information_schema.statistics WHERE table_schema = DATABASE()
         UNION ALL SELECT check_clause FROM information_schema.check_constraints
         WHERE constraint_schema = DATABASE()
         ORDER BY 1";
}

fn id(number: i64) -> RobotId {
    RobotId::new(number).unwrap()
}

/// The SQL that undoes the migrations that the previous version does not know, the newest first.
fn down_sql<B: Backend>(known: &[String]) -> String {
    let mut migrations = B::migrations();
    migrations.retain(|path| !known.contains(&version(path)));
    let undo = |path: &PathBuf| {
        let down = fs::read_to_string(path.join("down.sql")).unwrap();
        let version = version(path);
        format!("DELETE FROM __diesel_schema_migrations WHERE version = '{version}'; {down}")
    };
    migrations.iter().rev().map(undo).collect()
}

/// Asserts that the catalogue has exactly the robots of the previous version.
fn assert_robots_of_previous_version(catalogue: &dyn Catalogue) {
    let without_revision = |robot: &Robot| {
        let mut robot = serde_json::to_value(robot).unwrap();
        robot.as_object_mut().unwrap().remove("revision");
        robot
    };
    let mut robots = catalogue.list().unwrap();
    let lines = fs::read_to_string(previous("robots.ndjson")).unwrap();
    let expected = lines.lines().map(|line| line.parse().unwrap());
    let expected: Vec<serde_json::Value> = expected.collect();
    let found: Vec<_> = robots.iter().map(without_revision).collect();
    assert_eq!(found, expected);
    // They are numbered in the order of their ids.
    robots.sort_by_key(Robot::id);
    assert!(robots.is_sorted_by(|one, next| one.revision() < next.revision()));
}

fn revisions<B: Backend>(database: &B) -> Vec<String> {
    database.query("SELECT CAST(revision AS CHAR(1)) FROM robots ORDER BY id")
}

fn previous_version_is_upgraded<B: Upgrade>() {
    let database = B::of_previous_version();
    for _ in 0..2 {
        let catalogue = database.open();
        assert_robots_of_previous_version(&catalogue);
        for (text, expected) in [
            ("renamed", &["renamed 20"][..]),
            ("械 🤖", &["機械 🤖"]),
            ("%_\\", &["100 %_\\ 'quoted' \"twice\" ;--"]),
        ] {
            assert_eq!(names(&catalogue, text), expected);
        }
        assert_eq!(names(&catalogue, "nit 2").len(), 9);
        assert_eq!(catalogue.last_id().unwrap(), Some(id(40)));
    }
    let catalogue = database.open();
    catalogue.delete(id(39)).unwrap();
    let taken = catalogue.add(draft("unit 15")).unwrap_err();
    assert!(matches!(taken, Error::Rejected(_)), "{taken:?}");
    // 40 was the id of a robot that the previous version deleted. A taken name may use up an id.
    let added = catalogue.add(draft("new")).unwrap();
    assert!(added.id() > id(40));
}

fn recorded_migrations_follow_the_folders<B: Upgrade>() {
    let versions: Vec<_> = B::migrations().iter().map(|path| version(path)).collect();
    let (created, upgraded) = (B::new(), B::of_previous_version());
    for database in [&created, &upgraded] {
        database.open();
        assert_eq!(database.versions(), versions);
    }
    assert_eq!(created.query(B::SCHEMA), upgraded.query(B::SCHEMA));
}

/// As `robot-rocket/docs/operations/install.md` describes it.
fn down_sql_restores_the_previous_version<B: Upgrade>() {
    let database = B::of_previous_version();
    let (schema, versions) = (database.query(B::SCHEMA), database.versions());
    let added = {
        let catalogue = database.open();
        catalogue.delete(id(39)).unwrap();
        catalogue.add(draft("by the new version")).unwrap().id()
    };
    let down = down_sql::<B>(&versions);
    if !down.is_empty() {
        database.execute(&down);
    }
    assert_eq!(database.query(B::SCHEMA), schema);
    assert_eq!(database.versions(), versions);
    let catalogue = database.open();
    assert_eq!(names(&catalogue, "by the"), ["by the new version"]);
    assert!(catalogue.add(draft("later")).unwrap().id() > added);
}

/// A server of the previous version continues while a new one has migrated the database. It names
/// all columns that it reads and writes.
fn statements_of_the_previous_version_succeed<B: Upgrade>() {
    let database = B::of_previous_version();
    let mut running = database.connect();
    let catalogue = database.open();
    let mut run = |statement: &str| {
        diesel::connection::SimpleConnection::batch_execute(&mut running, statement).unwrap();
    };
    run("INSERT INTO robots (name, type, year) VALUES ('one by one', 'droid', 1)");
    run("INSERT INTO robots (name, type, year) SELECT 'by JSON', 'droid', 2");
    run("UPDATE robots SET name = 'changed', type = 'virtual', year = 0 WHERE robots.id = 1");
    run("DELETE FROM robots WHERE robots.id = 2");
    assert_eq!(names(&catalogue, "by "), ["by JSON", "one by one"]);
    assert_eq!(names(&catalogue, "changed"), ["changed"]);
    assert_eq!(catalogue.get(id(2)).unwrap(), None);
    let robots = database.query(
        "SELECT robots.name FROM robots WHERE robots.name > 'unit' ORDER BY robots.name LIMIT 1",
    );
    assert_eq!(robots, ["unit 10"]);
}

/// Another program may write any JSON.
fn values_of_other_kinds_are_listed<B: Upgrade>() {
    let database = B::new();
    let catalogue = database.open();
    let fields = r#"{"properties": {"text": {"type": "string", "index": true}, "number": {"type": "number"}}}"#;
    let redefinition = Redefinition::new(fields.parse().unwrap());
    catalogue.define(redefinition).unwrap();
    let values = [
        r#"{"text":5,"number":"x"}"#,
        r#"{"text":"a","number":1}"#,
        "{}",
        r#"{"text":true,"number":[]}"#,
    ];
    for (number, own) in values.iter().enumerate() {
        catalogue.add(draft(&number.to_string())).unwrap();
        database.execute(&format!(
            "UPDATE robots SET own = '{own}' WHERE name = '{number}'"
        ));
    }
    let definition = catalogue.definition();
    for sort in ["text", "-text", "number", "-number"] {
        let sort = Sort::parse(sort, &definition).unwrap();
        let pages = Pages::new(&catalogue, "").sorted(sort).page_size(1);
        let robots: Vec<_> = pages.flat_map(Result::unwrap).collect();
        assert_eq!(robots.len(), values.len(), "{robots:?}");
        assert_eq!(robots[0].name(), "1");
    }
}

fn changes_by_other_programs_are_found<B: Upgrade>() {
    let database = B::new();
    let catalogue = database.open();
    for name in ["R2-D2", "BB-8"] {
        catalogue.add(draft(name)).unwrap();
    }
    for (statement, revisions_after, found) in [
        ("SET year = 1980 WHERE id = 1", ["3", "2"], ["R2-D2"]),
        // As the previous version does.
        (
            "SET year = 1, revision = revision + 1 WHERE id = 2",
            ["3", "4"],
            ["R2-D2"],
        ),
        (
            "SET type = 'virtual', year = 1980 WHERE name = 'R2-D2'",
            ["5", "4"],
            ["R2-D2"],
        ),
        (
            "SET type = 'virtual', year = 1980 WHERE name = 'R2-D2'",
            ["5", "4"],
            ["R2-D2"],
        ),
        (
            "SET name = 'R2-DÉ' WHERE name = 'R2-D2'",
            ["6", "4"],
            ["R2-DÉ"],
        ),
        (
            "SET name = 'R2-De', revision = revision + 1 WHERE id = 1",
            ["7", "4"],
            ["R2-De"],
        ),
        ("SET search_text = NULL", ["7", "4"], ["R2-De"]),
    ] {
        database.execute(&format!("UPDATE robots {statement}"));
        assert_eq!(revisions(&database), revisions_after, "{statement}");
        for text in ["r2-d", "R2-"] {
            let pages = Pages::new(&catalogue, Filter::from(text).folded());
            let robots: Vec<Robot> = pages.flatten().flatten().collect();
            assert!(robots.iter().map(Robot::name).eq(found), "{statement}");
        }
        let stale = Revision::new(99).unwrap();
        catalogue
            .apply(Change::Delete(id(1), Some(stale)))
            .unwrap_err();
    }
    database.execute("INSERT INTO robots (name, type, year) VALUES ('Kateřina', 'droid', 1)");
    // The name is compared until it is in the search index.
    for catalogue in [catalogue, database.open()] {
        let found = catalogue.count(&Filter::from("KATERINA").folded()).unwrap();
        assert_eq!(found, 1);
    }
}

fn database_before_0_1_0_is_not_changed<B: Upgrade>() {
    let database = B::of_previous_version();
    database.execute("UPDATE __diesel_schema_migrations SET version = '20261121000000'");
    let error = robot_core::open(database.url()).err().unwrap();
    assert!(matches!(error, OpenError::Prerelease { .. }), "{error}");
    assert_eq!(database.versions(), ["20261121000000"]);
}

/// A newer server has added a type, and an older one finds robots of it.
fn robots_of_a_later_type_are_shown<B: Upgrade>() {
    let database = B::new();
    let older = database.open();
    older.add(draft("a")).unwrap();
    database.execute("INSERT INTO robots (name, type, year) VALUES ('b', 'android', 2)");
    older.add(draft("c")).unwrap();

    assert_eq!(older.list().unwrap().len(), 3);
    let android = older.get(id(2)).unwrap().unwrap();
    assert_eq!(android.robot_type(), Some("android"));
    assert_eq!(older.find("b").unwrap(), Some(android.clone()));
    let api = Api::new(older.clone());
    let android_json = r#"{"id":"2","name":"b","type":"android"}"#;
    for (target, expected) in [
        ("/api/robots", r#"{"id":"2","name":"b"}"#),
        ("/api/robots?fields=id,name,type", android_json),
        ("/api/robots/search/b?fields=id,name,type", android_json),
        ("/api/robots/2?fields=id,name,type", android_json),
        ("/api/robots/export?format=csv", "\n2,b,android,2\n"),
    ] {
        let response = api.handle(http::Request::get(target).body("").unwrap());
        assert_eq!(response.status(), 200, "{target}");
        let body = response.into_body().into_bytes().unwrap();
        let body = String::from_utf8(body).unwrap();
        assert!(body.contains(expected), "{target}: {body}");
    }

    // The type is kept, and given to no other robot.
    let error = older.add(Draft::new("d", "android", 1)).unwrap_err();
    let Error::Rejected(violations) = error else {
        panic!("{error:?}")
    };
    let message = "Value of field 'type' must be part of list: droid, mechanical, virtual";
    assert_eq!(violations.messages(), [message]);
    let name = Draft {
        name: Some("e".into()),
        ..Draft::default()
    };
    older.patch(id(2), name).unwrap();
    let android = older.find("e").unwrap().unwrap();
    assert_eq!(android.robot_type(), Some("android"));
    older.replace(id(2), draft("f")).unwrap();
    older.delete(id(2)).unwrap();
    assert_eq!(names(&database.open(), ""), ["a", "c"]);
}
