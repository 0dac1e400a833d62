//! Adding, editing, deleting and restoring robots.

use crate::visit::Visit;

#[test]
fn empty_catalogue_offers_sample_robots() {
    Visit::of(&[]).play(
        r#"see #start: No robots yet -> see #start: /v1/robots -> names -> press Add sample robots
           rows 9 -> focus robots -> said Added 9 sample robots. -> see #count: 9 robots
           see #picture h2: By year and type -> is $('#start').hidden == true
           stored {"name":"R2-D2","type":"droid","year":1977}"#,
    );
}

#[test]
fn added_robot_is_announced_and_form_is_cleared() {
    Visit::of(&["Marvin"]).play(
        r#"enter C-3PO<Tab>dr<Tab>1977 -> names C-3PO, Marvin -> said Added C-3PO, droid, 1977.
           see #count: 2 robots -> focus Name -> type BB-8<Tab><Tab>2015<Enter> -> rows 3
           stored {"name":"BB-8","type":"droid","year":2015} -> reload -> names BB-8, C-3PO, Marvin"#,
    );
}

#[test]
fn form_opens_by_button_or_key_and_keeps_typed_text() {
    let visit = Visit::of(&["Marvin"]);
    let state = "[$('#add').checkVisibility(), $('#robots').getBoundingClientRect().top < innerHeight / 2, \
                 $('#adding-open').ariaExpanded]";
    let (open, closed) = (r#"[true, false, "true"]"#, r#"[false, true, "false"]"#);
    visit.set_width(360);
    visit.play(&format!(
        "reload -> rows 1 -> is {state} == {closed} -> press adding-open -> focus Name -> is {state} == {open}
         type a<Escape> -> focus adding-open -> is {state} == {closed}
         type a -> focus Name -> value a -> press adding-close -> focus adding-open
         run $('#shortcuts').click() -> type a -> focus adding-open"
    ));
}

#[test]
fn each_violation_is_shown_beside_its_field() {
    Visit::of(&["Marvin"]).play(
        "type a -> focus Name -> type Marvin<Tab><Tab>-1<Enter>
         see #add .of-name .error: The robot name must be unique
         see #add .of-type .error: type is required
         see #add .of-year .error: The year cannot be less than zero
         focus Name -> message The robot name must be unique -> type <Space>II<Tab>v<Tab>x<Enter> -> focus Year
         see #add .of-year .error: year must be an integer from 0 to 9223372036854775807
         message year must be an integer from 0 to 9223372036854775807 -> names Marvin",
    );
}

#[test]
fn robot_is_edited_in_its_row() {
    Visit::of(&["Marvin", "R2-D2"]).play(
        r#"edit Marvin -> type Arthur<Escape> -> focus Edit Marvin -> names Marvin, R2-D2
           stored [{"name":"Marvin","type":"droid","year":1977},{"name":"R2-D2","type":"droid","year":1977}]
           type <Down> -> focus Edit R2-D2 -> type <Enter> -> focus Name
           type Marvin<Enter> -> see tr.edited .error: The robot name must be unique -> focus Name
           message The robot name must be unique -> type <Control>aR3-D3<Tab>m<Tab>1980<Enter>
           focus Edit R3-D3 -> said Saved R3-D3. -> is rows()[1] == ["R3-D3", "mechanical", "1980"]
           stored {"name":"R3-D3","type":"mechanical","year":1980}"#,
    );
}

#[test]
fn deleted_robot_can_be_restored() {
    Visit::of(&["BB-8", "Marvin", "R2-D2"]).play(
        r#"press Delete Marvin -> rows 2 -> focus Delete R2-D2 -> said Deleted Marvin. Control Z restores it.
           stored [{"name":"BB-8","type":"droid","year":1977},{"name":"R2-D2","type":"droid","year":1977}]
           type <Control>z -> names BB-8, Marvin, R2-D2 -> focus Edit Marvin -> said Marvin was restored.
           stored {"name":"Marvin","type":"droid","year":1977}
           press Delete Marvin -> rows 2 -> POST /api/robots {"name":"Marvin","type":"virtual","year":1}
           click #undo .main -> see #undo: Marvin is not back. The robot name must be unique -> focus Undo
           DELETE /api/robots/5 -> type <Enter> -> focus Edit Marvin
           stored {"name":"Marvin","type":"droid","year":1977}"#,
    );
}

#[test]
fn robot_is_deleted_once_and_not_edited_meanwhile() {
    Visit::of(&["BB-8", "Marvin"]).play(
        "hold method === 'DELETE'
         run for (const each of ['Delete', 'Delete', 'Edit']) $(`[aria-label='${each} Marvin']`).click()
         release -> names BB-8 -> is $$('.offer, tr.edited').length == 1
         DELETE /api/robots/1 -> click [data-action=delete] -> see #undo .offer: BB-8
         see #start: No robots yet -> type <Control>z -> names Marvin",
    );
}

#[test]
fn pending_undo_is_shown_until_it_is_answered() {
    let visit = Visit::of(&["BB-8", "Marvin"]);
    visit.play(
        "click [data-action=delete] -> names Marvin
         hold method === 'POST' -> click #undo .main",
    );
    // From here on, the time of an offer is over at once.
    visit.run(
        "const start = setTimeout; \
         window.setTimeout = (action, time) => start(action, time === 10_000 ? 0 : time); \
         $('.offer').dispatchEvent(new MouseEvent('mouseleave')); $('.offer [aria-label=Dismiss]').click()",
    );
    let wait = "setTimeout(arguments[arguments.length - 1], 100)";
    visit.browser.run_async(wait);
    visit.play(
        "is $$('.offer').length == 1
         release -> names BB-8, Marvin -> is $$('.offer').length == 0",
    );
}

#[test]
fn late_answer_leaves_the_focus_in_the_search() {
    Visit::of(&["BB-8", "Marvin"]).play(
        "edit Marvin -> hold method === 'PUT' -> type Arthur<Enter> -> run $('#query').focus()
         release -> said Saved Arthur. -> is document.activeElement.id == \"query\"
         click [data-action=delete] -> rows 1 -> hold method === 'POST' -> click #undo .main
         run $('#query').focus() -> release -> said was restored. -> is document.activeElement.id == \"query\"",
    );
}

#[test]
fn deleted_robot_is_in_no_list_read_before_or_meanwhile() {
    let visit = Visit::of(&["BB-8", "Marvin", "R2-D2"]);
    // The first answer is read before the deletion, and arrives after it.
    visit.run(
        "const send = window.fetch; window.held = 0; \
         const released = new Promise((resolve) => (window.release = resolve)); \
         window.fetch = async (path, options) => { \
         const answer = await send(path, options); \
         if (path.includes('sort=-name') && window.held++ === 0) await released; \
         return answer; }",
    );
    visit.play(
        "click [data-key=name] button -> is window.held == 1
         click [aria-label='Delete Marvin'] -> names R2-D2, BB-8 -> release
         type <Control>z -> names R2-D2, Marvin, BB-8
         hold method === 'DELETE' -> click [aria-label='Delete Marvin'] -> click [data-key=name] button
         names BB-8, Marvin, R2-D2 -> release -> names BB-8, R2-D2",
    );
}
