//! Permissions of clients: those of access tokens, and the permission without a token.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use super::token::{AccessToken, Permission, TokenName, fingerprint, hash};

/// The permissions of all clients. Clones share them, so that [`replace`](Self::replace) also affects
/// the [`Api`](super::Api) that has a clone.
///
/// ```
/// use std::sync::Arc;
/// use robot_core::{MemoryCatalogue, http::{Access, AccessToken, Api, ApiSettings, Permission}};
///
/// // Reading needs no token, writing does.
/// let token = AccessToken::of("robots_of_my_own", Permission::Write);
/// let access = Access::new(vec![token], Some(Permission::Read));
/// let settings = ApiSettings { access, ..ApiSettings::default() };
/// let api = Api::with_settings(Arc::new(MemoryCatalogue::new()), settings);
/// assert_eq!(api.handle(http::Request::get("/api/robots").body("")?).status(), 200);
///
/// let post = || http::Request::post("/api/robots");
/// let body = r#"{"name":"R2","type":"droid","year":1}"#;
/// assert_eq!(api.handle(post().body(body)?).status(), 401);
/// let request = post().header("authorization", "Bearer robots_of_my_own").body(body)?;
/// assert_eq!(api.handle(request).status(), 201);
/// # http::Result::Ok(())
/// ```
#[derive(Debug, Clone)]
pub struct Access {
    current: Arc<RwLock<Arc<Rules>>>,
}

/// The permissions at one time.
#[derive(Debug)]
struct Rules {
    tokens: Vec<AccessToken>,
    anonymous: Option<Permission>,
}

impl Default for Access {
    /// Every client may read, write and change the definition.
    fn default() -> Self {
        Self::new(Vec::new(), Some(Permission::Define))
    }
}

impl Access {
    /// Clients with one of these tokens have its permission, and those without a token have
    /// `anonymous`.
    #[must_use]
    pub fn new(tokens: Vec<AccessToken>, anonymous: Option<Permission>) -> Self {
        Self {
            current: Arc::new(RwLock::new(Arc::new(Rules { tokens, anonymous }))),
        }
    }

    /// Replaces the permissions by those of another. Requests that are received from then on have
    /// them, also on open connections.
    ///
    /// ```
    /// use robot_core::http::{Access, Permission};
    ///
    /// let access = Access::default();
    /// let clone = access.clone();
    /// access.replace(&Access::new(Vec::new(), Some(Permission::Read)));
    /// assert_eq!(clone.to_string(), "read: anyone, write: 0 token(s), define: 0 token(s)");
    /// ```
    pub fn replace(&self, other: &Self) {
        let rules = other.rules();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// The tokens.
    ///
    /// ```
    /// use robot_core::http::{Access, AccessToken, Permission};
    ///
    /// let token = AccessToken::of("robots_of_my_own", Permission::Write);
    /// let access = Access::new(vec![token.clone()], None);
    /// assert_eq!(access.tokens(), [token]);
    /// ```
    #[must_use]
    pub fn tokens(&self) -> Vec<AccessToken> {
        self.rules().tokens.clone()
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The client that sent these credentials (the header `Authorization`). They are ignored if there are no tokens.
    pub(super) fn client(&self, credentials: Option<&str>) -> Client {
        let rules = self.rules();
        let sent = credentials.filter(|_| !rules.tokens.is_empty());
        let Some(text) = sent.and_then(bearer) else {
            return Client::Anonymous(rules.anonymous);
        };
        let hash = hash(text);
        // The comparison need not take constant time: its duration reveals at most how many leading
        // characters of a hash are right, which does not help to find the 32 random bytes of a token.
        let known = rules.tokens.iter().filter(|known| known.hash == hash);
        match known.max_by_key(|known| known.permission) {
            Some(token) => Client::Known(token.permission, token.name.clone()),
            None => Client::Unknown(fingerprint(&hash)),
        }
    }
}

/// The client that sent a request, by its token.
#[derive(Debug)]
pub(super) enum Client {
    /// A client without a token, and its permission.
    Anonymous(Option<Permission>),
    /// The permission and the name of its token.
    Known(Permission, Option<TokenName>),
    /// The [fingerprint](AccessToken::fingerprint) of its token, which is not known.
    Unknown(String),
}

impl Client {
    /// The name of its token.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Known(_, name) => name.as_ref().map(TokenName::as_str),
            _ => None,
        }
    }

    /// An error unless the client has this permission.
    pub(super) fn check(&self, needed: Permission) -> Result<(), AccessError> {
        match self {
            Self::Anonymous(permission) if *permission >= Some(needed) => Ok(()),
            Self::Anonymous(_) => Err(AccessError::NoToken),
            Self::Known(permission, _) if *permission >= needed => Ok(()),
            Self::Known(..) => Err(AccessError::Insufficient(needed)),
            Self::Unknown(_) => Err(AccessError::UnknownToken),
        }
    }
}

