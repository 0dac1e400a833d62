//! The record of a robot: its values, its history, and versions that are restored.

use serde_json::json;

use crate::visit::Visit;

#[test]
fn record_is_shown_beside_the_list() {
    let visit = Visit::museum();
    visit.play(
        r##"click [data-id='4'] .of-name a -> focus robot-heading
            is [location.hash, document.title] == ["#/robots/4", "Krater · Exhibits"]
            is texts('#record [data-member=notes]') == ["one\n<img src=x onerror=alert(1)>"]
            is $$('#record :is(img, a)').length == 0 -> is $('#table').checkVisibility() == true
            is $('tr.open').dataset.id == "4"
            click [aria-label=Next] -> see #record dd: 2020.1 -> click [aria-label=Previous] -> see #robot-heading: Krater
            click [aria-label=Previous] -> see #robot-heading: Bare
            is $$('#record dd a').map((each) => [each.href, each.rel]) == \
            [["https://example.org/a?b", "noopener noreferrer"]]
            click [aria-label=Next] -> see #robot-heading: Krater -> press Edit -> focus Name
            set #record [data-member=weight] input = -1 -> run $('#record input').focus() -> type <Enter>
            see #record [data-member=weight] .error: Weight cannot be less than 0
            run $('#record textarea').focus(); $('#record textarea').value = '' -> type a<Enter>b
            set #record [data-member=weight] input = 2 -> set #record [data-member=source] input =
            press Save -> said Saved Krater. -> focus robot-heading -> run $('#chart-open').focus() -> type <Escape> -> focus Krater
            is location.hash == """##,
    );
    let robot = json!({"id": "4", "name": "Krater", "type": "vase", "accession": "1987.3",
        "weight": 2, "notes": "a\nb", "revision": 6});
    visit.assert_stored(4, &robot);
    visit.play(
        r"press Edit Krater -> focus Name -> type Bowl -> back -> said Save or cancel the changes first. -> value Bowl
          type <Escape> -> focus robot-heading -> accessible a record -> fits 360
          see #robot-heading: Krater -> is $('#table').checkVisibility() == true",
    );
}

#[test]
fn history_has_what_was_changed_and_restores_versions() {
    Visit::of(&["Marvin"]).play(
        r#"PUT /api/robots/1 {"name":"Marvin","type":"virtual","year":1980}
           PUT /api/robots/1 {"name":"<b>Arthur</b>","type":"virtual","year":1980}
           open #/robots/1 -> reload
           is texts('.history .changed') == ["Name Marvin → <b>Arthur</b>", "Type droid → virtual", "Year 1977 → 1980"]
           is $$('.history time').map((each) => [each.textContent, each.title.includes(':')]) == \
           [["just now", true], ["just now", true], ["just now", true]]
           is $$('.history li:first-child button').length == 0
           click .history li:last-child button -> said Restored a version of Marvin. -> see #robot-heading: Marvin
           stored [{"name":"Marvin","type":"droid","year":1977}] -> names Marvin
           see .history li:first-child: Year 1980 → 1977 -> click #undo .offer button
           said <b>Arthur</b> is as it was. -> see #robot-heading: <b>Arthur</b> -> names <b>Arthur</b>"#,
    );
}

#[test]
fn deleted_robot_is_opened_by_its_link_and_restored() {
    Visit::of(&["Marvin", "R2-D2"]).play(
        r"open #/robots/1 -> see #robot-heading: Marvin -> DELETE /api/robots/1
           see #record .error: This robot is deleted. -> reload -> see #record .error: This robot is deleted.
           see #robot-heading: Marvin -> see #record dd: 1977 -> see .history li:first-child: Deleted
           click #record .head .main -> said Restored a version of Marvin. -> names Marvin, R2-D2
           see .history li:first-child: Restored -> GET /v1/robots/1
           open #/robots/99 -> reload -> see #robot-heading: Nothing has the id 99",
    );
}

#[test]
fn long_history_has_more_pages() {
    let visit = Visit::of(&["Marvin"]);
    for year in 0..25 {
        visit.call("PATCH", "/v1/robots/1", &format!(r#"{{"year":{year}}}"#));
    }
    visit.play(
        "open #/robots/1 -> reload -> is $$('.history li').length == 19
         press Earlier changes -> is $$('.history li').length == 26
         see .history li:last-child: Added -> see .history li:nth-child(25): Year 1977 → 0",
    );
}
