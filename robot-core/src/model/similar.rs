//! Known names that misspelt ones probably stand for.

use strsim::damerau_levenshtein;

/// The greatest distance of a misspelt name. Greater, and a name that means something else, such as the
/// setting `database_port` of another program, seems to be misspelt.
const DISTANCE: usize = 2;

/// The known name that a misspelt one probably stands for. Its distance is at most a third of its length.
///
/// ```
/// use robot_core::http::similar;
///
/// assert_eq!(similar("Limt", ["sort", "limit"]), Some("limit"));
/// assert_eq!(similar("updated_after", ["after", "sort"]), None);
/// ```
pub fn similar<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let limit = DISTANCE.min(name.chars().count() / 3);
    let distances = known
        .into_iter()
        .map(|known| (damerau_levenshtein(&name, known), known));
    let (distance, known) = distances.min()?;
    (distance <= limit).then_some(known)
}

/// The message about a name that is none of the known ones.
pub(crate) fn unknown(name: &str, what: &str, known: &[&str]) -> String {
    let hint = match similar(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("the {what}s are {}", known.join(", ")),
    };
    format!("'{name}' is not a {what}; {hint}")
}
