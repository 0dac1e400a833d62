//! The index of names: every three characters in a row (a trigram) of every name.
//!
//! It is made whenever a database lacks it, and the database itself keeps it right. It is no part
//! of the migrations, for a search finds the same without it.

use super::migrations::{Failure, Migrated};

/// How many characters the index knows together.
const TRIGRAM: usize = 3;

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

/// The trigrams that cover a text, one behind the other; none where it is too short.
pub(super) fn trigrams(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text.char_indices().map(|(start, _)| start).collect();
    let Some(last) = starts.len().checked_sub(TRIGRAM) else {
        return Vec::new();
    };
    // The last one overlaps the one before, unless the length is a multiple of theirs.
    let firsts = (0..last).step_by(TRIGRAM).chain([last]);
    firsts
        .map(|first| {
            let end = starts.get(first + TRIGRAM).copied();
            &text[starts[first]..end.unwrap_or(text.len())]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigrams_cover_a_text() {
        for (text, expected) in [
            ("", &[][..]),
            ("ab", &[]),
            ("abc", &["abc"]),
            ("abcd", &["abc", "bcd"]),
            ("abcdef", &["abc", "def"]),
            ("e\u{301}x\u{1f916}", &["e\u{301}x", "\u{301}x\u{1f916}"]),
        ] {
            assert_eq!(trigrams(text), expected, "{text}");
        }
    }
}
