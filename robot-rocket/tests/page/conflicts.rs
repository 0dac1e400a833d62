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
fn both_versions_are_shown_and_own_one_is_kept() {
    overtaken().play(
        r#"said Zaphod was changed by another user. Nothing was saved yet.
           is document.activeElement.className == "conflict"
           is $$('.conflict .differs').map((row) => [...row.cells].map((cell) => cell.textContent).join('|')) \
              == ["Name (differs)|Arthur|Zaphod", "Year (differs)|1977|1979"]
           is texts('.conflict tbody tr:not(.differs)') == ["Typedroiddroid"]
           is $('tr.edited input').value == "Arthur" -> stored Zaphod
           press Keep mine -> focus Edit Arthur -> said Saved Arthur.
           stored [{"name":"Arthur","type":"droid","year":1977}]
           type <Enter> -> focus Name -> type Ford<Enter> -> focus Edit Ford"#,
    );
}

#[test]
fn other_version_is_taken() {
    overtaken().play(
        r#"press Take theirs -> focus Edit Zaphod -> names Zaphod
           stored [{"name":"Zaphod","type":"droid","year":1979}]"#,
    );
}

#[test]
fn editing_continues_and_may_be_overtaken_again() {
    overtaken().play(
        r#"run $('tr.edited input').focus() -> type <Space>Dent -> see .conflict td: Arthur Dent
           PUT /api/robots/1 {"name":"Trillian","type":"virtual","year":1980}
           type <Enter> -> see .conflict td: Trillian -> is $$('.conflict').length == 1
           run $('tr.edited input').focus() -> type <Tab><Tab>1981<Enter> -> focus Edit Arthur Dent
           stored [{"name":"Arthur Dent","type":"droid","year":1981}]"#,
    );
}

#[test]
fn robot_that_was_deleted_meanwhile_can_be_added_again() {
    overtaken().play(
        r#"DELETE /api/robots/1 -> press Keep mine -> see tr.edited .error: This robot was deleted meanwhile.
           type <Enter> -> focus Edit Arthur -> type <Enter> -> focus Name -> type Ford
           DELETE /api/robots/2 -> POST /api/robots {"name":"BB-8","type":"droid","year":2015}
           click [data-key=name] button -> names BB-8 -> run $('tr.edited input').focus()
           type <Enter> -> see tr.edited .error: This robot was deleted meanwhile.
           type <Enter> -> focus Edit Ford -> names Ford, BB-8"#,
    );
}

#[test]
fn row_of_a_deleted_robot_is_removed_on_cancel() {
    Visit::of(&["Marvin", "R2-D2"]).play(
        "edit Marvin -> type Arthur -> DELETE /api/robots/1
         type <Enter> -> see tr.edited .error: This robot was deleted meanwhile.
         type <Escape> -> focus Delete R2-D2 -> names R2-D2",
    );
}

#[test]
fn change_by_another_user_is_a_conflict_only_if_it_differs() {
    Visit::of(&["Marvin"]).play(
        r#"edit Marvin -> type Arthur -> PUT /api/robots/1 {"name":"Arthur","type":"droid","year":1977}
           type <Enter> -> focus Edit Arthur -> said Saved Arthur.
           PUT /api/robots/1 {"name":"Zaphod","type":"droid","year":1979} -> press Delete Arthur
           see #undo: Arthur was not deleted: another user has just changed it.
           focus Delete Zaphod -> names Zaphod -> type <Enter> -> see #start: No robots yet -> stored []"#,
    );
}
