//! The index of names: every three characters in a row (a trigram) of every name, but in SQLite of
//! those of the last robots, which a search looks at one by one.
//!
//! It is made whenever a database lacks it, and the database itself keeps it right. It is no part
//! of the migrations, for a search finds the same without it.

use super::migrations::{Failure, Migrated};

/// How many characters the index knows together.
const TRIGRAM: usize = 3;

/// How many trigrams are asked for at most.
const ENOUGH: usize = 12;

/// A backend that has such an index.
pub(super) trait Indexed: Migrated {
    /// Lists the parts of the index that are there.
    const PARTS: &str;

    /// How many parts it has.
    const PART_COUNT: usize;

    /// Makes the index, and takes away before what may be left of one.
    const INDEX: &str;
}

/// Makes the index, unless it is there.
///
/// # Errors
/// It cannot be made. The catalogue can be used all the same.
pub(super) fn index_names<C: Indexed>(connection: &mut C) -> Result<(), Failure> {
    if is_indexed(connection)? {
        return Ok(());
    }
    connection.alone(|connection| {
        // Another process may have been faster.
        if !is_indexed(connection)? {
            if !connection
                .texts("SELECT name FROM robots LIMIT 1")?
                .is_empty()
            {
                log::warn!(
                    "the index of names is missing and is made now, which takes some seconds for \
                     each million robots"
                );
            }
            connection.batch_execute(C::INDEX)?;
        }
        Ok(())
    })
}

fn is_indexed<C: Indexed>(connection: &mut C) -> Result<bool, Failure> {
    Ok(connection.texts(C::PARTS)?.len() == C::PART_COUNT)
}

/// Trigrams of a text, from its beginning to its end: all of them, unless it is long; none where
/// it is too short. The more of them, the fewer names have them all.
pub(super) fn trigrams(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let ends = starts.iter().skip(TRIGRAM).copied().chain([text.len()]);
    let all: Vec<&str> = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end])
        .filter(|trigram| trigram.chars().count() == TRIGRAM)
        .collect();
    let step = all.len().div_ceil(ENOUGH).max(1);
    all.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_a_trigram_from_each_character_on_that_two_follow() {
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
    fn of_a_long_text_some_are_enough() {
        let text = "0123456789".repeat(25);
        let trigrams = trigrams(&text);
        assert!((2..=ENOUGH).contains(&trigrams.len()), "{trigrams:?}");
        assert!(trigrams.iter().all(|trigram| text.contains(trigram)));
    }
}
