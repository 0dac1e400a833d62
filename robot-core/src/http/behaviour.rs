//! The behaviours: the two of the contract, which differ only in status codes, and that of `/v1`.

use std::fmt;

use ::http::StatusCode;
use serde::Deserialize;

/// How requests are answered (`docs/contract.md`, "Behaviours A and B").
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Behaviour}};
///
/// for (behaviour, status) in [(Behaviour::A, 201), (Behaviour::B, 200)] {
///     let settings = ApiSettings { behaviour, ..ApiSettings::default() };
///     let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
///     let body = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
///     let request = http::Request::post("/api/robots").body(body)?;
///     assert_eq!(api.handle(request).status(), status);
/// }
/// # http::Result::Ok(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum Behaviour {
    /// The current one: 201 for a created robot, 409 for a violated rule.
    #[default]
    #[serde(alias = "a")]
    A,
    /// The older one: 200 and 500.
    #[serde(alias = "b")]
    B,
    /// That of `/v1`, whatever the settings are: a robot is returned itself, with all fields, and failures
    /// are problem details (RFC 9457).
    #[serde(skip)]
    C,
}

impl Behaviour {
    /// The status for a created robot.
    pub(super) fn created(self) -> StatusCode {
        match self {
            Self::A | Self::C => StatusCode::CREATED,
            Self::B => StatusCode::OK,
        }
    }

    /// The status for violated rules: whether all of them are that a value is taken.
    pub(super) fn rejected(self, are_taken: bool) -> StatusCode {
        match self {
            Self::B => StatusCode::INTERNAL_SERVER_ERROR,
            Self::C if !are_taken => StatusCode::UNPROCESSABLE_ENTITY,
            Self::A | Self::C => StatusCode::CONFLICT,
        }
    }

    /// Whether this is a behaviour of the contract: data is in its envelope, and unknown parameters and members are
    /// ignored, unless the client prefers otherwise.
    pub(super) fn is_contract(self) -> bool {
        self != Self::C
    }

    /// The number of robots on a page, unless the client chooses another; `None` for all robots.
    pub(super) fn default_limit(self) -> Option<usize> {
        (self == Self::C).then_some(100)
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}
