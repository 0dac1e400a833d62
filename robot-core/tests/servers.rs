//! What is particular to database servers: sessions, locks, other programs beside us. The
//! servers of the tests have bad defaults for what a session can change.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::{
    thread,
    time::{Duration, Instant},
};

use diesel::{
    Connection, MysqlConnection, PgConnection, RunQueryDsl, connection::SimpleConnection, dsl::sql,
    sql_types::Text,
};
use robot_core::{
    Catalogue, CatalogueExt, DatabaseCatalogue, Draft, Error, OpenError, OpenOptions, Robot,
    Violation, conformance::scratch_database,
};

/// A kind of server, and how another program works beside us.
trait Kind {
    type Connection: Connection;

    /// The variable that has the URL of a server.
    const VARIABLE: &'static str;

    /// Makes a session useful although the defaults are bad.
    const SENSIBLE: &'static str;

    /// Finds the other sessions in the database.
    const OTHERS: &'static str;

    /// Finds those that wait for a lock.
    const WAITING: &'static str;

    /// Ends a session.
    fn end(session: &str) -> String;

    /// The texts that a query returns.
    fn texts(connection: &mut Self::Connection, query: &str) -> Vec<String>;

    /// Ends all the sessions that a query finds.
    fn end_all(connection: &mut Self::Connection, query: &str) {
        let sessions = Self::texts(connection, query);
        assert!(!sessions.is_empty());
        for session in sessions {
            connection.batch_execute(&Self::end(&session)).unwrap();
        }
    }

    /// Waits until another session waits for a lock.
    fn wait_until_one_waits(connection: &mut Self::Connection) {
        let started = Instant::now();
        while Self::texts(connection, Self::WAITING).len() != 1 {
            assert!(started.elapsed() < Duration::from_secs(10), "none waits");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// A connection of another program, to the database of this URL.
    fn beside(url: &str) -> Self::Connection {
        let mut connection = Self::Connection::establish(url).unwrap();
        connection.batch_execute(Self::SENSIBLE).unwrap();
        connection
    }

    /// A new database. Sessions with it can be told from those with others.
    fn url() -> String;
}

struct Postgres;

impl Kind for Postgres {
    type Connection = PgConnection;

    const VARIABLE: &'static str = "TEST_POSTGRES_URL";

    const SENSIBLE: &'static str = "SET default_transaction_read_only = off; SET lock_timeout = 0; \
                                    SET default_transaction_isolation = 'read committed'";

    const OTHERS: &'static str = "SELECT pid::text FROM pg_stat_activity \
        WHERE pid <> pg_backend_pid() AND application_name = current_schema()";

    const WAITING: &'static str = "SELECT pid::text FROM pg_stat_activity \
        WHERE application_name = current_schema() AND wait_event_type = 'Lock'";

    fn end(session: &str) -> String {
        format!("SELECT pg_terminate_backend({session})")
    }

    fn texts(connection: &mut PgConnection, query: &str) -> Vec<String> {
        sql::<Text>(query).load(connection).unwrap()
    }

    fn url() -> String {
        let url = scratch_database(Self::VARIABLE);
        let (_, schema) = url.rsplit_once("%3D").unwrap();
        format!("{url}&application_name={schema}")
    }
}

struct Mysql;

impl Kind for Mysql {
    type Connection = MysqlConnection;

    const VARIABLE: &'static str = "TEST_MYSQL_URL";

    const SENSIBLE: &'static str = "SET SESSION TRANSACTION READ WRITE; \
         SET autocommit = 1, completion_type = 0, sql_mode = 'STRICT_ALL_TABLES', \
         check_constraint_checks = 1, sql_select_limit = 18446744073709551615, \
         sql_big_selects = 1, lock_wait_timeout = 10, innodb_lock_wait_timeout = 10";

    const OTHERS: &'static str = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
        WHERE db = DATABASE() AND id <> CONNECTION_ID()";

    const WAITING: &'static str = "SELECT CAST(id AS CHAR) FROM information_schema.processlist \
        WHERE db = DATABASE() AND id <> CONNECTION_ID() AND command = 'Execute'";

    fn end(session: &str) -> String {
        format!("KILL {session}")
    }

    fn texts(connection: &mut MysqlConnection, query: &str) -> Vec<String> {
        sql::<Text>(query).load(connection).unwrap()
    }

    fn url() -> String {
        scratch_database(Self::VARIABLE)
    }
}

fn open(url: &str) -> DatabaseCatalogue {
    DatabaseCatalogue::open(url).unwrap_or_else(|error| panic!("{error}"))
}

fn draft(name: &str) -> Draft {
    Draft::new(name, "droid", 1977)
}

fn names(catalogue: &impl Catalogue) -> Vec<String> {
    let robots = catalogue.list().unwrap();
    robots.iter().map(|robot| robot.name().to_owned()).collect()
}

/// Each of these tests on each kind of server.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        mod postgres {
            $(#[test]
            fn $test() {
                super::$test::<super::Postgres>();
            })+
        }
        mod mysql {
            $(#[test]
            fn $test() {
                super::$test::<super::Mysql>();
            })+
        }
    };
}