impl fmt::Display for Access {
    /// The number of tokens that give each permission: `read: anyone, write: 2 token(s), define: 0 token(s)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.rules();
        let holders = Permission::ALL.map(|needed| {
            if rules.anonymous >= Some(needed) {
                return format!("{needed}: anyone");
            }
            let tokens = rules.tokens.iter();
            let count = tokens.filter(|token| token.permission >= needed).count();
            format!("{needed}: {count} token(s)")
        });
        formatter.write_str(&holders.join(", "))
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
/// use robot_core::http::{AccessError, Behaviour, Failure, Permission};
///
/// let failure = Failure::NotPermitted(AccessError::Insufficient(Permission::Write));
/// assert_eq!(failure.status(Behaviour::A), 403);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A token is required, and none was sent.
    #[error("A token is required; send one in the header Authorization: Bearer TOKEN")]
    NoToken,
    /// The token that was sent is not known.
    #[error("The token in Authorization is unknown to this service; ask its operator for one")]
    UnknownToken,
    /// The token that was sent does not have this permission.
    #[error("This token does not permit to {0}; send one that does")]
    Insufficient(Permission),
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: &str = "robots_reader";
    const WRITER: &str = "robots_writer";

    fn check(
        access: &Access,
        credentials: Option<&str>,
        needed: Permission,
    ) -> Result<(), AccessError> {
        access.client(credentials).check(needed)
    }

    fn access(anonymous: Option<Permission>) -> Access {
        let tokens = [(READER, Permission::Read), (WRITER, Permission::Write)];
        let tokens = tokens.map(|(text, permission)| AccessToken::of(text, permission));
        Access::new(tokens.into(), anonymous)
    }

    #[test]
    fn token_gives_its_permission() {
        let access = access(None);
        let check = |token: &str, needed| check(&access, Some(&format!("Bearer {token}")), needed);
        assert_eq!(check(READER, Permission::Read), Ok(()));
        assert_eq!(
            check(READER, Permission::Write),
            Err(AccessError::Insufficient(Permission::Write))
        );
        assert_eq!(check(WRITER, Permission::Read), Ok(()));
        assert_eq!(check(WRITER, Permission::Write), Ok(()));
    }

    #[test]
    fn client_is_named_by_its_token() {
        let named = AccessToken::of(READER, Permission::Read).named("ci".parse().unwrap());
        let unnamed = AccessToken::of(WRITER, Permission::Write);
        let revoked = AccessToken::of("robots_revoked", Permission::Read).fingerprint();
        let access = Access::new(vec![named, unnamed], Some(Permission::Read));
        for (credentials, expected) in [
            (
                Some("Bearer robots_reader"),
                "Known(Read, Some(TokenName(\"ci\")))",
            ),
            (Some("Bearer robots_writer"), "Known(Write, None)"),
            (
                Some("Bearer robots_revoked"),
                &format!("Unknown({revoked:?})"),
            ),
            (Some("Basic x"), "Anonymous(Some(Read))"),
            (None, "Anonymous(Some(Read))"),
        ] {
            assert_eq!(format!("{:?}", access.client(credentials)), expected);
        }
    }

    #[test]
    fn replaced_permissions_apply_to_clones() {
        let first = access(None);
        let clone = first.clone();
        let writer = Some("Bearer robots_writer");
        assert_eq!(check(&clone, writer, Permission::Write), Ok(()));
        let reader = AccessToken::of(READER, Permission::Read);
        first.replace(&Access::new(vec![reader], None));
        assert_eq!(
            check(&clone, writer, Permission::Write),
            Err(AccessError::UnknownToken)
        );
        assert_eq!(clone.tokens(), first.tokens());
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
                let checked = check(&access, Some(unknown), needed);
                assert_eq!(checked, Err(AccessError::UnknownToken), "{unknown}");
            }
            for none in [
                None,
                Some(""),
                Some("Bearer"),
                Some("robots_writer"),
                Some("Basic cm9ib3RzX3dyaXRlcg=="),
            ] {
                assert_eq!(check(&access, none, needed), Err(AccessError::NoToken));
            }
        }
        assert_eq!(
            check(&access, Some("bEARER   robots_writer "), Permission::Write),
            Ok(()),
            "the scheme is case-insensitive"
        );
    }

    #[test]
    fn anonymous_clients_may_be_allowed_to_read() {
        let access = access(Some(Permission::Read));
        assert_eq!(check(&access, None, Permission::Read), Ok(()));
        for none in [None, Some("Basic x")] {
            assert_eq!(
                check(&access, none, Permission::Write),
                Err(AccessError::NoToken)
            );
        }
        assert_eq!(
            check(&access, Some("Bearer wrong"), Permission::Read),
            Err(AccessError::UnknownToken)
        );
        assert_eq!(
            check(&access, Some("Bearer robots_writer"), Permission::Write),
            Ok(())
        );
    }

    #[test]
    fn credentials_are_ignored_without_tokens() {
        let access = Access::default();
        for credentials in [None, Some("Bearer whatever"), Some("Basic x")] {
            assert_eq!(check(&access, credentials, Permission::Write), Ok(()));
        }
    }

    #[test]
    fn access_displays_readers_and_writers() {
        let reader = || AccessToken::of(READER, Permission::Read);
        let writer = || AccessToken::of(WRITER, Permission::Write);
        for (access, text) in [
            (
                Access::default(),
                "read: anyone, write: anyone, define: anyone",
            ),
            (
                access(None),
                "read: 2 token(s), write: 1 token(s), define: 0 token(s)",
            ),
            (
                access(Some(Permission::Read)),
                "read: anyone, write: 1 token(s), define: 0 token(s)",
            ),
            (
                Access::new(vec![writer(), writer()], None),
                "read: 2 token(s), write: 2 token(s), define: 0 token(s)",
            ),
            (
                Access::new(vec![reader()], None),
                "read: 1 token(s), write: 0 token(s), define: 0 token(s)",
            ),
        ] {
            assert_eq!(access.to_string(), text);
        }
    }
}
