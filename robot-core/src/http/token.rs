//! Access tokens: the hash of a text, and a permission.
//!
//! The service stores only the SHA-256 hashes of tokens, so its configuration reveals none. A slow
//! hash is unnecessary, because a token consists of 32 random bytes.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};

/// The permission of a client. Writing includes reading.
///
/// ```
/// use robot_core::http::Permission;
///
/// assert!(Permission::Write > Permission::Read);
/// assert_eq!(Permission::Write.name(), "write");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Get, list and search robots.
    Read,
    /// Change robots, too.
    Write,
}

impl Permission {
    pub(super) const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// The name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// An access token as the service stores it: its permission, and the hash of its text.
///
/// A configuration has it as `read:sha256:` or `write:sha256:` with 64 hexadecimal digits:
///
/// ```
/// use robot_core::http::{AccessToken, Permission};
///
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// let written = token.to_string();
/// assert!(written.starts_with("write:sha256:"));
/// assert_eq!(written.parse::<AccessToken>()?, token);
/// # Ok::<(), robot_core::http::ParseTokenError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub(super) permission: Permission,
    /// In lowercase hexadecimal digits.
    pub(super) hash: String,
}

impl AccessToken {
    /// The token with this text and permission. The text must be as hard to guess as 32 random
    /// bytes, because many hashes can be tried in a second.
    #[must_use]
    pub fn of(text: &str, permission: Permission) -> Self {
        Self {
            permission,
            hash: hash(text),
        }
    }
}

/// The hash of a token, in lowercase hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

impl fmt::Display for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:sha256:{}", self.permission, self.hash)
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:sha256:…", self.permission)
    }
}

/// A text is not a token in the format of a configuration. The message does not repeat the text,
/// which may be the secret itself.
///
/// ```
/// use robot_core::http::AccessToken;
///
/// let error = "robots_of_my_own".parse::<AccessToken>().unwrap_err();
/// assert!(!error.to_string().contains("of_my_own"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token is written read:sha256:HASH or write:sha256:HASH, with 64 hexadecimal digits; \
     'robot-cli token new' makes one"
)]
#[non_exhaustive]
pub struct ParseTokenError;

impl FromStr for AccessToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<Self, ParseTokenError> {
        let (permission, digits) = text.split_once(":sha256:").ok_or(ParseTokenError)?;
        let permission = Permission::ALL
            .into_iter()
            .find(|known| known.name() == permission)
            .ok_or(ParseTokenError)?;
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ParseTokenError);
        }
        let hash = digits.to_ascii_lowercase();
        Ok(Self { permission, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITER: &str = "robots_writer";

    #[test]
    fn written_tokens_are_parsed_again() {
        let written = AccessToken::of(WRITER, Permission::Write).to_string();
        let digits = written.strip_prefix("write:sha256:").unwrap();
        assert_eq!(digits.len(), 64);
        assert!(written.to_uppercase().parse::<AccessToken>().is_err());
        let upper = format!("write:sha256:{}", digits.to_uppercase());
        assert_eq!(
            upper.parse(),
            Ok(AccessToken::of(WRITER, Permission::Write))
        );
        for wrong in [
            "",
            WRITER,
            digits,
            &format!("sha256:{digits}"),
            &format!("admin:sha256:{digits}"),
            &format!("write:md5:{digits}"),
            &format!("write:sha256:{digits}0"),
            &format!("write:sha256:{}", &digits[1..]),
            &format!("write:sha256:+{}", &digits[1..]),
            &format!("write:sha256:é{}", &digits[2..]),
        ] {
            assert_eq!(
                wrong.parse::<AccessToken>(),
                Err(ParseTokenError),
                "{wrong}"
            );
        }
    }

    #[test]
    fn debug_output_omits_the_hash() {
        let token = AccessToken::of(WRITER, Permission::Write);
        assert_eq!(format!("{token:?}"), "write:sha256:…");
    }
}