tests![
    what_was_added_is_there_after_opening_again,
    many_may_open_one_new_database_at_once,
    a_table_of_another_program_is_left_alone,
    a_database_of_a_newer_version_is_left_alone,
    the_tables_themselves_refuse_what_breaks_a_rule,
    the_tables_keep_names_apart_and_ids_from_coming_back,
    a_lock_is_waited_for_and_then_given_up,
    those_who_want_the_name_of_each_other_are_both_answered,
    lost_connections_are_replaced,
    a_connection_lost_in_a_write_leaves_the_outcome_unknown,
    a_pool_that_is_too_small_makes_callers_wait,
    a_server_that_is_away_is_told_in_words,
];

fn what_was_added_is_there_after_opening_again<K: Kind>() {
    let url = K::url();
    let first = open(&url).add(draft("R2-D2")).unwrap();
    let catalogue = open(&url);
    assert_eq!(catalogue.get(first.id()).unwrap(), Some(first.clone()));
    catalogue.delete(first.id()).unwrap();
    let second = open(&url).add(draft("R2-D2")).unwrap();
    assert_ne!(first.id(), second.id());
}

fn many_may_open_one_new_database_at_once<K: Kind>() {
    let url = K::url();
    thread::scope(|scope| {
        for number in 0..8 {
            let url = &url;
            scope.spawn(move || open(url).add(draft(&number.to_string())).unwrap());
        }
    });
    assert_eq!(open(&url).list().unwrap().len(), 8);
}

fn a_table_of_another_program_is_left_alone<K: Kind>() {
    let url = K::url();
    let mut beside = K::beside(&url);
    beside
        .batch_execute("CREATE TABLE robots (arms INTEGER)")
        .unwrap();
    let error = DatabaseCatalogue::open(&url).unwrap_err();
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    beside
        .batch_execute("INSERT INTO robots (arms) VALUES (2)")
        .unwrap();

    // Other tables beside ours do no harm on a server.
    let url = K::url();
    K::beside(&url)
        .batch_execute("CREATE TABLE humans (arms INTEGER)")
        .unwrap();
    open(&url).add(draft("R2-D2")).unwrap();
}

fn a_database_of_a_newer_version_is_left_alone<K: Kind>() {
    let url = K::url();
    drop(open(&url));
    K::beside(&url)
        .batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101')")
        .unwrap();
    let error = DatabaseCatalogue::open(&url).unwrap_err();
    assert!(
        matches!(&error, OpenError::TooNew { migration, .. } if migration == "99990101"),
        "{error}"
    );
}

fn the_tables_themselves_refuse_what_breaks_a_rule<K: Kind>() {
    let url = K::url();
    let catalogue = open(&url);
    let mut beside = K::beside(&url);
    let mut insert = |name: &str, robot_type: &str, year: i64| {
        beside.batch_execute(&format!(
            "INSERT INTO robots (name, type, year) VALUES ('{name}', '{robot_type}', {year})"
        ))
    };
    insert("good", "virtual", 0).unwrap();
    for (name, robot_type, year) in [
        ("good", "droid", 1),
        ("", "droid", 1),
        (&"x".repeat(256), "droid", 1),
        ("bad", "toaster", 1),
        ("bad", "Droid", 1),
        ("bad", "droid ", 1),
        ("bad", "droid", -1),
    ] {
        assert!(
            insert(name, robot_type, year).is_err(),
            "{name} {robot_type} {year}"
        );
    }
    assert_eq!(names(&catalogue), ["good"]);
}

fn the_tables_keep_names_apart_and_ids_from_coming_back<K: Kind>() {
    let catalogue = open(&K::url());
    // In the order of their bytes, which is that of no language.
    let apart = [
        " ", "  ", "A", "B", "Z", "a", "a ", "b", "e\u{301}", "z", "é", "\u{ffff}", "🤖", "🤖🤖",
    ];
    for name in apart.iter().rev() {
        catalogue.add(draft(name)).unwrap();
    }
    assert_eq!(names(&catalogue), apart);
    let newest = catalogue.add(draft("newest")).unwrap();
    catalogue.delete(newest.id()).unwrap();
    assert!(catalogue.add(draft("newest")).unwrap().id() > newest.id());
}

