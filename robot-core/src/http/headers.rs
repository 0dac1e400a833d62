//! Headers of requests.

use std::borrow::Cow;

use ::http::{
    HeaderMap, HeaderName,
    header::{AsHeaderName, CONTENT_ENCODING, CONTENT_LENGTH},
};

/// Where a browser says which site sent a request.
pub(super) const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Preferences of a client (RFC 7240).
const PREFER: HeaderName = HeaderName::from_static("prefer");
pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// The value of a header. Several lines of a header are equivalent to one line with commas. Bytes that
/// are not UTF-8 are replaced.
pub(super) fn value(headers: &HeaderMap, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
    let mut lines = headers.get_all(name).iter();
    let first = String::from_utf8_lossy(lines.next()?.as_bytes());
    Some(lines.fold(first, |value, line| {
        let line = String::from_utf8_lossy(line.as_bytes());
        format!("{value}, {line}").into()
    }))
}

/// The `Content-Length`, or `usize::MAX` for a number that is out of range. Frontends reject text that
/// is not a number.
pub(super) fn content_length(headers: &HeaderMap) -> Option<usize> {
    let length = value(headers, CONTENT_LENGTH)?;
    Some(length.parse().unwrap_or(usize::MAX))
}

/// Whether a body is compressed, or encoded otherwise.
pub(super) fn has_encoding(headers: &HeaderMap) -> bool {
    let codings = value(headers, CONTENT_ENCODING).unwrap_or_default();
    let mut codings = codings.split(',').map(str::trim);
    codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
}

/// Whether the client prefers an error to an unknown parameter or member that is ignored; `None` if it has no
/// preference.
pub(super) fn is_strict(headers: &HeaderMap) -> Option<bool> {
    let handling = preferred(headers, "handling", ["lenient", "strict"])?;
    Some(handling == "strict")
}

/// The value of a preference (RFC 7240), if it is one of these.
pub(super) fn preferred(
    headers: &HeaderMap,
    name: &str,
    values: [&'static str; 2],
) -> Option<&'static str> {
    let preferences = value(headers, PREFER)?;
    // The first one with this name counts, without its parameters.
    let sent = split_unquoted(&preferences, ',').find_map(|preference| {
        let preference = split_unquoted(preference, ';').next()?;
        let (found, value) = preference.split_once('=').unwrap_or((preference, ""));
        let is_found = found.trim().eq_ignore_ascii_case(name);
        is_found.then(|| value.trim().trim_matches('"'))
    })?;
    let mut values = values.into_iter();
    values.find(|value| value.eq_ignore_ascii_case(sent))
}

/// The parts of a header value between separators that are not in quotation marks.
pub(super) fn split_unquoted(value: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    value.split(move |character| {
        is_quoted ^= character == '"';
        character == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_preference_with_the_name_counts() {
        for (preferences, is_strict) in [
            ("handling=strict", Some(true)),
            ("respond-async, Handling = \"Strict\" ; x=1", Some(true)),
            ("handling=strict;handling=lenient", Some(true)),
            ("handling=strict, handling=lenient", Some(true)),
            ("handling=lenient, handling=strict", Some(false)),
            ("x=\"a, handling=strict\"", None),
            ("x;handling=strict", None),
            ("handling", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(PREFER, preferences.parse().unwrap())]);
            assert_eq!(super::is_strict(&headers), is_strict, "{preferences}");
        }
    }
}
