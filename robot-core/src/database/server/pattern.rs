//! Regular expressions by which a server finds folded texts in values that are not folded.

use std::{collections::HashMap, sync::LazyLock};

use crate::model::fold;

/// For each character the others that are folded to it, and the ranges of characters that are removed.
static FOLDING: LazyLock<(HashMap<char, String>, String)> = LazyLock::new(|| {
    let (mut others, mut removed) = (HashMap::<_, String>::new(), Vec::new());
    for character in '\0'..=char::MAX {
        match fold(character.encode_utf8(&mut [0; 4])).chars().next() {
            None => removed.push(character),
            Some(folded) if folded == character => {}
            Some(folded) => others.entry(folded).or_default().push(character),
        }
    }
    let ranges = removed.chunk_by(|one, next| u32::from(*one) + 1 == u32::from(*next));
    let ranges = ranges.filter_map(|range| Some(format!("{}-{}", range.first()?, range.last()?)));
    (others, ranges.collect())
});

/// A regular expression that finds each text which contains this folded text after folding.
pub(super) fn pattern_of(folded: &str) -> String {
    let (others, removed) = &*FOLDING;
    let classes = folded.chars().map(|character| {
        let escape = if character.is_ascii_punctuation() {
            "\\"
        } else {
            ""
        };
        let others = others.get(&character).map_or("", String::as_str);
        format!("[{escape}{character}{others}]")
    });
    let classes: Vec<_> = classes.collect();
    classes.join(&format!("[{removed}]*"))
}
