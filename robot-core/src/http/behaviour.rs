//! The two behaviours of the contract, which differ only in status codes.

use std::{fmt, str::FromStr};

use ::http::StatusCode;

/// The status codes of the mutating operations (`docs/contract.md`, "Behaviours A and B").
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Api, ApiSettings, Behaviour}};
///
/// for (behaviour, status) in [("A", 201), ("B", 200)] {
///     let settings = ApiSettings { behaviour: behaviour.parse()?, ..ApiSettings::default() };
///     let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
///     let body = r#"{"name":"R2-D2","type":"droid","year":1977}"#;
///     let request = http::Request::post("/api/robots").body(body)?;
///     assert_eq!(api.handle(request).status(), status);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Behaviour {
    /// The current one: 201 for a created robot, 409 for a violated rule.
    #[default]
    A,
    /// The older one: 200 and 500.
    B,
}

impl Behaviour {
    /// The status for a created robot.
    pub(super) fn created(self) -> StatusCode {
        match self {
            Self::A => StatusCode::CREATED,
            Self::B => StatusCode::OK,
        }
    }

    /// The status for a draft that violates a rule.
    pub(super) fn rejected(self) -> StatusCode {
        match self {
            Self::A => StatusCode::CONFLICT,
            Self::B => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl fmt::Display for Behaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::A => "A",
            Self::B => "B",
        })
    }
}

/// A text is not a [`Behaviour`].
///
/// ```
/// let error = "C".parse::<robot_core::http::Behaviour>().unwrap_err();
/// assert_eq!(error.to_string(), "the behaviour is A (current) or B (older), not 'C'");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the behaviour is A (current) or B (older), not '{0}'")]
pub struct ParseBehaviourError(String);

impl FromStr for Behaviour {
    type Err = ParseBehaviourError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "A" | "a" => Ok(Self::A),
            "B" | "b" => Ok(Self::B),
            _ => Err(ParseBehaviourError(text.to_owned())),
        }
    }
}
