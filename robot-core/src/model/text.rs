//! Texts: messages about input, and names that are similar.

use std::{
    borrow::{Borrow, Cow},
    fmt,
};

use serde::Serialize;
use strsim::damerau_levenshtein;

/// The beginning of a client's text, for a message that quotes it.
pub(crate) fn excerpt(text: &str) -> Cow<'_, str> {
    const LIMIT: usize = 40;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A message for people about input that cannot be parsed.
///
/// ```
/// use robot_core::Message;
///
/// assert_eq!(Message::from("The body is empty").to_string(), "The body is empty");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// What happened, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// The line of a file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The field that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<Cow<'static, str>>,
    #[serde(rename = "message")]
    text: Cow<'static, str>,
}

impl Message {
    pub(crate) fn about(field: impl Into<Cow<'static, str>>, text: String) -> Self {
        Self {
            field: Some(field.into()),
            ..text.into()
        }
    }

    /// With this code, unless it has one.
    pub(crate) fn with_code(mut self, code: &'static str) -> Self {
        self.code.get_or_insert(code);
        self
    }

    /// About a record at this position, on this line.
    pub(crate) fn at(self, position: impl fmt::Display, line: Option<u64>) -> Self {
        let text = format!("{position}: {}", self.text).into();
        Self { line, text, ..self }
    }

    /// With another text, which follows from the present one.
    #[cfg(feature = "http")]
    pub(crate) fn with(self, text: impl Fn(&str) -> String) -> Self {
        let text = text(&self.text).into();
        Self { text, ..self }
    }

    /// The texts of messages, separated by this text.
    pub(crate) fn joined(messages: &[Self], separator: &str) -> String {
        let texts: Vec<_> = messages.iter().map(|message| &*message.text).collect();
        texts.join(separator)
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Message {
    fn from(text: T) -> Self {
        Self {
            code: None,
            line: None,
            field: None,
            text: text.into(),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The maximum number of unknown names that messages are about.
pub(crate) const UNKNOWN_LIMIT: usize = 10;

/// The message that a name is none of the known ones, such as `'limt' is not a parameter; did you mean limit?`
#[cfg(feature = "transfer")]
pub(crate) fn unknown<T: Borrow<str>>(name: &str, kind: &str, known: &[T]) -> String {
    let name = excerpt(name);
    let hint = match similar(&name, known.iter().map(T::borrow)) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("the {kind}s are {}", known.join(", ")),
    };
    format!("'{name}' is not a {kind}; {hint}")
}

/// The greatest distance of a misspelt name. Greater, and a name that means something else, such as the
/// setting `database_port` of another program, seems to be misspelt.
const DISTANCE: usize = 2;

/// The known name that a misspelt one probably stands for. Its distance is at most a third of its length.
///
/// ```
/// # #[cfg(feature = "http")] {
/// use robot_core::http::similar;
///
/// assert_eq!(similar("Limt", ["sort", "limit"]), Some("limit"));
/// assert_eq!(similar("list", ["sort", "limit"]), None);
/// assert_eq!(similar("year_gt", ["year_from", "year_to"]), Some("year_from"));
/// # }
/// ```
#[cfg_attr(
    not(feature = "http"),
    expect(unreachable_pub, reason = "exported by `http`")
)]
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let name = limit_of_range(&name).unwrap_or(name);
    let limit = DISTANCE.min(name.chars().count() / 3);
    let distances = known
        .into_iter()
        .map(|known| (damerau_levenshtein(&name, known), known));
    let (distance, known) = distances.min()?;
    (distance <= limit).then_some(known)
}

/// The name of a condition for a limit of a range, such as `year_from`, that another API would name `year_gte`.
fn limit_of_range(name: &str) -> Option<String> {
    let (field, comparison) = name.rsplit_once('_')?;
    let limit = match comparison {
        "gt" | "gte" | "min" | "after" => "from",
        "lt" | "lte" | "max" | "before" => "to",
        _ => return None,
    };
    Some(format!("{}_{limit}", field.trim_end_matches('_')))
}
