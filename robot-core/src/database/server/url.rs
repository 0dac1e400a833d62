//! Parts of the URL of a database server.

use std::num::NonZeroU16;

use percent_encoding::percent_decode_str;

use super::connect_error::UrlError;

/// Parts of a URL, decoded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UrlParts {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// The hosts with their ports, one at least. An empty name stands for the default.
    pub(super) hosts: Vec<(String, Option<u16>)>,
    pub(super) database: Option<String>,
    /// Names and values in their order.
    parameters: Vec<(String, String)>,
    has_password_parameter: bool,
}

impl UrlParts {
    /// Splits a URL. It is unreadable if a character in it is not percent-encoded although a part could
    /// then end at another place than the user meant.
    pub(super) fn parse(url: &str, schemes: &[&str]) -> Result<Self, UrlError> {
        let (scheme, rest) = url.split_once("://").ok_or(UrlError::Unreadable)?;
        let is_encoded = |part: &str| {
            let digits = part.as_bytes().get(..2).unwrap_or_default();
            digits.len() == 2 && digits.iter().all(u8::is_ascii_hexdigit) && digits != b"00"
        };
        let has_bad_encoding = url.split('%').skip(1).any(|part| !is_encoded(part));
        if !schemes.contains(&scheme) || has_bad_encoding || url.contains('#') {
            return Err(UrlError::Unreadable);
        }
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = address.split_once('/').unwrap_or((address, ""));
        let (user, hosts) = authority.split_once('@').unwrap_or(("", authority));
        if [hosts, database, query]
            .iter()
            .any(|part| part.contains('@'))
        {
            return Err(UrlError::Unreadable);
        }
        let (user, password) = match user.split_once(':') {
            Some((user, password)) => (user, non_empty(password)?),
            None => (user, None),
        };
        let parameters = parameters(query)?;
        Ok(Self {
            has_password_parameter: parameters.iter().any(|(name, _)| name == "password"),
            user: non_empty(user)?,
            password,
            hosts: hosts.split(',').map(host).collect::<Result<_, _>>()?,
            database: non_empty(database)?,
            parameters,
        })
    }

    /// Removes a parameter, and returns its last value.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        let taken = self
            .parameters
            .extract_if(.., |parameter| parameter.0 == name);
        taken.last().map(|(_, value)| value)
    }

    /// Removes a parameter with a meaning for each of its values.
    pub(super) fn take_choice<T: Copy>(
        &mut self,
        name: &str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, UrlError> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let chosen = choices.iter().find(|choice| choice.0 == value);
        chosen.map(|choice| Some(choice.1)).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|choice| choice.0).collect();
            let (last, others) = names.split_last().unwrap_or((&"", &[]));
            UrlError::invalid(name, format!("{} or {last}", others.join(", ")))
        })
    }

    /// Removes a parameter that is a number.
    pub(super) fn take_number(&mut self, name: &str) -> Result<Option<u32>, UrlError> {
        let number = self.take(name).map(|value| value.parse());
        number
            .transpose()
            .map_err(|_| UrlError::invalid(name, "a number"))
    }

    /// Rejects a parameter that is left. Its name may be part of a password with an ampersand.
    pub(super) fn finish(self) -> Result<(), UrlError> {
        match self.parameters.into_iter().next() {
            None => Ok(()),
            Some(_) if self.has_password_parameter => Err(UrlError::Unreadable),
            Some((name, _)) => Err(UrlError::UnknownParameter(name)),
        }
    }
}

fn decode(text: &str) -> Result<String, UrlError> {
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| UrlError::Unreadable)?.into_owned())
}

fn non_empty(text: &str) -> Result<Option<String>, UrlError> {
    Ok(Some(decode(text)?).filter(|text| !text.is_empty()))
}

/// A host and its port. An IPv6 address is in brackets.
fn host(text: &str) -> Result<(String, Option<u16>), UrlError> {
    let (name, end) = match text.strip_prefix('[') {
        Some(address) => match address.split_once(']') {
            Some(parts) if !parts.0.is_empty() => parts,
            _ => return Err(UrlError::Unreadable),
        },
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let port = match end.strip_prefix(':') {
        Some(port) => self::port(port).ok_or(UrlError::Unreadable)?,
        None if end.is_empty() => None,
        None => return Err(UrlError::Unreadable),
    };
    Ok((decode(name)?, port))
}

/// Parses a port, which may be empty. `None` if it is invalid.
#[expect(
    clippy::option_option,
    reason = "a port is invalid, missing or a number"
)]
pub(super) fn port(text: &str) -> Option<Option<u16>> {
    if text.is_empty() {
        return Some(None);
    }
    text.parse().ok().map(NonZeroU16::get).map(Some)
}

fn parameters(query: &str) -> Result<Vec<(String, String)>, UrlError> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').ok_or(UrlError::Unreadable)?;
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<UrlParts, UrlError> {
        UrlParts::parse(url, &["s"])
    }

    #[test]
    fn url_is_split_into_decoded_parts() {
        let hosts = |url| parse(url).unwrap().hosts;
        let host = |name: &str, port| (name.to_owned(), port);
        assert_eq!(
            parse("s://u%40:p%2F@h/d%20?a=b%26&c=").unwrap(),
            UrlParts {
                user: Some("u@".to_owned()),
                password: Some("p/".to_owned()),
                hosts: vec![host("h", None)],
                database: Some("d ".to_owned()),
                parameters: vec![
                    ("a".to_owned(), "b&".to_owned()),
                    ("c".to_owned(), String::new())
                ],
                has_password_parameter: false,
            }
        );
        assert_eq!(hosts("s://"), [host("", None)]);
        let both = [host("h1", Some(1)), host("::1", None)];
        assert_eq!(hosts("s://h1:1,[::1]/"), both);
        assert_eq!(hosts("s://[::1]:65535"), [host("::1", Some(65535))]);
        assert_eq!(hosts("s://%2Fvar%2Frun:7/d"), [host("/var/run", Some(7))]);
    }

    #[test]
    fn url_without_percent_encoding_is_unreadable() {
        for url in [
            "s://u:p%zz@h/d",
            "s://u:p%0@h/d",
            "s://u:p%+1@h/d",
            "s://u:p%0é@h/d",
            "s://u:p%ff@h/d",
            "s://u:p%00@h/d",
            "s://u:p@p@h/d",
            "s://u:p/p@h/d",
            "s://u:1/p@h/d",
            "s://u:1?p@h/d",
            "s://u:1?a=p@h/d",
            "s://u:p#p@h/d",
            "s://u@h:/d?p",
            "s://u@h:0/d",
            "s://u@h:p/d",
            "s://u@[]/d",
            "s://u@[::1/d",
            "s://u@[::1]1/d",
            "s://::1/d",
            "s:u@h/d",
            "t://u@h/d",
        ] {
            assert_eq!(parse(url), Err(UrlError::Unreadable), "{url}");
        }
    }
}
