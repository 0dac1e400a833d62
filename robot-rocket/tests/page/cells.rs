//! Cells of the list: moving among them, editing in place, copying and pasting.

use serde_json::json;

use crate::{
    outage::{CUT_OFF, END},
    visit::Visit,
};

/// Focuses a cell, in which Enter begins to edit.
fn cell(row: u32, key: &str) -> String {
    format!("run $('#table tbody tr:nth-child({row}) [data-key={key}]').focus()")
}

/// The cell with the focus: the name of its robot, and its field.
const PLACE: &str = "[document.activeElement.closest('tr').querySelector('.name').textContent, \
                     document.activeElement.closest('td').dataset.key]";

#[test]
fn cells_are_edited_by_keyboard_and_pointer() {
    let visit = Visit::of(&["A", "B", "C"]);
    let (b, kind, id) = (cell(2, "year"), cell(2, "type"), cell(1, "id"));
    visit.play(&format!(
        r#"{b} -> type <Enter> -> value 1977 -> type 1980<Enter> -> said Saved B. -> is {PLACE} == ["C", "year"]
           stored {{"name":"B","type":"droid","year":1980}} -> type <Up><Left> -> is {PLACE} == ["B", "type"]
           type <Enter>v<Tab> -> is rows()[1] == ["B", "virtual", "1980"] -> is {PLACE} == ["B", "year"]
           stored {{"name":"B","type":"virtual","year":1980}}
           type <Enter>5<Escape> -> is {PLACE} == ["B", "year"] -> is rows()[1] == ["B", "virtual", "1980"]
           type <Enter>-1<Enter> -> see .editing .error: cannot be less than zero -> value -1
           is {PLACE} == ["B", "year"] -> message Year -> accessible a violation in a cell
           type <Control>a1990<Enter> -> said Saved B. -> is rows()[1] == ["B", "virtual", "1990"]
           run $('#table td[data-key=name]').dispatchEvent(new MouseEvent('dblclick', {{ bubbles: true }})) -> value A
           type A2 -> run $('#query').focus() -> said Saved A2. -> see #undo: Changed A2.
           is document.activeElement.id == "query" -> click #undo .quiet -> names A, B, C
           {b} -> type 42<Enter> -> said Saved B. -> {kind} -> type v<Enter> -> is rows()[1] == ["B", "virtual", "42"]
           run $('#table tbody tr:nth-child(2) [data-key=name]').focus() -> type a /b<Enter> -> said Saved a /b.
           {id} -> type a/ -> is {PLACE} == ["A", "id"] -> is $('#adding').hidden == true"#
    ));
}

#[test]
fn typed_text_is_kept_when_rows_are_drawn_anew() {
    let visit = Visit::of(&["A", "B"]);
    let year = cell(1, "year");
    visit.play(&format!(
        r#"{year} -> type <Enter>-1<Enter> -> see .editing .error: cannot be less than zero -> click [data-key=name] button
           names B, A -> see .editing .error: cannot be less than zero -> search B -> names B
           see #undo: A was not changed (Year: -1). Year cannot be less than zero -> search -> names B, A
           reload -> is $('.editing input').value == "-1" -> run $('.editing input').focus(); $('.editing input').select()
           type 1979<Enter> -> said Saved A. -> is sessionStorage.length == 0 -> {year} -> type <Enter>1980 -> run $('#headings [data-key=name] button').click() -> names A, B
           said Saved B. -> stored {{"name":"B","type":"droid","year":1980}} -> is $$('.editing').length == 0"#
    ));
}

#[test]
fn changes_of_a_robot_are_undone_one_after_the_other() {
    let visit = Visit::of(&["A", "B"]);
    let (year, kind) = (cell(1, "year"), cell(1, "type"));
    visit.play(&format!(
        r#"{year} -> type <Enter><Control>a1980<Enter> -> said Saved A. -> is rows()[0] == ["A", "droid", "1980"]
           {kind} -> type <Enter>v<Enter> -> said Saved A. -> is rows()[0] == ["A", "virtual", "1980"]
           click #undo .quiet -> is rows()[0] == ["A", "droid", "1980"] -> see #undo: is as it was
           type <Control>z -> is rows()[0] == ["A", "droid", "1977"] -> stored {{"name":"A","type":"droid","year":1977}}"#
    ));
}

#[test]
fn value_that_was_given_up_in_an_outage_is_not_stored() {
    let visit = Visit::of(&["A", "B"]);
    visit.run(CUT_OFF);
    let year = cell(1, "year");
    visit.play(&format!(
        r#"{year} -> type <Enter><Control>a1980<Enter> -> see #trouble: The server does not answer.
           run $('#table tbody tr:nth-child(1) [data-key=year] input').focus() -> type <Escape>
           is rows()[0] == ["A", "droid", "1977"] -> {END} -> said The server answers again.
           run setTimeout(() => (window.isOver = true), 500) -> is window.isOver == true
           is rows()[0] == ["A", "droid", "1977"] -> stored {{"name":"A","type":"droid","year":1977}}"#
    ));
}

