//! The server binary over a database server, which is away, restarts, hangs, is shared, or
//! refuses. Each test runs on PostgreSQL and on MariaDB, on a server of its own.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod agreement;
#[path = "../server/calls.rs"]
mod calls;
mod database;
mod frozen;
mod load;
mod locks;
#[path = "../server/process.rs"]
#[expect(dead_code, reason = "bare connections are for the tests of the server")]
mod process;
mod record;
mod refusals;
mod restarts;
mod shared;
mod stops;

use database::Kind;

/// Makes a test of each function for each kind of server.
macro_rules! on_every_kind_of_server {
    ($($module:ident::$test:ident,)*) => {
        mod postgres {
            $(#[test]
            fn $test() {
                crate::$module::$test(crate::Kind::Postgres);
            })*
        }

        mod mariadb {
            $(#[test]
            fn $test() {
                crate::$module::$test(crate::Kind::Mariadb);
            })*
        }
    };
}

on_every_kind_of_server! {
    restarts::the_server_starts_before_the_database_does_and_becomes_ready_when_it_is,
    restarts::connections_are_replaced_after_the_database_restarts,
    restarts::a_restart_while_nothing_is_asked_is_noticed_by_nobody,
    frozen::a_database_that_is_frozen_answers_nobody_and_stalls_nobody,
    frozen::a_server_that_starts_while_the_database_is_frozen_becomes_ready_when_it_goes_on,
    shared::two_server_processes_on_one_database_agree,
    shared::no_id_comes_twice_although_the_database_is_killed,
    locks::writes_of_what_another_client_has_locked_are_refused_and_all_else_goes_on,
    locks::many_writes_of_one_locked_robot_hold_up_nobody_else,
    locks::a_locked_table_refuses_all_and_hurts_nothing,
    refusals::a_wrong_password_is_told_and_no_password_is,
    refusals::a_database_that_is_not_there_is_told,
    refusals::a_url_that_cannot_be_read_is_refused_and_not_repeated,
    stops::a_stop_under_load_is_a_stop,
    stops::a_stop_while_the_database_is_frozen_is_a_stop,
}
