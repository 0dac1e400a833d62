//! Folding of a text, for searches that ignore case and diacritics.
//!
//! Each character is folded by itself, by the data of Unicode 17.0:
//!
//! 1. A combining diacritical mark (of the blocks U+0300, U+1AB0, U+1DC0, U+20D0 and U+FE20) is removed.
//! 2. A character whose canonical decomposition is one character, or one and such marks, becomes that one.
//! 3. The result is folded to one character: simple case folding, `CaseFolding.txt` with status C and S.

use std::iter;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{DecomposingNormalizer, DecomposingNormalizerBorrowed};

const NORMALIZER: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfd();

const CASE_MAPPER: CaseMapperBorrowed<'static> = CaseMapper::new();

/// The text without upper case and diacritics. Two texts that differ only in these fold to the same text.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() {
        text.to_ascii_lowercase()
    } else {
        text.chars().filter_map(fold_character).collect()
    }
}

/// The folded character; `None` if it is removed.
fn fold_character(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character.to_ascii_lowercase());
    }
    if is_mark(character) {
        return None;
    }
    let mut decomposed = NORMALIZER.normalize_iter(iter::once(character));
    let base = decomposed.next().filter(|_| decomposed.all(is_mark));
    Some(CASE_MAPPER.simple_fold(base.unwrap_or(character)))
}

/// Whether a character is a combining diacritical mark.
fn is_mark(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_diacritics_are_removed() {
        for (text, expected) in [
            ("", ""),
            ("R2-D2 %_\\'", "r2-d2 %_\\'"),
            ("Kateřina", "katerina"),
            ("e\u{301}é\u{1ec7}", "eee"),
            ("ÅNGSTRÖM \u{212b}", "angstrom a"),
            ("İstanbul ı", "istanbul ı"),
            ("ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"),
            ("Ёлка Й", "елка и"),
            ("Straße ẞ", "straße ß"),
            ("\u{212a} ſ Ǆ ǅ", "k s ǆ ǆ"),
            ("Ｆｕｌｌ 한 が", "ｆｕｌｌ 한 が"),
            ("\u{10400}", "\u{10428}"),
            ("\u{301}\u{20d0}", ""),
        ] {
            assert_eq!(fold(text), expected, "{text}");
            assert_eq!(fold(&fold(text)), expected, "{text}");
        }
    }
}
