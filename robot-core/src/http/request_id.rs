//! Request ids, by which a reply is found in the log.

use std::{fmt, str::FromStr};

use ::http::{HeaderMap, HeaderName};
use compact_str::{CompactString, format_compact};

use super::parse_error::ParseError;

/// The id of a request, in the header `X-Request-Id` of its reply and in the log: 1 to 128 characters
/// of `A-Z`, `a-z`, `0-9`, `-`, `_`, `.`, `:`, `/`, `+`, `=` and `@`.
///
/// ```
/// use robot_core::http::RequestId;
///
/// assert_eq!("7f3a-1".parse::<RequestId>()?.as_str(), "7f3a-1");
/// assert!("two words".parse::<RequestId>().is_err());
/// assert_ne!(RequestId::random(), RequestId::random());
/// # Ok::<(), robot_core::http::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(CompactString);

impl RequestId {
    /// The name of the header.
    pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

    const MAXIMUM_LENGTH: usize = 128;

    /// A new id of 16 hexadecimal digits. Two of a million ids are equal with a probability of less than
    /// one in ten million. Other programs may be able to guess it.
    #[must_use]
    pub fn random() -> Self {
        Self(format_compact!("{:016x}", fastrand::u64(..)))
    }

    /// The id that a client has sent, if it is well-formed and the only one; otherwise, a new id.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let mut sent = headers.get_all(Self::HEADER).iter();
        match (sent.next(), sent.next()) {
            (Some(id), None) => id.to_str().ok().and_then(|id| id.parse().ok()),
            _ => None,
        }
        .unwrap_or_else(Self::random)
    }

    /// The id as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for RequestId {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_permitted = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(&byte);
        if (1..=Self::MAXIMUM_LENGTH).contains(&text.len()) && text.bytes().all(is_permitted) {
            Ok(Self(text.into()))
        } else {
            Err(ParseError(
                "a request id has 1 to 128 letters, digits and characters of '-_.:/+=@'".into(),
            ))
        }
    }
}
