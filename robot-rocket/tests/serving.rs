//! An application with its own routes beside a mounted catalogue, served by [`robot_rocket::serve`].

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![expect(
    clippy::needless_pass_by_value,
    reason = "Rocket passes values to handlers"
)]

mod serving {
    pub(crate) mod application;
    mod lifecycle;
    mod requests;
    mod responses;
}

use serving::application;
