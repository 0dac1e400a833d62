//! Fault tests: clients stress the server binary while it is killed or stopped, its disk fails,
//! its files are deleted, or its database server fails. Every answer must be true afterwards.
//!
//! `cargo test -p robot-rocket --test faults`. After `--`,
//! `--seconds 600` or `--rounds 100` repeats each test, `--seed N` repeats the random decisions of
//! the run that printed this seed, and a word selects tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[cfg(all(feature = "postgres", feature = "mysql"))]
mod database_server;
#[expect(dead_code, reason = "the tests of clusters use all of it")]
mod followers;
#[expect(dead_code, reason = "the tests of the server use all of it")]
mod support;
#[cfg_attr(
    not(all(feature = "postgres", feature = "mysql")),
    expect(
        unused_imports,
        reason = "the tests with database servers use all of it"
    )
)]
mod workload;

mod faults {
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod commits;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod database_faults;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod database_stops;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod database_tls;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod database_urls;
    pub(crate) mod definitions;
    pub(crate) mod disk;
    pub(crate) mod files;
    pub(crate) mod follow;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod frozen;
    pub(crate) mod full_disk;
    pub(crate) mod kills;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod locks;
    pub(crate) mod maintenance;
    pub(crate) mod migrations;
    pub(crate) mod options;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod poolers;
    pub(crate) mod read_only;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod restarts;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod server_migrations;
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    pub(crate) mod shared_database;
    pub(crate) mod stops;
    pub(crate) mod syncs;
}

use std::{process::ExitCode, sync::Arc};

use clap::Parser;
use libtest_mimic::Trial;

#[cfg(all(feature = "postgres", feature = "mysql"))]
use faults::restarts;
use faults::{
    disk,
    options::{self, Options, Run},
};
#[cfg(all(feature = "postgres", feature = "mysql"))]
use support::certificates;
use support::{calls, process, scrape, strace};

/// A test by its name.
type Test = (String, Box<dyn FnOnce(&Run) + Send>);

/// Tests named after their functions.
macro_rules! tests {
    ($($module:ident :: $test:ident),+ $(,)?) => {
        [$((
            concat!(stringify!($module), "::", stringify!($test)).to_owned(),
            Box::new(faults::$module::$test) as Box<dyn FnOnce(&Run) + Send>,
        )),+]
    };
}

/// Tests that run on each kind of database server.
#[cfg(all(feature = "postgres", feature = "mysql"))]
macro_rules! tests_of_kinds {
    ($($module:ident :: $test:ident),+ $(,)?) => {
        [$(
            (stringify!($module), stringify!($test), faults::$module::$test as fn(&Run, Kind)),
        )+]
        .into_iter()
        .flat_map(|(module, name, test)| {
            [Kind::Postgres, Kind::Mariadb].map(|kind| -> Test {
                (
                    format!("{module}::{name} ({kind:?})"),
                    Box::new(move |run: &Run| test(run, kind)),
                )
            })
        })
    };
}

fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    #[cfg(all(feature = "postgres", feature = "mysql"))]
    tests.extend(tests_with_database_servers());
    tests.extend(tests![
        kills::kill_keeps_acknowledged_and_no_rejected_writes,
        kills::kill_during_start_leaves_a_usable_file,
        kills::kill_during_an_atomic_import_leaves_all_or_none,
        follow::followers_have_the_catalogue_on_sqlite,
        definitions::kill_leaves_a_complete_definition_on_sqlite,
        definitions::values_beside_definitions_and_kills_on_sqlite,
        stops::stop_under_load_finishes_requests_in_progress,
        full_disk::full_disk_rejects_writes_until_there_is_space,
        full_disk::server_that_ends_on_a_full_disk_loses_nothing,
        full_disk::full_disk_stops_an_import_with_503,
        full_disk::full_disk_accepts_changes_that_need_no_space,
        full_disk::full_disk_keeps_the_catalogue_before_a_restore,
        syncs::failed_sync_is_never_acknowledged,
        syncs::sporadic_sync_failures_keep_acknowledged_writes,
        syncs::slow_syncs_lose_nothing,
        syncs::failed_checkpoint_stops_writes_until_restart,
        read_only::read_only_disk_rejects_writes_until_writable,
        files::database_deleted_without_wal,
        files::database_deleted_with_wal,
        files::files_deleted_during_a_commit,
        files::wal_deleted,
        files::database_replaced_by_another_catalogue,
        files::all_files_replaced_by_another_catalogue,
        maintenance::maintenance_does_not_disturb_the_server,
        migrations::kill_at_any_write_keeps_the_file_usable,
        migrations::servers_wait_for_a_long_migration,
    ]);
    tests
}

/// These mostly wait, so that they come first.
#[cfg(all(feature = "postgres", feature = "mysql"))]
fn tests_with_database_servers() -> Vec<Test> {
    use database_server::Kind;

    let mut tests: Vec<_> = tests_of_kinds![
        database_faults::every_fault_keeps_acknowledged_writes,
        frozen::frozen_database_blocks_no_other_requests,
        frozen::each_request_ends_within_its_time_limit,
        frozen::server_starts_and_stops_while_database_is_frozen,
        restarts::server_starts_before_its_database,
        restarts::restart_while_idle_is_not_noticed,
        shared_database::servers_on_one_database_agree,
        follow::followers_have_the_catalogue,
        server_migrations::kill_at_any_message_keeps_the_database_usable,
        server_migrations::killed_database_completes_the_migration_later,
        definitions::kill_leaves_a_complete_definition,
        definitions::values_beside_definitions_and_kills_are_kept,
        database_stops::stop_while_connecting_succeeds,
        locks::open_change_of_another_program_rejects_only_writes,
        locks::writes_to_a_locked_robot_do_not_block_reads,
        locks::locked_table_rejects_every_call,
        database_urls::wrong_password_is_reported_without_passwords,
        database_urls::missing_database_is_reported,
    ]
    .collect();
    tests.extend(tests![
        commits::post_waits_for_a_missing_standby,
        commits::shutdown_during_commits_keeps_acknowledged_robots,
        database_urls::unreadable_url_is_rejected_and_not_repeated,
        poolers::pooler_without_sessions_is_refused,
        poolers::busy_pooler_without_sessions_is_refused,
        poolers::pooler_with_sessions_serves_all_calls,
    ]);
    {
        tests.extend(tests_of_kinds![
            database_tls::connections_are_encrypted_and_certificates_checked,
        ]);
    }
    tests
}

fn main() -> ExitCode {
    let options = Arc::new(Options::parse());
    let mut arguments = options.harness.clone();
    // Tests mostly wait, for disks, database servers and timeouts.
    arguments.test_threads.get_or_insert(4);
    eprintln!("The seed of this run: --seed {}", options.seed);
    let trials = tests().into_iter().map(|(name, test)| {
        let run = Run {
            name: name.clone(),
            options: Arc::clone(&options),
        };
        Trial::test(name, move || {
            test(&run);
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
