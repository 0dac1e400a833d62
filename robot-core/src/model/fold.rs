//! Comparison of names without case and diacritics. `robot-rocket/docs/http-api.md` publishes the
//! definition.

use std::borrow::Cow;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();

const DECOMPOSITIONS: CanonicalDecompositionBorrowed<'static> =
    CanonicalDecompositionBorrowed::new();

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
    (!is_diacritic(character)).then(|| CASES.simple_fold(without_diacritics(character)))
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
    let mut base = character;
    loop {
        base = match DECOMPOSITIONS.decompose(base) {
            Decomposed::Default => return base,
            Decomposed::Singleton(equal) => equal,
            Decomposed::Expansion(first, second) if is_diacritic(second) => first,
            Decomposed::Expansion(..) => return character,
        };
    }
}

/// The full canonical decomposition of a character.
#[cfg(feature = "postgres")]
pub(crate) fn decompose(character: char, decomposed: &mut Vec<char>) {
    match DECOMPOSITIONS.decompose(character) {
        Decomposed::Default => decomposed.push(character),
        Decomposed::Singleton(equal) => decompose(equal, decomposed),
        Decomposed::Expansion(first, second) => {
            decompose(first, decomposed);
            decompose(second, decomposed);
        }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

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

    /// All pairs of a character and the folded one, if they differ, as in `c3a9=65\n` for é: in UTF-8 and in
    /// hexadecimal, in the order of the characters; without the second one for a diacritic.
    ///
    /// An update of the crates `icu_casemap` and `icu_normalizer` may bring a later version of Unicode, which
    /// their data crates name. It adds characters, and never changes what another one folds to. Then:
    ///
    /// 1. Change the version and the checksum below, and the version in `robot-rocket/docs/http-api.md`.
    /// 2. Run `cargo test -p robot-core --all-features --lib candidates`: it compares the search index of
    ///    PostgreSQL with all characters. One that it names becomes uncertain in `candidates.rs`.
    /// 3. Mention in the changelog that searches find more names.
    #[test]
    fn fold_of_all_characters_is_that_of_unicode_18() {
        let mut hash = Sha256::new();
        for character in '\0'..=char::MAX {
            let folded = fold_character(character);
            if folded == Some(character) {
                continue;
            }
            let utf8 = |character: char| hex::encode(character.to_string());
            let folded = folded.map(utf8).unwrap_or_default();
            hash.update(format!("{}={folded}\n", utf8(character)));
        }
        assert_eq!(
            hex::encode(hash.finalize()),
            "2c46405e7d7be44d2a3f156f0c0b546f0c8a0488ec1c79908f840eee6dc2d59a"
        );
    }
}
