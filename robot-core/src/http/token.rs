//! Access tokens: the hash of a text, and a permission.
//!
//! The service stores only the SHA-256 hashes of tokens, so its configuration reveals none. A slow
//! hash is unnecessary, because a token consists of 32 random bytes.

use std::{fmt, str::FromStr, sync::Arc};

use sha2::{Digest, Sha256};

use super::parse_error::ParseError;

/// The permission of a client. Each includes those before it.
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
    /// Change the definition of the catalogue, too.
    Define,
}

impl Permission {
    /// All permissions; each includes those before it.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Define];

    /// The name in a configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Define => "define",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The name of an access token, which logs show, and by which it is revoked: 1 to 32 characters of
/// `a-z`, `0-9`, `-`, `_` and `.`.
///
/// ```
/// use robot_core::http::TokenName;
///
/// assert_eq!("ci-2".parse::<TokenName>()?.as_str(), "ci-2");
/// assert!("CI 2".parse::<TokenName>().is_err());
/// # Ok::<(), robot_core::http::ParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenName(Arc<str>);

impl TokenName {
    const MAXIMUM_LENGTH: usize = 32;

    /// What logs and metrics have in place of a name if there is none.
    const RESERVED: &str = "none";

    /// The name as a text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for TokenName {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let is_permitted = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.');
        let has_length = (1..=Self::MAXIMUM_LENGTH).contains(&text.len());
        if has_length && text.bytes().all(is_permitted) && text != Self::RESERVED {
            Ok(Self(text.into()))
        } else {
            Err(ParseError(
                "the name of a token has 1 to 32 characters of a-z, 0-9, '-', '_' and '.', and is not \
                 'none'; choose another"
                    .into(),
            ))
        }
    }
}

/// An access token as the service stores it: its permission, the hash of its text, and perhaps a
/// name.
///
/// A configuration has it as `read:sha256:`, `write:sha256:` or `define:sha256:` with 64 hexadecimal digits. A name
/// stands after the permission, as in `write:ci:sha256:`.
///
/// ```
/// use robot_core::http::{AccessToken, Permission};
///
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// let written = token.to_string();
/// assert!(written.starts_with("write:sha256:"));
/// assert_eq!(written.parse::<AccessToken>()?, token);
///
/// let token = token.named("ci".parse()?);
/// assert!(token.to_string().starts_with("write:ci:sha256:"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub(super) permission: Permission,
    pub(super) name: Option<TokenName>,
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
            name: None,
            hash: hash(text),
        }
    }

    /// The same token with this name.
    #[must_use]
    pub fn named(mut self, name: TokenName) -> Self {
        self.name = Some(name);
        self
    }

    /// The first 8 digits of the hash, by which a log identifies a token without revealing it:
    /// `sha256:1a2b3c4d`.
    ///
    /// ```
    /// use robot_core::http::{AccessToken, Permission};
    ///
    /// let token = AccessToken::of("robots_of_my_own", Permission::Write);
    /// assert!(token.to_string().contains(&token.fingerprint()));
    /// ```
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.hash)
    }

    /// What stands before the hash: `write:ci:`.
    fn prefix(&self) -> String {
        match &self.name {
            Some(name) => format!("{}:{name}:", self.permission),
            None => format!("{}:", self.permission),
        }
    }
}

/// The start of a hash, for [`AccessToken::fingerprint`].
pub(super) fn fingerprint(hash: &str) -> String {
    format!("sha256:{hash:.8}")
}

/// The hash of a token, in lowercase hexadecimal digits.
pub(super) fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

impl fmt::Display for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}sha256:{}", self.prefix(), self.hash)
    }
}

impl fmt::Debug for AccessToken {
    /// Without most of the hash: `write:ci:sha256:1a2b3c4d…`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}…", self.prefix(), self.fingerprint())
    }
}

impl FromStr for AccessToken {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = ParseError(
            "a token is written read:sha256:HASH, write:sha256:HASH or define:sha256:HASH, or with a name \
             write:NAME:sha256:HASH, with 64 hexadecimal digits; 'robot-cli token new' makes one"
                .into(),
        );
        let parts: Vec<_> = text.split(':').collect();
        let (permission, name, digits) = match parts[..] {
            [permission, "sha256", digits] => (permission, None, digits),
            [permission, name, "sha256", digits] => (permission, Some(name), digits),
            _ => return Err(error),
        };
        let mut all = Permission::ALL.into_iter();
        let Some(permission) = all.find(|known| known.name() == permission) else {
            return Err(error);
        };
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(error);
        }
        Ok(Self {
            permission,
            name: name.map(str::parse).transpose()?,
            hash: digits.to_ascii_lowercase(),
        })
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
            let error = wrong.parse::<AccessToken>().unwrap_err();
            assert!(error.to_string().contains("robot-cli token new"), "{wrong}");
        }
    }

    #[test]
    fn named_tokens_are_parsed_again() {
        let token = AccessToken::of(WRITER, Permission::Write);
        let longest = "a".repeat(32);
        for name in ["ci", "a", "0.9_x-", "sha256", &longest] {
            let named = token.clone().named(name.parse().unwrap());
            let written = named.to_string();
            assert!(written.starts_with(&format!("write:{name}:sha256:")));
            let parsed: AccessToken = written.parse().unwrap();
            assert_eq!(parsed, named);
            assert_eq!(parsed.name.as_ref().map(TokenName::as_str), Some(name));
        }
    }

    #[test]
    fn invalid_names_are_rejected_without_repeating_them() {
        let too_long = "a".repeat(33);
        for name in ["", "CI", "a b", "é", "a/b", "a\n", &too_long] {
            let text = format!("write:{name}:sha256:{}", hash(WRITER));
            let error = text.parse::<AccessToken>().unwrap_err();
            assert!(error.to_string().contains("choose another"));
        }
        let two_names = format!("write:a:b:sha256:{}", hash(WRITER));
        assert!(two_names.parse::<AccessToken>().is_err());
    }

    #[test]
    fn debug_output_has_only_the_start_of_the_hash() {
        let token = AccessToken::of(WRITER, Permission::Write);
        let start = &hash(WRITER)[..8];
        assert_eq!(format!("{token:?}"), format!("write:sha256:{start}…"));
    }
}
