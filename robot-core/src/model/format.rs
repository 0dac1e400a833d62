//! Formats of texts: the table from which everything that depends on a format follows.

use std::{borrow::Cow, sync::Arc};

use regex_lite::Regex;

use super::date::{DateOrder, is_date, read_date};

/// What a text must be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Any text.
    Any,
    /// A format with a name, such as `date`.
    Named(&'static NamedFormat),
    /// A text that a regular expression matches anywhere.
    Pattern(Pattern),
}

/// A format with a name.
#[derive(Debug)]
#[non_exhaustive]
pub struct NamedFormat {
    /// The name, in a definition and as the kind of a column.
    pub name: &'static str,
    /// What a text is, for people.
    pub(super) noun: &'static str,
    pub(super) example: &'static str,
    pub(super) is_valid: fn(&str) -> bool,
    /// The value of a text in a file with dates in this order, or in the usual one; `None` if it is another text. A
    /// column of such texts gets a field of this format.
    pub(crate) read: fn(&str, Option<DateOrder>) -> Option<Cow<'_, str>>,
    /// Whether texts are points in time: of one length, in the order of their bytes, and counted by years, with which
    /// they begin.
    pub(crate) is_time: bool,
    /// The format of cells of a workbook, for times.
    pub(crate) cells: &'static str,
}

impl Format {
    /// The table of formats with a name.
    pub const NAMED: &[NamedFormat] = &[
        NamedFormat {
            name: "date",
            noun: "a date",
            example: "2020-05-31",
            is_valid: is_date,
            read: read_date,
            is_time: true,
            cells: "yyyy-mm-dd",
        },
        NamedFormat {
            name: "uri",
            noun: "a URI",
            example: "https://example.org/",
            is_valid: is_uri,
            read: |text, order| (order.is_none() && is_web_address(text)).then_some(text.into()),
            is_time: false,
            cells: "",
        },
    ];
}

impl NamedFormat {
    /// What a text must be, for people.
    pub(super) fn description(&self) -> String {
        format!("{}, such as {}", self.noun, self.example)
    }
}

impl PartialEq for NamedFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for NamedFormat {}

/// A regular expression, which takes linear time.
#[derive(Debug, Clone)]
pub struct Pattern(pub(super) Arc<Regex>);

impl Pattern {
    /// The text of the regular expression.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

/// Whether a text has a scheme, and only characters of a URI.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let in_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let in_rest =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(in_scheme)
        && !rest.is_empty()
        && rest.bytes().all(in_rest)
}

fn is_web_address(text: &str) -> bool {
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    is_web && text.is_ascii() && !text.contains(|byte: char| byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_a_scheme() {
        for uri in [
            "https://example.org/a?b=c#d",
            "urn:isbn:0451450523",
            "mailto:a@b.c",
        ] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in [
            "example.org",
            "https:",
            ":x",
            "1a:b",
            "https://example.org/a b",
            "https://é",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }
}
