//! The error of texts that settings have.

use std::borrow::Cow;

/// A text is not the name of a host, an origin, a token, the name of a token or the id of a request. The message says
/// what it must be. It does not repeat what may be a secret.
///
/// ```
/// use robot_core::http::{AccessToken, HostName};
///
/// let error = "https://robots.example".parse::<HostName>().unwrap_err();
/// assert!(error.to_string().starts_with("'https://robots.example' is not a host name"));
/// let error = "robots_of_my_own".parse::<AccessToken>().unwrap_err();
/// assert!(!error.to_string().contains("of_my_own"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseError(pub(super) Cow<'static, str>);
