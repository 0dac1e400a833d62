//! The contract's word on a body, by a reading of it that is as naive as can be.

use robot_core::Draft;

use crate::json::{self, Node};

/// What a body must come to.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    Malformed,
    /// For these reasons.
    Rejected(Vec<&'static str>),
    Accepted(Draft),
}

/// An object's members in their order; a name that is no text is `None`.
type Members = [(Option<String>, Node)];

/// What a body comes to where these names are taken.
pub(crate) fn verdict(body: &[u8], taken: &[&str]) -> Verdict {
    let node = str::from_utf8(body).ok().and_then(json::read);
    let Some(Node::Object(members)) = node else {
        return Verdict::Malformed;
    };
    let Some(draft) = draft(&members).filter(|_| !has_a_member_twice(&members)) else {
        return Verdict::Malformed;
    };
    let messages = [
        of_the_type(draft.robot_type.as_deref()),
        of_the_name(draft.name.as_deref().unwrap_or_default(), taken),
        of_the_year(draft.year),
    ]
    .concat();
    if messages.is_empty() {
        Verdict::Accepted(draft)
    } else {
        Verdict::Rejected(messages)
    }
}

fn has_a_member_twice(members: &Members) -> bool {
    let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

/// The draft, unless a member is of a wrong type, or the name of one is no text.
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
        // The parser of integers takes no dot and no exponent, which is just what is asked for.
        Node::Number(number) => Some(number.parse().ok()?),
        _ => return None,
    };
    Some(Draft {
        robot_type: text("type").ok()?,
        name: text("name").ok()?,
        year,
    })
}

fn of_the_type(robot_type: Option<&str>) -> Vec<&'static str> {
    match robot_type {
        None => vec!["type is required"],
        Some("droid" | "mechanical" | "virtual") => vec![],
        Some(_) => vec!["Value of field 'type' must be part of list: droid, mechanical, virtual"],
    }
}

fn of_the_name(name: &str, taken: &[&str]) -> Vec<&'static str> {
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

fn of_the_year(year: Option<i64>) -> Vec<&'static str> {
    match year {
        None => vec!["year is required"],
        Some(..0) => vec!["The year cannot be less than zero"],
        Some(0..) => vec![],
    }
}
