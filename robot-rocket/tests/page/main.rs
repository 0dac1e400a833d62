//! The web page in a real browser, used as a person would use it, by the keyboard where that can
//! be: `cargo test -p robot-rocket --test page`, with Debian's `chromium` and `chromium-driver`.
//! `AXE_CORE` names the file `axe.min.js` of the package axe-core; `./test.sh` fetches it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod accessibility;
mod base;
mod browser;
#[path = "../server/calls.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod calls;
mod changes;
mod keys;
mod long;
mod looks;
mod names;
mod outage;
#[path = "../server/process.rs"]
#[expect(dead_code, reason = "the tests of the server need more of it")]
mod process;
mod search;
mod visit;
