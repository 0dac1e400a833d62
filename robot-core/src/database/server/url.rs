//! Parts of the URL of a database server.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::connect_error::{UNREADABLE, UrlError};

/// Parts of a URL, as they are written in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UrlParts<'a> {
    /// The scheme, the user and the password.
    pub(super) start: &'a str,
    pub(super) hosts: &'a str,
    /// The slash and the database, or nothing.
    pub(super) database: &'a str,
    /// Names and values.
    pub(super) parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> UrlParts<'a> {
    /// Splits a URL whose parameters have some of these names. It is unreadable if a character in it is not
    /// percent-encoded although a part could then end at another place than the user meant.
    pub(super) fn parse(url: &'a str, names: &str) -> Result<Self, UrlError> {
        let (_, rest) = url.split_once("://").ok_or(UNREADABLE)?;
        let (credentials, rest) = rest.split_once('@').unwrap_or(("", rest));
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, database) = address.split_at(address.find('/').unwrap_or(address.len()));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs: Option<Vec<_>> = pairs.map(|pair| pair.split_once('=')).collect();
        let parameters = pairs.ok_or(UNREADABLE)?;
        let encodes = |text: &str| text.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
        let decoded = percent_decode_str(url).decode_utf8();
        let is_known = |name: &str| names.split(' ').any(|known| known == name);
        let unknown = parameters.iter().find(|(name, _)| !is_known(name));
        if credentials.contains(['/', '?', '#'])
            || rest.contains(['@', '#'])
            || hosts.contains("[]")
            || database.matches('/').count() > 1
            || !url.split('%').skip(1).all(encodes)
            || decoded.map_or(true, |text| text.contains('\0'))
            // Its name may be part of a password with an ampersand.
            || unknown.is_some() && parameters.iter().any(|(name, _)| *name == "password")
        {
            return Err(UNREADABLE);
        }
        if let Some((name, _)) = unknown {
            return Err(format!("the parameter `{name}` is not supported").into());
        }
        Ok(Self {
            start: &url[..url.len() - rest.len()],
            hosts,
            database,
            parameters,
        })
    }

    /// The last value of a parameter, decoded.
    pub(super) fn value(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut reversed = self.parameters.iter().rev();
        let (_, value) = reversed.find(|parameter| parameter.0 == name)?;
        Some(percent_decode_str(value).decode_utf8_lossy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_url_is_unreadable() {
        let urls = "s://u:p%zz@h/d s://u:p%0@h/d s://u:p%+1@h/d s://u:p%0é@h/d s://u:p%ff@h/d \
                    s://u:p%00@h/d s://u:p@p@h/d s://u:1/p@h/d s://u:1?a=p@h/d s://u:p#p@h/d \
                    s://h/d#p s://u@h/d?p s://u@h/d/d s://u@[]/d s:u@h s://h?password=my&secret=1";
        for url in urls.split(' ') {
            let parsed = UrlParts::parse(url, "a password");
            assert_eq!(parsed, Err(UNREADABLE), "{url}");
        }
    }
}
