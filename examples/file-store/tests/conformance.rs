//! The conformance cases of stores.

#![expect(clippy::panic, reason = "a store that cannot be opened fails its case")]

use std::process::ExitCode;

use file_store::FileCatalogue;
use robot_core::conformance::{Store, Suite};

fn main() -> ExitCode {
    let store = Store::persistent(
        |folder| folder.join("robots.json"),
        |path| FileCatalogue::open(path).unwrap_or_else(|error| panic!("{error}")),
    );
    Suite::new().store("file", store).run()
}
