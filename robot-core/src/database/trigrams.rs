//! Trigrams of a text that is searched for: sequences of three characters, as the search indexes
//! contain them.

/// The length of a trigram, in characters.
const TRIGRAM: usize = 3;

/// The maximum number of trigrams in a query. Fewer leave more candidates to compare; more take the
/// index longer than they save.
const TRIGRAM_LIMIT: usize = 12;

/// Trigrams of a text, spread over all of it: every one, unless the text is long; none if it is
/// shorter than a trigram.
pub(super) fn trigrams(text: &str) -> Vec<&str> {
    let starts = text.char_indices().map(|(start, _)| start);
    let bounds: Vec<usize> = starts.chain([text.len()]).collect();
    let all = bounds.windows(TRIGRAM + 1);
    let all: Vec<&str> = all
        .map(|bounds| &text[bounds[0]..bounds[TRIGRAM]])
        .collect();
    let step = all.len().div_ceil(TRIGRAM_LIMIT).max(1);
    all.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_n_characters_has_n_minus_2_trigrams() {
        for (text, expected) in [
            ("", &[][..]),
            ("ab", &[]),
            ("abc", &["abc"]),
            ("abcde", &["abc", "bcd", "cde"]),
            ("e\u{301}x\u{1f916}", &["e\u{301}x", "\u{301}x\u{1f916}"]),
        ] {
            assert_eq!(trigrams(text), expected, "{text}");
        }
    }

    #[test]
    fn long_text_has_a_limited_number_of_trigrams() {
        let text = "0123456789".repeat(25);
        let trigrams = trigrams(&text);
        assert!(
            (2..=TRIGRAM_LIMIT).contains(&trigrams.len()),
            "{trigrams:?}"
        );
        assert!(trigrams.iter().all(|trigram| text.contains(trigram)));
    }
}
