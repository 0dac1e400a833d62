//! Candidates of searches in PostgreSQL: names that match a pattern. The search index has names in the
//! form that the SQL function `robots_search_text` returns.

use diesel::{
    dsl::sql,
    pg::Pg,
    sql_types::{Bool, Text},
};

use crate::{
    database::{statements::Condition, trigrams::trigrams},
    model::decompose,
};

/// A condition that every robot meets whose folded name contains a folded text; `None` if it is unknown
/// which form any character of the text has in the index.
///
/// PostgreSQL's planner decides whether to use the index. Without the pattern, from which it estimates how
/// many names match, it would read all of them in their order.
pub(super) fn may_contain(folded: &str) -> Option<Condition<'static, Pg>> {
    let pattern = pattern(folded)?;
    // Diesel does not prepare hand-written SQL, so each pattern gets a plan of its own.
    let is_candidate =
        sql::<Bool>("robots_search_text(robots.name) LIKE ").bind::<Text, _>(pattern);
    Some(Box::new(is_candidate))
}

/// A LIKE pattern for the form of every name that contains a folded text.
///
/// In place of a character that is no part of a word, it has a placeholder: for words whose beginning or
/// end it knows, PostgreSQL also looks those up, which many names have. The planner estimates from the
/// pattern how many names have the whole text.
fn pattern(folded: &str) -> Option<String> {
    let forms: Vec<_> = folded.chars().map(form).collect();
    let words = forms.concat();
    let is_separator = |character: &Option<char>| !character.is_some_and(char::is_alphanumeric);
    let has_long_word = words.split(is_separator).any(|word| {
        let word: String = word.iter().flatten().collect();
        !trigrams(&word).is_empty()
    });
    if words.iter().all(Option::is_none) {
        return None;
    }
    let mut pattern = String::from("%");
    let mut is_open = true;
    for character in words {
        match character {
            None if is_open => continue,
            None => pattern.push('%'),
            Some(character) if has_long_word && !character.is_alphanumeric() => pattern.push('_'),
            Some(character @ ('%' | '_' | '\\')) => pattern.extend(['\\', character]),
            Some(character) => pattern.push(character),
        }
        is_open = character.is_none();
    }
    if !is_open {
        pattern.push('%');
    }
    Some(pattern)
}

/// The characters in the index for each character that folds to this one; `None` in place of them if they
/// may differ.
fn form(folded: char) -> Vec<Option<char>> {
    let mut characters = Vec::new();
    decompose(folded, &mut characters);
    characters.retain(|character| !is_removed(*character));
    if characters.iter().all(|character| is_certain(*character)) {
        characters.into_iter().map(Some).collect()
    } else {
        vec![None]
    }
}

/// Whether the function removes a character.
fn is_removed(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{653}'..='\u{655}'
            | '\u{93c}'
            | '\u{9bc}'
            | '\u{a3c}'
            | '\u{b3c}'
            | '\u{1ab0}'..='\u{1aff}'
            | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{3099}'..='\u{309a}'
            | '\u{fe20}'..='\u{fe2f}'
    )
}

