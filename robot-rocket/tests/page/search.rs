//! Search while typing, and in the address.

use robot_core::fold;
use serde_json::json;

use crate::visit::Visit;

#[test]
fn typing_searches_announces_and_changes_the_address() {
    Visit::of(&["BB-8", "Marvin", "R2-D2", "R2-KT", "r2"]).play(
        "type /R2 -> names R2-D2, R2-KT, r2 -> said 3 robots found
         type -K -> rows 1 -> address ?q=R2-K
         type ? -> see #none: No robot has all words of R2-K?. -> names -> said no robots found
         type <Escape> -> rows 5 -> address
         open -> rows 5 -> type /Mar<Enter> -> rows 1
         reload -> rows 1 -> is $('#query').value == \"Mar\"
         back -> rows 5 -> is $('#query').value == \"\"",
    );
}

#[test]
fn search_says_what_it_reads_and_what_could_help() {
    Visit::museum().play(
        r#"is $('#query').placeholder == "Search name, maker" -> type /2020.1
           see #none: Only Name, Maker are searched. You can add others, such as Accession, Notes, Source.
           press Choose the fields of the search… -> focus fields-heading -> type <Escape>
           press Show all records -> rows 5 -> is $('#query').value == """#,
    );
}

#[test]
fn special_characters_are_searched_literally() {
    let names = [
        ".", "..", "a.b", "%2F", "50%", "a/b", "a+b", "a b", "#1?", "\\", "é", "🤖",
    ];
    Visit::of(&names).play(
        r"search .. -> names ..
          search . -> names ., .., a.b
          search %2F -> names %2F
          search % -> names %2F, 50%
          search / -> names a/b
          search + -> names a+b
          search #1? -> names #1?
          search \ -> names \ -> rows 1
          search 🤖 -> names 🤖
          search b a -> names a b, a+b, a.b, a/b",
    );
}

/// Names that differ in case, diacritics and other ways.
const SIMILAR: &str = "KATERINA|Kate\u{159}ina|Kater\u{30c}ina 2|katarina|..\u{301}|\u{212a}\u{c4}T\u{20dd}|\u{3a3}\u{3c5}\u{3c2}|\u{3c3}\u{3a5}\u{3a3}|\
    Stra\u{df}e|STRASSE|STRA\u{1e9e}E|\u{130}stanbul|Istanbul|\u{131}stanbul|\u{1c5}|\u{1c6}|\
    \u{d55c}|\u{1112}|\u{30ac}|\u{30ab}|\u{13a0}(.[*|\u{ab70}(.[*";

#[test]
fn case_and_diacritics_are_ignored() {
    let names: Vec<_> = SIMILAR.split('|').collect();
    let visit = Visit::of(&names);
    visit.allow_downloads();
    visit.play(
        "type /kateri -> names KATERINA, Kater\u{30c}ina 2, Kate\u{159}ina -> see #count: 3 robots
         press Export -> press CSV
         saved robots.csv name,type,year,id\\nKATERINA,droid,1977,1\\n\
         Kater\u{30c}ina 2,droid,1977,3\\nKate\u{159}ina,droid,1977,2\\n
         press Export -> tab All fields, with ids -> type <Space> -> press CSV
         saved robots.csv id,name,type,year,revision\\n1,KATERINA,droid,1977,1\\n\
         3,Kater\u{30c}ina 2,droid,1977,3\\n2,Kate\u{159}ina,droid,1977,2\\n
         open ?q=.. -> names ..\u{301}",
    );
    // The page decides for itself whether it shows a robot that was added or changed.
    let script = format!(
        "const done = arguments[0], names = {};
         import('./page/view.js').then(({{ contains }}) =>
             done(names.map((name) => names.filter((text) => contains(name, text)))))",
        json!(names)
    );
    let contained = names.iter().map(|name| {
        let mut texts = names.clone();
        texts.retain(|text| fold(name).contains(&*fold(text)));
        texts
    });
    let contained: Vec<_> = contained.collect();
    assert_eq!(visit.browser.run_async(&script), json!(contained));
}
