//! Who may do what: tokens, and what those may do who show none.
//!
//! The server knows a token by its SHA-256 alone. A token is made of 32 random bytes, so nothing
//! slower is needed to keep its text from being found, and whoever reads the configuration has
//! no token.

use std::{fmt, str::FromStr};

use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

/// What somebody may do. Who may write may read, too.
///
/// ```
/// use robot_core::http::Permission;
///
/// assert!(Permission::Write > Permission::Read);
/// assert_eq!(Permission::Write.name(), "write");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// To get, list and search robots.
    Read,
    /// To change them, too.
    Write,
}

impl Permission {
    const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// The word for it in a configuration.
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

/// A token, as the server knows it: what it permits, and the hash of its text.
///
/// In a configuration it is written `read:sha256:` or `write:sha256:` and 64 hexadecimal digits:
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
    permission: Permission,
    hash: [u8; 32],
}

impl AccessToken {
    /// The token of a text, which permits this. The text should be as hard to guess as 32 random
    /// bytes are, since its hash is quickly tried.
    #[must_use]
    pub fn of(text: &str, permission: Permission) -> Self {
        Self {
            permission,
            hash: hash(text),
        }
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

impl fmt::Display for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:sha256:", self.permission)?;
        self.hash
            .iter()
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:sha256:…", self.permission)
    }
}

/// A text is no token as a configuration writes it. The message does not repeat the text, which
/// may be a token itself.
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
        // Signs are no digits, though Rust's integers are read with one.
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ParseTokenError);
        }
        let mut hash = [0; 32];
        for (index, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * index..2 * index + 2], 16)
                .map_err(|_| ParseTokenError)?;
        }
        Ok(Self { permission, hash })
    }
}

/// Who may do what.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Access, AccessToken, Api, Permission, Request}};
///
/// // Everybody may read, and who has the token may write, too.
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// let access = Access::new(vec![token], Some(Permission::Read));
/// let api = Api::new(Arc::new(MemoryCatalogue::new())).access(access);
/// assert_eq!(api.handle(Request::new("GET", "/api/robots")).status, 200);
///
/// let post = || Request::new("POST", "/api/robots").body(r#"{"name":"R2","type":"droid","year":1}"#);
/// assert_eq!(api.handle(post()).status, 401);
/// let mut request = post();
/// request.header("Authorization", b"Bearer robots_of_my_own");
/// assert_eq!(api.handle(request).status, 201);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    tokens: Vec<AccessToken>,
    anonymous: Option<Permission>,
}

impl Default for Access {
    /// Everybody may do everything.
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            anonymous: Some(Permission::Write),
        }
    }
}

impl Access {
    /// Those with one of these tokens may do what it permits, and others what `anonymous` says.
    #[must_use]
    pub fn new(tokens: Vec<AccessToken>, anonymous: Option<Permission>) -> Self {
        Self { tokens, anonymous }
    }

    /// Whether somebody with these credentials (the header `Authorization`) may do something.
    /// Where there are no tokens, credentials count for nothing. Otherwise one that is wrong is
    /// told even where none is needed, because its sender believes that it is right.
    pub(super) fn check(
        &self,
        credentials: Option<&str>,
        needed: Permission,
    ) -> Result<(), AccessError> {
        let presented = credentials.filter(|_| !self.tokens.is_empty());
        let token = presented.and_then(bearer);
        let permitted = match token {
            Some(token) => self.permitted(token).ok_or(AccessError::UnknownToken)?,
            None => self.anonymous.ok_or(AccessError::NoToken)?,
        };
        match token {
            _ if permitted >= needed => Ok(()),
            Some(_) => Err(AccessError::MayOnlyRead),
            None => Err(AccessError::NoToken),
        }
    }

