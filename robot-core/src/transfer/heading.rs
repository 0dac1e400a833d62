//! The words of a heading that is an identifier.

/// The title of a field for a heading that is an identifier: `Place of birth` for `placeOfBirth` and `place_of_birth`,
/// and `Artist` for `artist`.
pub(super) fn title_of(heading: &str) -> Option<String> {
    let is_camel = heading.starts_with(char::is_lowercase);
    if heading.contains(char::is_whitespace) || !(is_camel || heading.contains('_')) {
        return None;
    }
    let spaced = spaced(heading).replace('_', " ");
    let words = spaced.split_whitespace().map(|word| {
        let is_acronym = !word.contains(char::is_lowercase);
        if is_acronym {
            word.to_owned()
        } else {
            word.to_lowercase()
        }
    });
    let title = words.collect::<Vec<_>>().join(" ");
    let (first, rest) = title.split_at_checked(1)?;
    Some(first.to_uppercase() + rest)
}

/// A heading with blanks between its words. `placeOfBirth` has three.
pub(super) fn spaced(heading: &str) -> String {
    let mut spaced = String::with_capacity(heading.len());
    let mut is_lower = false;
    for character in heading.chars() {
        if is_lower && character.is_uppercase() {
            spaced.push(' ');
        }
        is_lower = character.is_lowercase();
        spaced.push(character);
    }
    spaced
}
