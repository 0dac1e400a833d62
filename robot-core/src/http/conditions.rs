//! Conditional requests (RFC 9110, section 13): a robot's revision as its entity tag.

use ::http::{HeaderMap, StatusCode, header::ETAG};

use super::{
    failure::Failure,
    headers::{split_unquoted, value},
    response::{self, HandlerResult, Response},
};
use crate::{catalogue::Error, model::Revision};

/// The number of attempts to change a robot under conditions that have to be compared with its
/// current revision. Fewer, and changes are rejected while others change the robot; more, and each
/// occupies a thread for longer.
pub(super) const ATTEMPTS: usize = 32;

/// The conditions of a request. The default has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Conditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

/// The value of `If-Match` or `If-None-Match`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tags {
    /// `*`: every robot that exists.
    Any,
    /// The revisions that are listed. Other tags match no robot, and are left out.
    Listed(Vec<Revision>),
}

impl Conditions {
    /// The conditions of a `GET`. A malformed `If-None-Match` is ignored: the whole robot is always a
    /// correct answer.
    pub(super) fn of_read(headers: &HeaderMap) -> Result<Self, Failure> {
        Ok(Self {
            if_match: tags(headers, "If-Match")?,
            if_none_match: tags(headers, "If-None-Match").unwrap_or_default(),
        })
    }

    /// The conditions of a change.
    pub(super) fn of_change(headers: &HeaderMap) -> Result<Self, Failure> {
        Ok(Self {
            if_match: tags(headers, "If-Match")?,
            if_none_match: tags(headers, "If-None-Match")?,
        })
    }

    /// Whether `If-None-Match` lists the revision: a client that reads has this state already.
    fn excludes(&self, revision: Revision) -> bool {
        let tags = self.if_none_match.as_ref();
        tags.is_some_and(|tags| tags.include(revision))
    }

    /// An error if `If-Match` does not list the revision.
    fn match_revision(&self, revision: Revision) -> Result<(), Failure> {
        match &self.if_match {
            Some(tags) if !tags.include(revision) => Err(Failure::Stale),
            _ => Ok(()),
        }
    }

    /// The reply to a `GET` of what has this revision: its JSON, unless the client has it already.
    pub(super) fn reply(
        &self,
        revision: Revision,
        json: impl FnOnce() -> Vec<u8>,
    ) -> Result<Response, Failure> {
        self.match_revision(revision)?;
        let response = if self.excludes(revision) {
            response::whole(StatusCode::NOT_MODIFIED, Vec::new())
        } else {
            response::ok(json())
        };
        Ok(tagged(response, revision))
    }

    /// An error unless a robot with this revision may be changed. `If-Match` is compared first.
    pub(super) fn permit_change(&self, revision: Revision) -> Result<(), Failure> {
        self.match_revision(revision)?;
        if self.excludes(revision) {
            return Err(Failure::Excluded);
        }
        Ok(())
    }

    /// Whether every robot that exists may be changed, whatever its revision is.
    pub(super) fn permit_all(&self) -> bool {
        matches!(
            (&self.if_match, &self.if_none_match),
            (None | Some(Tags::Any), None)
        )
    }
}

/// Reads and changes robots, and again if another client was faster.
pub(super) fn repeat(attempts: usize, attempt: impl Fn() -> HandlerResult) -> HandlerResult {
    for _ in 0..attempts {
        match attempt() {
            Err(Failure::Store(Error::Stale(_))) => {}
            changed => return changed,
        }
    }
    Err(Failure::Unavailable)
}

/// A response with a revision.
pub(super) fn tagged(mut response: Response, revision: Revision) -> Response {
    let etag = format!("\"{revision}\"");
    response::set(response.headers_mut(), ETAG, etag);
    response
}

fn tags(headers: &HeaderMap, name: &str) -> Result<Option<Tags>, Failure> {
    let tags = value(headers, name).map(|value| {
        Tags::parse(&value).ok_or_else(|| {
            Failure::malformed(format!(
                "{name} is malformed; send an ETag of the service with its quotation marks, such as \"3\""
            ))
        })
    });
    tags.transpose()
}

impl Tags {
    /// Parses `*` or a list of entity tags; `None` if it is malformed.
    ///
    /// `W/` is ignored. `If-Match` would have to reject weak tags, but a proxy that compresses
    /// replies weakens ours, and they still name the revision.
    fn parse(value: &str) -> Option<Self> {
        if value.trim_matches(WHITE_SPACE) == "*" {
            return Some(Self::Any);
        }
        let tags = split_unquoted(value, ',').map(|tag| tag.trim_matches(WHITE_SPACE));
        let revisions = tags.filter(|tag| !tag.is_empty()).map(|tag| {
            let quoted = tag.strip_prefix("W/").unwrap_or(tag).strip_prefix('"')?;
            let text = quoted.strip_suffix('"')?;
            let is_invalid =
                |character: char| matches!(character, '"' | ' ') || character.is_ascii_control();
            (!text.contains(is_invalid)).then(|| text.parse::<Revision>().ok())
        });
        let revisions = revisions.collect::<Option<Vec<_>>>()?;
        (!revisions.is_empty()).then(|| Self::Listed(revisions.into_iter().flatten().collect()))
    }

    fn include(&self, revision: Revision) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(revisions) => revisions.contains(&revision),
        }
    }
}

/// The white space of headers.
const WHITE_SPACE: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(value: &str) -> Option<Vec<i64>> {
        match Tags::parse(value)? {
            Tags::Any => None,
            Tags::Listed(revisions) => Some(revisions.into_iter().map(Revision::get).collect()),
        }
    }

    #[test]
    fn revisions_of_a_list_are_parsed() {
        for (value, revisions) in [
            ("\"3\"", &[3][..]),
            (" W/\"3\"\t", &[3]),
            ("\"1\", W/\"2\",,\"2\" , \"é,x\"", &[1, 2, 2]),
            ("\"\"", &[]),
            ("\"03\", \"+3\", \"0\", \"-1\", \"3-gzip\"", &[]),
            ("\"9223372036854775808\"", &[]),
            ("\"a,b\", \"*\"", &[]),
        ] {
            assert_eq!(listed(value).as_deref(), Some(revisions), "{value}");
        }
        assert_eq!(Tags::parse(" * "), Some(Tags::Any));
    }

    #[test]
    fn malformed_values_are_rejected() {
        for value in [
            "",
            " ",
            ",",
            "3",
            "*, \"3\"",
            "\"3\", *",
            "\"3",
            "3\"",
            "w/\"3\"",
            "W/3",
            "W/ \"3\"",
            "\"3\" \"4\"",
            "\"3\"x",
            "\"3 4\"",
            "\"3\u{1}\"",
            "**",
        ] {
            assert_eq!(Tags::parse(value), None, "{value}");
        }
    }
}