    /// What a token permits, if it is known. However many bytes of it are right, and whichever
    /// of the known tokens it is, this takes the same time.
    fn permitted(&self, token: &str) -> Option<Permission> {
        let hash = hash(token);
        let mut found = 0;
        for known in &self.tokens {
            let is_same: Choice = known.hash.ct_eq(&hash);
            let rank = match known.permission {
                Permission::Read => 1_u8,
                Permission::Write => 2,
            };
            found = u8::conditional_select(&found, &rank.max(found), is_same);
        }
        match found {
            0 => None,
            1 => Some(Permission::Read),
            _ => Some(Permission::Write),
        }
    }
}

/// The token in a header `Authorization` (RFC 6750); `None` where it is of another scheme.
fn bearer(credentials: &str) -> Option<&str> {
    let (scheme, token) = credentials.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Why somebody may not do something.
///
/// ```
/// use robot_core::http::{AccessError, Behaviour, Failure};
///
/// let failure = Failure::NotPermitted(AccessError::MayOnlyRead);
/// assert_eq!(failure.status(Behaviour::A), 403);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// It takes a token, and none was sent.
    NoToken,
    /// The token that was sent is none of those that are known.
    UnknownToken,
    /// The token that was sent permits no changes.
    MayOnlyRead,
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: &str = "robots_reader";
    const WRITER: &str = "robots_writer";

    fn access(anonymous: Option<Permission>) -> Access {
        let tokens = [(READER, Permission::Read), (WRITER, Permission::Write)];
        let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
        Access::new(tokens.into(), anonymous)
    }

    #[test]
    fn a_token_permits_what_it_says() {
        let access = access(None);
        let check = |token: &str, needed| access.check(Some(&format!("Bearer {token}")), needed);
        assert_eq!(check(READER, Permission::Read), Ok(()));
        assert_eq!(
            check(READER, Permission::Write),
            Err(AccessError::MayOnlyRead)
        );
        assert_eq!(check(WRITER, Permission::Read), Ok(()));
        assert_eq!(check(WRITER, Permission::Write), Ok(()));
    }

    #[test]
    fn other_credentials_permit_nothing() {
        let access = access(None);
        for needed in Permission::ALL {
            for unknown in [
                "Bearer ",
                "Bearer robots_write",
                "Bearer robots_writer2",
                "bearer ROBOTS_WRITER",
                "Bearer robots_writer, Bearer robots_writer",
            ] {
                let checked = access.check(Some(unknown), needed);
                assert_eq!(checked, Err(AccessError::UnknownToken), "{unknown}");
            }
            for none in [
                None,
                Some(""),
                Some("Bearer"),
                Some("robots_writer"),
                Some("Basic cm9ib3RzX3dyaXRlcg=="),
            ] {
                assert_eq!(access.check(none, needed), Err(AccessError::NoToken));
            }
        }
        assert_eq!(
            access.check(Some("bEARER   robots_writer "), Permission::Write),
            Ok(()),
            "the scheme is the same in either case"
        );
    }

    #[test]
    fn reads_may_be_open() {
        let access = access(Some(Permission::Read));
        assert_eq!(access.check(None, Permission::Read), Ok(()));
        for none in [None, Some("Basic x")] {
            assert_eq!(
                access.check(none, Permission::Write),
                Err(AccessError::NoToken)
            );
        }
        assert_eq!(
            access.check(Some("Bearer wrong"), Permission::Read),
            Err(AccessError::UnknownToken)
        );
        assert_eq!(
            access.check(Some("Bearer robots_writer"), Permission::Write),
            Ok(())
        );
    }

    #[test]
    fn without_tokens_credentials_count_for_nothing() {
        let access = Access::default();
        for credentials in [None, Some("Bearer whatever"), Some("Basic x")] {
            assert_eq!(access.check(credentials, Permission::Write), Ok(()));
        }
    }

    #[test]
    fn tokens_are_read_as_they_are_written() {
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
    fn no_hash_is_in_a_log() {
        let token = AccessToken::of(WRITER, Permission::Write);
        assert_eq!(format!("{token:?}"), "write:sha256:…");
    }
}
