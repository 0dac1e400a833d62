//! Tests of the web page in Chromium, by keyboard where possible:
//! `cargo test -p robot-rocket --test page`, with Debian's `chromium` and `chromium-driver`.
//! `AXE_CORE` names the file `axe.min.js` of the package axe-core; `./test.sh` fetches it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[expect(dead_code, reason = "the tests of the server use all of it")]
mod support;

mod page {
    mod access;
    mod accessibility;
    pub(crate) mod browser;
    mod cells;
    mod changes;
    mod columns;
    mod conflicts;
    mod defining;
    mod faults;
    mod filters;
    mod importing;
    mod layout;
    mod live;
    mod long_lists;
    mod names;
    pub(crate) mod outage;
    mod overview;
    pub(crate) mod own_fields;
    mod record;
    mod search;
    mod selecting;
    pub(crate) mod visit;
}

use page::{browser, outage, own_fields, visit};
use support::{calls, process};
