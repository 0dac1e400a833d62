//! Model of the contract's rules for a request body.

use robot_core::Draft;

use crate::json::{self, Node};

/// The expected outcome of a body.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Malformed,
    /// With these messages.
    Rejected(Vec<&'static str>),
    Accepted(Draft),
}

/// The members of an object in their order; a name that is not valid Unicode is `None`.
type Members = [(Option<String>, Node)];

/// The expected outcome of a body if these names are taken.
pub(crate) fn verdict(body: &[u8], taken: &[&str]) -> Verdict {
    let node = str::from_utf8(body).ok().and_then(json::read);
    let Some(Node::Object(members)) = node else {
        return Verdict::Malformed;
    };
    let Some(draft) = draft(&members).filter(|_| !has_repeated_member(&members)) else {
        return Verdict::Malformed;
    };
    let messages = [
        type_messages(draft.robot_type.as_deref()),
        name_messages(draft.name.as_deref().unwrap_or_default(), taken),
        year_messages(draft.year),
    ]
    .concat();
    if messages.is_empty() {
        Verdict::Accepted(draft)
    } else {
        Verdict::Rejected(messages)
    }
}

fn has_repeated_member(members: &Members) -> bool {
    let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// The draft, unless a member has a wrong type or an invalid name.
fn draft(members: &Members) -> Option<Draft> {
    if members.iter().any(|(name, _)| name.is_none()) {
        return None;
    }
    let member = |name: &str| {
        let mut named = members.iter();
        let found = named.find(|(known, _)| known.as_deref() == Some(name));
        found.map_or(&Node::Null, |(_, node)| node)
    };
    let text = |name: &str| match member(name) {
        Node::Null => Ok(None),
        Node::Text(Some(text)) => Ok(Some(text.clone())),
        _ => Err(()),
    };
    let year = match member("year") {
        Node::Null => None,
        // The parser of integers rejects dots and exponents, as the contract does.
        Node::Number(number) => Some(number.parse().ok()?),
        _ => return None,
    };
    Some(Draft {
        robot_type: text("type").ok()?,
        name: text("name").ok()?,
        year,
        ..Draft::default()
    })
}

fn type_messages(robot_type: Option<&str>) -> Vec<&'static str> {
    match robot_type {
        None => vec!["type is required"],
        Some("droid" | "mechanical" | "virtual") => vec![],
        Some(_) => vec!["Value of field 'type' must be part of list: droid, mechanical, virtual"],
    }
}

fn name_messages(name: &str, taken: &[&str]) -> Vec<&'static str> {
    let is_too_long = name.chars().count() > 255;
    let broken = [
        (name.is_empty(), "name is required"),
        (is_too_long, "The name must be at most 255 characters long"),
        (
            name.contains('\0'),
            "The name must not contain the NUL character (U+0000)",
        ),
        (taken.contains(&name), "The robot name must be unique"),
    ];
    let broken = broken.into_iter().filter(|(is_broken, _)| *is_broken);
    broken.map(|(_, message)| message).collect()
}

fn year_messages(year: Option<i64>) -> Vec<&'static str> {
    match year {
        None => vec!["year is required"],
        Some(..0) => vec!["The year cannot be less than zero"],
        Some(0..) => vec![],
    }
}
