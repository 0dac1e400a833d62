//! The fault driver: clients stress the server binary while it is killed, stopped, starved of
//! disk, or has its files taken away, and hold it to what it told them.
//!
//! `cargo test -p robot-rocket --test faults` takes about two minutes. Behind `--`,
//! `--seconds 600` or `--rounds 100` makes each test go on for so long, `--seed N` has the
//! clients and the faults decide as in the run that printed this seed, and a word selects tests.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../server/calls.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod calls;
mod client;
#[cfg(all(feature = "postgres", feature = "mysql"))]
#[path = "../stores/database.rs"]
#[expect(dead_code, reason = "the tests of the stores need more of it")]
mod database;
#[cfg(all(feature = "postgres", feature = "mysql"))]
mod databases;
mod disk;
mod files;
mod full_disk;
mod judge;
mod kills;
mod ledger;
mod look;
mod maintenance;
mod options;
#[path = "../server/process.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod process;
mod read_only;
mod stops;
#[path = "../server/strace.rs"]
mod strace;
mod syncs;
mod told;
mod workload;

use std::process::ExitCode;

use libtest_mimic::Trial;

use options::{Options, Run};

/// The tests by their names: the functions of these paths.
macro_rules! tests {
    ($($(#[$condition:meta])? $module:ident :: $test:ident),+ $(,)?) => {
        [$($(#[$condition])? (
            concat!(stringify!($module), "::", stringify!($test)),
            $module::$test as fn(&Run),
        )),+]
    };
}

fn main() -> ExitCode {
    let (options, arguments) = Options::from_command_line();
    eprintln!("The seed of this run: --seed {}", options.seed);
    let tests = tests![
        kills::a_kill_loses_nothing_and_leaves_nothing_that_was_refused,
        kills::a_kill_during_the_start_leaves_what_can_be_started,
        stops::a_stop_under_load_finishes_what_is_under_way,
        full_disk::a_full_disk_refuses_writes_until_there_is_room,
        full_disk::a_server_that_ends_while_the_disk_is_full_has_lost_nothing,
        syncs::a_disk_that_never_confirms_has_no_write_acknowledged,
        syncs::a_disk_that_fails_now_and_then_keeps_what_was_acknowledged_and_no_more,
        syncs::a_disk_that_is_slow_to_confirm_loses_nothing,
        read_only::a_disk_that_becomes_read_only_refuses_writes_until_it_is_not,
        files::deleted_without_its_log,
        files::deleted_with_its_log,
        files::deleted_during_a_commit,
        files::bereft_of_its_log,
        files::replaced_by_another_catalogue,
        files::replaced_by_another_catalogue_in_the_place_of_all_files,
        files::replaced_by_no_database,
        files::truncated_to_nothing,
        files::truncated_to_a_half,
        maintenance::another_program_that_cares_for_the_files_is_in_nobodys_way,
        #[cfg(all(feature = "postgres", feature = "mysql"))]
        databases::postgres_is_frozen_and_killed,
        #[cfg(all(feature = "postgres", feature = "mysql"))]
        databases::mariadb_is_frozen_and_killed,
    ];
    let trials = tests.into_iter().map(|(name, test)| {
        let run = options.run(name);
        Trial::test(name, move || {
            test(&run);
            Ok(())
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
