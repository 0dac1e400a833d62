//! Comparison of names without case and diacritics. `robot-rocket/docs/http-api.md` publishes the
//! definition.

use std::borrow::Cow;

use unicode_normalization::char::decompose_canonical;

/// Folds each character of a text: texts that differ in case and diacritics only are equal then.
///
/// ```
/// # use robot_core::fold;
/// assert_eq!(fold("Kateřina"), "katerina");
/// assert_eq!(fold("ΣΊΣΥΦΟΣ"), fold("Σίσυφος"));
/// assert_eq!(fold("Straße"), "straße");
/// ```
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    let is_folded = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_folded) {
        Cow::Borrowed(text)
    } else if text.is_ascii() {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Owned(text.chars().filter_map(fold_character).collect())
    }
}

/// The character that is compared in place of this one; `None` for a diacritic.
fn fold_character(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character.to_ascii_lowercase());
    }
    (!is_diacritic(character)).then(|| without_case(without_diacritics(character)))
}

/// Whether a character belongs to a block of combining diacritical marks.
fn is_diacritic(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// The character of which a character is composed with diacritics, or to which it is canonically
/// equivalent; otherwise the character itself.
fn without_diacritics(character: char) -> char {
    let (mut base, mut has_only_diacritics) = (None, true);
    decompose_canonical(character, |part| match base {
        None => base = Some(part),
        Some(_) => has_only_diacritics &= is_diacritic(part),
    });
    base.filter(|_| has_only_diacritics).unwrap_or(character)
}

/// The simple case folding of Unicode: the lower case of the upper case, which joins `ς` with `σ`.
fn without_case(character: char) -> char {
    match character {
        // Its upper case is that of another letter.
        'ı' => character,
        // Both are ligatures of the same letters, whose upper case has two characters.
        'ﬅ' => 'ﬆ',
        // Cherokee, which had no lower case at first, folds to its upper case.
        '\u{13a0}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => {
            single(character.to_uppercase(), character)
        }
        _ => {
            let upper = single(character.to_uppercase(), character);
            single(upper.to_lowercase(), upper)
        }
    }
}

/// The only character of a sequence, or another one if it has several.
fn single(mut characters: impl ExactSizeIterator<Item = char>, other: char) -> char {
    match characters.len() {
        1 => characters.next().unwrap_or(other),
        _ => other,
    }
}

#[cfg(test)]
mod tests {
    use icu_casemap::CaseMapper;
    use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

    use super::*;

    #[test]
    fn characters_are_folded_one_by_one() {
        for (text, folded) in [
            ("", ""),
            ("r2-d2 %_\\", "r2-d2 %_\\"),
            ("R2-D2", "r2-d2"),
            ("Kateřina", "katerina"),
            ("ÅNGSTRÖM \u{212b}", "angstrom a"),
            ("e\u{301}\u{327}\u{20dd}", "e"),
            ("\u{301}\u{1ab0}\u{1dc0}\u{20d0}\u{fe20}", ""),
            ("İstanbul ı", "istanbul ı"),
            ("ǅ Ǆ ǆ ǲ", "ǆ ǆ ǆ ǳ"),
            ("ΣΊΣΥΦΟΣ Σίσυφος ᾳ ᾴ", "σισυφοσ σισυφοσ α α"),
            ("Ёлка Ж", "елка ж"),
            ("ẞ ß SS \u{17f} \u{1e9b}", "ß ß ss s s"),
            ("\u{212a} ﬁ Ｆｕｌｌ", "k ﬁ ｆｕｌｌ"),
            ("Ꭰ ꭰ 𐐀 𐐨", "Ꭰ Ꭰ 𐐨 𐐨"),
            ("한글 が か\u{3099} أ", "한글 が か\u{3099} أ"),
            ("Ø Đ Ł", "ø đ ł"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn folded_text_is_not_changed_by_folding() {
        for character in '\0'..=char::MAX {
            let folded = fold_character(character);
            assert_eq!(folded.and_then(fold_character), folded, "{character:?}");
        }
    }

    /// The definition, by the tables of Unicode in other crates.
    fn defined(character: char) -> Option<char> {
        let mut base = character;
        let base = loop {
            base = match CanonicalDecompositionBorrowed::new().decompose(base) {
                Decomposed::Default => break base,
                Decomposed::Singleton(equal) => equal,
                Decomposed::Expansion(first, second) if is_diacritic(second) => first,
                Decomposed::Expansion(..) => break character,
            };
        };
        (!is_diacritic(character)).then(|| CaseMapper::new().simple_fold(base))
    }

    /// Rust and the crate `unicode-normalization` may have an earlier version of Unicode than the other
    /// crates, or a later one. It adds letters, which the earlier one leaves as they are.
    #[test]
    fn fold_of_all_characters_is_that_of_unicode() {
        let differing: Vec<char> = ('\0'..=char::MAX)
            .filter(|&character| fold_character(character) != defined(character))
            .collect();
        for &character in &differing {
            let (folded, defined) = (fold_character(character), defined(character));
            let is_of_one_version = [folded, defined].contains(&Some(character));
            assert!(
                is_of_one_version,
                "{character:?}: {folded:?}, not {defined:?}"
            );
        }
        assert!(differing.len() < 200, "{differing:?}");
    }
}