#[test]
fn museum_has_an_input_of_the_kind_of_each_cell() {
    let visit = Visit::museum();
    for (key, kind, typed, shown) in [
        ("type", "select-one", "c", "coin"),
        ("year", "number", "12", "12"),
        ("weight", "number", "2.5", "2.5"),
        ("acquired", "date", "02032001", "2001-02-03"),
        ("on_display", "select-one", "n", "no"),
        ("condition", "select-one", "f", "fair"),
        ("source", "url", "https://x.org", "https://x.org"),
    ] {
        let krater = cell(3, key);
        visit.play(&format!(
            r#"{krater} -> type <Enter> -> is document.activeElement.type == "{kind}"
               run document.activeElement.value = '' -> type {typed}<Enter>
               is $('#table tbody tr:nth-child(3) [data-key={key}]').textContent == "{shown}""#
        ));
    }
    let robot = json!({"id": "4", "name": "Krater", "type": "coin", "accession": "1987.3", "year": 12, "weight": 2.5,
        "acquired": "2001-02-03", "on_display": false, "condition": "fair", "source": "https://x.org",
        "notes": "one\n<img src=x onerror=alert(1)>", "revision": 12});
    visit.assert_stored(4, &robot);
}

#[test]
fn changes_of_others_are_a_conflict_in_the_same_cell_only() {
    let visit = Visit::of(&["A", "B"]);
    let year = cell(1, "year");
    visit.play(&format!(
        r#"{year} -> type <Enter>1 -> PUT /api/robots/1 {{"name":"A","type":"virtual","year":1977}}
           type <Enter> -> said Saved A. -> stored {{"name":"A","type":"virtual","year":1}}
           {year} -> type <Enter>2 -> PUT /api/robots/1 {{"name":"A","type":"virtual","year":3}}
           type <Enter> -> see .editing .conflict: changed this to 3 -> focus Keep mine
           stored {{"name":"A","type":"virtual","year":3}} -> accessible a conflict in a cell
           type <Enter> -> said Saved A. -> stored {{"name":"A","type":"virtual","year":2}}
           {year} -> type <Enter>5 -> PUT /api/robots/1 {{"name":"A","type":"virtual","year":6}}
           type <Enter> -> see .editing .conflict: changed this to 6 -> press Take theirs -> is {PLACE} == ["A", "year"]
           is rows()[0] == ["A", "virtual", "6"]
           type <Enter>7 -> DELETE /api/robots/1 -> type <Enter> -> see .editing .error: deleted meanwhile"#
    ));
}

#[test]
fn table_is_copied_and_pasted_with_a_preview_and_undone() {
    let visit = Visit::of(&["A", "B", "C"]);
    visit.run(
        "window.clip = (kind, text) => { const data = new DataTransfer(); if (text) data.setData('text/plain', text); \
         document.activeElement.dispatchEvent(new ClipboardEvent(kind, { clipboardData: data, bubbles: true, cancelable: true })); \
         return data.getData('text/plain'); }",
    );
    let (start, year) = (cell(1, "name"), cell(2, "year"));
    visit.play(&format!(
        r#"{start} -> type <Shift><Down><Shift><Right> -> said 4 cells selected -> is $$('.chosen').length == 4
           is window.clip('copy') == "A\tdroid\nB\tdroid" -> {year} -> type <Delete> -> see .editing .error: Year is required -> type <Escape>
           {year} -> run window.clip('paste', '5\n\n7')
           see #paste h2: Change 2 values of 2 robots? -> see #paste .problems: C: Year is required -> focus Cancel
           type <Enter> -> is $('#paste') == null -> is {PLACE} == ["B", "year"] -> type <Shift><Down> -> said 2 cells
           run window.clip('paste', '5') -> is texts('#paste tbody tr') == ["BYear19775", "CYear19775"] -> type <Escape> -> {year}
           run window.clip('paste', '5\r\n6\r\n7\r\n8\r\n') -> see #paste .hint: 2 rows are left out
           is texts('#paste tbody tr') == ["BYear19775", "CYear19776"] -> accessible a preview of pasted cells
           focus Change -> type <Enter> -> said Changed 2 robots. -> is $('#paste') == null
           is rows() == [["A", "droid", "1977"], ["B", "droid", "5"], ["C", "droid", "6"]]
           click #undo .quiet -> is rows().map(([, , year]) => year) == ["1977", "1977", "1977"]
           {start} -> run window.clip('paste', '<img src=x onerror=alert(1)>\tvirtual')
           see #paste td: <img src=x onerror=alert(1)> -> is $$('#paste img').length == 0
           PUT /api/robots/1 {{"name":"A1","type":"droid","year":1}} -> type <Enter>
           see #paste .problems: A was changed by another user -> type <Escape> -> stored "name":"A1","type":"droid""#
    ));
    let many = "x\\t1\\n".repeat(50_000);
    visit.play(&format!(
        "{start} -> run window.clip('paste', '{many}') -> see #paste .hint: 49,997 rows are left out -> type <Escape>"
    ));
    let script = r#"return import('/page/pasting.js').then(({ cellsOf }) =>
        ['a\tb\n\tc\n', '"x\ny ""z"""\t2', '', 'a\r\n'].map(cellsOf))"#;
    let expected = json!([
        [["a", "b"], ["", "c"]],
        [["x\ny \"z\"", "2"]],
        [[""]],
        [["a"]]
    ]);
    assert_eq!(visit.run(script), expected);
}