/// Whether the form of a character is certain, with every version of Unicode that a server may have: frequent
/// scripts, symbols and emoji. Those that normalization puts into another order are missing, and letters
/// whose upper case the function keeps.
fn is_certain(character: char) -> bool {
    matches!(
        character,
        // ASCII, and Latin
        '\u{1}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}'
        // Greek, Cyrillic, Armenian, Georgian
        | '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{559}'..='\u{58a}' | '\u{10d0}'..='\u{10ff}'
        // Letters and digits of Hebrew and Arabic
        | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{660}'..='\u{669}'
        | '\u{671}'..='\u{6d3}' | '\u{6f0}'..='\u{6f9}'
        // Letters and vowels of Devanagari, Bengali, Gurmukhi, Gujarati, Odia
        | '\u{904}'..='\u{93b}' | '\u{93e}'..='\u{94c}' | '\u{985}'..='\u{9b9}'
        | '\u{9be}'..='\u{9cc}' | '\u{a05}'..='\u{a39}' | '\u{a3e}'..='\u{a4c}'
        | '\u{a85}'..='\u{ab9}' | '\u{abe}'..='\u{acc}' | '\u{b05}'..='\u{b39}'
        | '\u{b3e}'..='\u{b4c}'
        // Tamil, Telugu, Kannada, Malayalam, Sinhala
        | '\u{b85}'..='\u{bcc}' | '\u{c05}'..='\u{c39}' | '\u{c3e}'..='\u{c4c}'
        | '\u{c85}'..='\u{cb9}' | '\u{cbe}'..='\u{ccc}' | '\u{d05}'..='\u{d39}'
        | '\u{d3e}'..='\u{d4c}' | '\u{d85}'..='\u{dc6}' | '\u{dcf}'..='\u{ddf}'
        // Thai, Lao, Myanmar, Ethiopic, Canadian syllabics, Khmer, Mongolian
        | '\u{e01}'..='\u{e37}' | '\u{e40}'..='\u{e47}' | '\u{e81}'..='\u{eb7}'
        | '\u{ec0}'..='\u{ec6}' | '\u{1000}'..='\u{1036}' | '\u{1038}'
        | '\u{103b}'..='\u{103f}' | '\u{1200}'..='\u{135a}' | '\u{1401}'..='\u{166c}'
        | '\u{1780}'..='\u{17c8}' | '\u{1820}'..='\u{1878}'
        // Hangul, kana, CJK, full width
        | '\u{1100}'..='\u{11ff}' | '\u{3001}'..='\u{3029}' | '\u{3030}'..='\u{3096}'
        | '\u{309b}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ff01}'..='\u{ff9f}' | '\u{20000}'..='\u{3134f}'
        // Punctuation, currencies, arrows, symbols, emoji
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20bf}'
        | '\u{2190}'..='\u{23ff}' | '\u{2500}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}'
    )
}

#[cfg(all(test, feature = "conformance"))]
mod tests {
    use std::collections::HashMap;

    use diesel::{Connection, PgConnection, RunQueryDsl, connection::SimpleConnection, sql_query};
    use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

    use super::*;
    use crate::{PostgresCatalogue, conformance::scratch_database, model::fold};

    #[test]
    fn pattern_has_long_words_or_the_whole_text() {
        for (text, expected) in [
            ("r-r00123", Some("%r_r00123%")),
            ("one two3", Some("%one_two3%")),
            ("a-b_%\\", Some("%a-b\\_\\%\\\\%")),
            ("øab", Some("%øab%")),
            ("ガ가", Some("%カ\u{1100}\u{1161}%")),
            ("abcᎠᎠd%Ꭰ", Some("%abc%d_%")),
            ("%Ꭰ%", Some("%\\%%\\%%")),
            ("ᎠᎠᎠ", None),
        ] {
            assert_eq!(pattern(text).as_deref(), expected, "{text}");
        }
    }

    /// Otherwise the order of characters in the index would depend on other characters of a name.
    #[test]
    fn characters_that_normalization_moves_are_uncertain() {
        let classes = CanonicalCombiningClassMapBorrowed::new();
        for character in '\0'..=char::MAX {
            let is_moved = classes.get_u8(character) > 0;
            assert!(!is_moved || !is_certain(character), "{character:?}");
        }
    }

    #[test]
    fn every_certain_form_is_that_of_the_server() {
        #[derive(diesel::QueryableByName)]
        struct Form {
            #[diesel(sql_type = Text)]
            character: String,
            #[diesel(sql_type = Text)]
            form: String,
        }
        let url = scratch_database("TEST_POSTGRES_URL");
        PostgresCatalogue::open(&url).unwrap();
        let mut connection = PgConnection::establish(&url).unwrap();
        connection
            .batch_execute("SET statement_timeout = 0; SET client_encoding = UTF8")
            .unwrap();
        // The others are their own forms.
        let forms: Vec<Form> = sql_query(
            "SELECT character, robots_search_text(character) AS form
             FROM generate_series(1, 1114111) AS number,
                 LATERAL (SELECT CASE WHEN number BETWEEN 55296 AND 57343 THEN ''
                     ELSE chr(number) END) AS characters (character)
             WHERE robots_search_text(character) <> character",
        )
        .load(&mut connection)
        .unwrap();
        assert!(forms.len() > 13_000, "{}", forms.len());
        let forms: HashMap<_, _> = forms
            .into_iter()
            .map(|form| (form.character, form.form))
            .collect();
        let mut others = Vec::new();
        for character in '\u{1}'..=char::MAX {
            let name = character.to_string();
            let certain: Option<String> = fold(&name).chars().flat_map(form).collect();
            let found = forms.get(&name).unwrap_or(&name);
            if certain.is_some_and(|certain| certain != *found) {
                others.push(character);
            }
        }
        assert_eq!(others, ['x'; 0], "robots_search_text returns another form");
    }
}