fn a_lock_is_waited_for_and_then_given_up<K: Kind>() {
    let url = K::url();
    let catalogue = OpenOptions::new()
        .timeout(Duration::from_secs(1))
        .open(&url)
        .unwrap();
    let locked = catalogue.add(draft("locked")).unwrap();
    let free = catalogue.add(draft("free")).unwrap();
    let mut beside = K::beside(&url);
    let lock = format!(
        "BEGIN; UPDATE robots SET year = 1 WHERE id = {}",
        locked.id()
    );
    beside.batch_execute(&lock).unwrap();

    let started = Instant::now();
    let error = catalogue.replace(locked.id(), draft("moved")).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_millis(2500));
    // Others go on meanwhile.
    catalogue.replace(free.id(), draft("still free")).unwrap();
    assert_eq!(names(&catalogue), ["locked", "still free"]);

    beside.batch_execute("ROLLBACK").unwrap();
    catalogue.replace(locked.id(), draft("moved")).unwrap();
}

/// Each holds the row that the other's name is in, and waits for the other: a deadlock, which
/// the server ends at the cost of one of them.
fn those_who_want_the_name_of_each_other_are_both_answered<K: Kind>() {
    let catalogue = open(&K::url());
    let robots: Vec<Robot> = ["one", "two"]
        .iter()
        .map(|name| catalogue.add(draft(name)).unwrap())
        .collect();
    for round in 0..20 {
        let wanted = ["one", "two", "three"];
        thread::scope(|scope| {
            for (number, robot) in robots.iter().enumerate() {
                let catalogue = &catalogue;
                scope.spawn(move || {
                    for step in 0..3 {
                        let name = wanted[(number + round + step) % wanted.len()];
                        match catalogue.replace(robot.id(), draft(name)) {
                            Ok(()) => {}
                            Err(Error::Rejected(violations))
                                if violations.iter().eq([Violation::NameTaken]) => {}
                            Err(error) => panic!("{error:?}"),
                        }
                    }
                });
            }
        });
        let mut names = names(&catalogue);
        names.dedup();
        assert_eq!(names.len(), 2);
    }
}

fn lost_connections_are_replaced<K: Kind>() {
    let url = K::url();
    let catalogue = open(&url);
    let mut beside = K::beside(&url);
    for round in 0..3 {
        // Several connections, all of which are about to be lost.
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| catalogue.list().unwrap());
            }
        });
        K::end_all(&mut beside, K::OTHERS);
        catalogue.list().unwrap();
        catalogue.add(draft(&round.to_string())).unwrap();
    }
    // Also where a write comes first, once the loss may have been noticed.
    K::end_all(&mut beside, K::OTHERS);
    thread::sleep(Duration::from_millis(1100));
    catalogue.add(draft("3")).unwrap();
    assert_eq!(names(&catalogue), ["0", "1", "2", "3"]);
}

fn a_connection_lost_in_a_write_leaves_the_outcome_unknown<K: Kind>() {
    let url = K::url();
    let catalogue = open(&url);
    let robot = catalogue.add(draft("R2-D2")).unwrap();
    let mut locking = K::beside(&url);
    let lock = format!(
        "BEGIN; UPDATE robots SET year = 1 WHERE id = {}",
        robot.id()
    );
    locking.batch_execute(&lock).unwrap();
    thread::scope(|scope| {
        let write = scope.spawn(|| catalogue.delete(robot.id()));
        let mut beside = K::beside(&url);
        K::wait_until_one_waits(&mut beside);
        K::end_all(&mut beside, K::WAITING);
        let error = write.join().unwrap().unwrap_err();
        assert!(matches!(error, Error::Unknown(_)), "{error:?}");
    });
    assert_eq!(names(&catalogue), ["R2-D2"]);
}

fn a_pool_that_is_too_small_makes_callers_wait<K: Kind>() {
    let url = K::url();
    let catalogue = OpenOptions::new().connections(1).open(&url).unwrap();
    thread::scope(|scope| {
        for number in 0..16 {
            let catalogue = &catalogue;
            scope.spawn(move || catalogue.add(draft(&number.to_string())).unwrap());
        }
    });
    assert_eq!(names(&catalogue).len(), 16);
}

fn a_server_that_is_away_is_told_in_words<K: Kind>() {
    let url = K::url();
    // Nothing listens on this port.
    let (start, rest) = url.split_once("127.0.0.1:").unwrap();
    let (_, rest) = rest.split_once('/').unwrap();
    let away = format!("{start}127.0.0.1:1/{rest}");
    let error = DatabaseCatalogue::open(&away).unwrap_err();
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("cannot reach the database "),
        "{message}"
    );
    assert!(!message.contains("robots:robots"), "{message}");

    let timeout = Duration::from_millis(300);
    let options = OpenOptions::new().timeout(timeout).wait_for_server();
    let catalogue = options.open(&away).unwrap();
    let started = Instant::now();
    let error = catalogue.list().unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    let error = catalogue.add(draft("R2-D2")).unwrap_err();
    assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
    assert!(started.elapsed() < 5 * timeout, "{:?}", started.elapsed());
}
