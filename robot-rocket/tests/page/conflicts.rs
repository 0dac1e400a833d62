//! Robots that another client changes or deletes meanwhile.

use crate::visit::Visit;

/// A visit whose edit of Marvin was overtaken.
fn overtaken() -> Visit {
    let visit = Visit::of(&["Marvin"]);
    visit.play(
        r#"edit Marvin -> type Arthur -> PUT /api/robots/1 {"name":"Zaphod","type":"droid","year":1979}
           type <Enter> -> see .conflict h3: Another user has changed this robot"#,
    );
    visit
}

#[test]
fn own_version_is_kept_without_what_was_not_touched() {
    overtaken().play(
        r#"said Zaphod was changed by another user. Nothing was saved yet.
           is document.activeElement.className == "conflict"
           is texts('.conflict tbody tr') == ["NameArthurZaphod"]
           is $('#record input').value == "Arthur" -> stored Zaphod
           press Keep mine -> focus robot-heading -> said Saved Arthur.
           stored [{"name":"Arthur","type":"droid","year":1979}]"#,
    );
}

#[test]
fn other_version_is_taken() {
    overtaken().play(
        r#"press Take theirs -> focus robot-heading -> names Zaphod -> is $('#record h2').textContent == "Zaphod"
           stored [{"name":"Zaphod","type":"droid","year":1979}]"#,
    );
}

#[test]
fn editing_continues_and_may_be_overtaken_again() {
    overtaken().play(
        r#"run $('#record input').focus() -> type <Space>Dent -> see .conflict td: Arthur Dent
           PUT /api/robots/1 {"name":"Trillian","type":"virtual","year":1980}
           type <Enter> -> see .conflict td: Trillian -> is $$('.conflict').length == 1
           run $('#record input').focus() -> type <Tab><Tab>1981<Enter> -> said Saved Arthur Dent.
           stored [{"name":"Arthur Dent","type":"virtual","year":1981}]"#,
    );
}

#[test]
fn changes_of_other_values_are_no_conflict() {
    Visit::of(&["Marvin"]).play(
        r#"edit Marvin -> type Arthur -> PATCH /v1/robots/1 {"year":1980}
           is $('#record .of-year input').value == "1980" -> is $('#record input').value == "Arthur"
           hold path.endsWith('robots/1') -> type <Enter> -> PATCH /v1/robots/1 {"type":"virtual"} -> release
           said Saved Arthur. -> is $$('.conflict').length == 0
           stored [{"name":"Arthur","type":"virtual","year":1980}]
           press Edit -> focus Name -> type Ford -> PATCH /v1/robots/1 {"name":"Ford"} -> type <Enter>
           is $('.editor') == null -> see #robot-heading: Ford -> PATCH /v1/robots/1 {"year":7} -> hold method === 'DELETE'
           press Delete -> PATCH /v1/robots/1 {"name":"Zaphod"} -> release
           see #undo: Ford was not deleted: another user has just changed it. -> names Zaphod"#,
    );
}

#[test]
fn robot_that_was_deleted_meanwhile_is_restored() {
    overtaken().play(
        r#"DELETE /api/robots/1 -> press Keep mine -> see #record .error: This robot was deleted meanwhile.
           run $('#record input').focus() -> type <Enter> -> said Saved Arthur. -> names Arthur
           stored [{"name":"Arthur","type":"droid","year":1979}] -> GET /v1/robots/1
           press Edit -> focus Name -> type Ford -> DELETE /api/robots/1
           type <Enter> -> see #record .error: This robot was deleted meanwhile.
           type <Escape> -> see #start: No robots yet"#,
    );
}
