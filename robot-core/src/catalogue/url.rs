//! URLs of catalogues: their scheme, and what of them may be shown.

/// A URL without its credentials and parameters, to be shown to people.
///
/// ```
/// use robot_core::redact;
///
/// assert_eq!(redact("postgres://robots:secret@db.example/robots"), "postgres://db.example/robots");
/// assert_eq!(redact("postgres://db/robots?password=secret"), "postgres://db/robots");
/// // What follows the question mark may be part of a password.
/// assert_eq!(redact("postgres://robots:se?cret@db/robots"), "postgres://...");
/// assert_eq!(redact("sqlite:///var/lib/robots.db"), "sqlite:///var/lib/robots.db");
/// ```
#[must_use]
pub fn redact(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return format!("{}:", scheme_of(url));
    };
    // All of it is a path.
    if scheme == "sqlite" {
        return url.to_owned();
    }
    let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
    match address.split('@').collect::<Vec<_>>()[..] {
        // A second @, or one after the question mark, may be part of a password.
        [address] | [_, address] if !query.contains('@') => format!("{scheme}://{address}"),
        _ => format!("{scheme}://..."),
    }
}

/// The scheme of a URL. For other text: at most its first word, because the rest may contain a
/// password.
pub(crate) fn scheme_of(url: &str) -> &str {
    let is_scheme_character =
        |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    let end = url.find(|character| !is_scheme_character(character));
    end.map_or(url, |end| &url[..end])
}
