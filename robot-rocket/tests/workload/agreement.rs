//! Agreement of several servers on the same data.

use fastrand::Rng;

use crate::process::Server;

use super::{Ledger, Outcome, Workload};

/// Asserts that servers agree without faults: a write that one has acknowledged is visible on all,
/// names are unique, a name is rejected only if it is taken, and no id is assigned twice. So many calls may fail.
pub(crate) fn assert_agreement(
    servers: &[&Server],
    ledger: Ledger,
    random: &mut Rng,
    failures: usize,
) -> Ledger {
    let workload = Workload::start_on(servers, ledger, random);
    let conflicts = workload.writes(Outcome::NameTaken);
    while workload.writes(Outcome::NameTaken) < conflicts + 30 {
        workload.wait_for_writes(50);
    }
    let failed = workload.failed_calls();
    let mut ledger = workload.stop();
    assert!(failed <= failures, "{ledger}");
    for server in servers {
        ledger.assert_consistent_with(server);
    }
    println!("{} servers agree: {ledger}", servers.len());
    ledger
}
