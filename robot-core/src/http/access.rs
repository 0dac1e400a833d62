//! Permissions of clients: access tokens, and the permission without a token.
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
    const ALL: [Self; 2] = [Self::Read, Self::Write];

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
    permission: Permission,
    /// In lowercase hexadecimal digits.
    hash: String,
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

fn hash(text: &str) -> String {
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

/// The permissions of all clients.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Access, AccessToken, Api, Permission, Request}};
///
/// // Reading needs no token, writing does.
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
    /// Every client may write.
    fn default() -> Self {
        Self {
            tokens: Vec::new(),
            anonymous: Some(Permission::Write),
        }
    }
}

impl Access {
    /// Clients with one of these tokens have its permission, and those without a token have
    /// `anonymous`.
    #[must_use]
    pub fn new(tokens: Vec<AccessToken>, anonymous: Option<Permission>) -> Self {
        Self { tokens, anonymous }
    }

    /// The clients that have a permission.
    fn holders(&self, needed: Permission) -> String {
        if self.anonymous >= Some(needed) {
            return "anyone".to_owned();
        }
        let permitting = |token: &&AccessToken| token.permission >= needed;
        match self.tokens.iter().filter(permitting).count() {
            0 => "no client".to_owned(),
            1 => "holders of 1 token".to_owned(),
            count => format!("holders of {count} tokens"),
        }
    }

    /// Checks whether these credentials (the header `Authorization`) give the permission that is
    /// needed. If there are tokens, an unknown one is rejected even if none is needed, because its
    /// sender believes that it is valid.
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
            Some(_) => Err(AccessError::ReadOnlyToken),
            None => Err(AccessError::NoToken),
        }
    }

    /// The permission of a token, if it is known.
    ///
    /// The comparison need not take constant time: its duration reveals at most how long a prefix of
    /// a hash is right, which does not help to find the 32 random
    /// bytes of a token.
    fn permitted(&self, token: &str) -> Option<Permission> {
        let hash = hash(token);
        let tokens = self.tokens.iter().filter(|known| known.hash == hash);
        tokens.map(|known| known.permission).max()
    }
}

impl fmt::Display for Access {
    /// Which clients may read and write: `anyone may read, holders of 2 tokens may write`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [readers, writers] = Permission::ALL.map(|needed| self.holders(needed));
        if readers == writers {
            write!(formatter, "{readers} may read and write")
        } else {
            write!(formatter, "{readers} may read, {writers} may write")
        }
    }
}

/// The token in a header `Authorization` (RFC 6750); `None` for another scheme.
fn bearer(credentials: &str) -> Option<&str> {
    let (scheme, token) = credentials.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

/// Why a client does not have a permission.
///
/// ```
/// use robot_core::http::{AccessError, Behaviour, Failure};
///
/// let failure = Failure::NotPermitted(AccessError::ReadOnlyToken);
/// assert_eq!(failure.status(Behaviour::A), 403);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessError {
    /// A token is required, and none was sent.
    NoToken,
    /// The token that was sent is not known.
    UnknownToken,
    /// The token that was sent permits only reading.
    ReadOnlyToken,
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
    fn token_gives_its_permission() {
        let access = access(None);
        let check = |token: &str, needed| access.check(Some(&format!("Bearer {token}")), needed);
        assert_eq!(check(READER, Permission::Read), Ok(()));
        assert_eq!(
            check(READER, Permission::Write),
            Err(AccessError::ReadOnlyToken)
        );
        assert_eq!(check(WRITER, Permission::Read), Ok(()));
        assert_eq!(check(WRITER, Permission::Write), Ok(()));
    }

    #[test]
    fn unknown_credentials_give_no_permission() {
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
            "the scheme is case-insensitive"
        );
    }

    #[test]
    fn anonymous_clients_may_be_allowed_to_read() {
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
    fn credentials_are_ignored_without_tokens() {
        let access = Access::default();
        for credentials in [None, Some("Bearer whatever"), Some("Basic x")] {
            assert_eq!(access.check(credentials, Permission::Write), Ok(()));
        }
    }

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
    fn access_displays_readers_and_writers() {
        let reader = || AccessToken::of(READER, Permission::Read);
        let writer = || AccessToken::of(WRITER, Permission::Write);
        for (access, text) in [
            (Access::default(), "anyone may read and write"),
            (
                access(None),
                "holders of 2 tokens may read, holders of 1 token may write",
            ),
            (
                access(Some(Permission::Read)),
                "anyone may read, holders of 1 token may write",
            ),
            (
                Access::new(vec![writer(), writer()], None),
                "holders of 2 tokens may read and write",
            ),
            (
                Access::new(vec![reader()], None),
                "holders of 1 token may read, no client may write",
            ),
        ] {
            assert_eq!(access.to_string(), text);
        }
    }

    #[test]
    fn debug_output_omits_the_hash() {
        let token = AccessToken::of(WRITER, Permission::Write);
        assert_eq!(format!("{token:?}"), "write:sha256:…");
    }
}
