//! Adding, editing, deleting and restoring robots.

use std::{thread, time::Duration};

use crate::visit::Visit;

#[test]
fn empty_catalogue_offers_sample_robots() {
    Visit::of(&[]).play(
        r#"see #start: No robots yet -> names -> press add-samples
           rows 9 -> focus robots -> said Added 9 sample robots. -> see #count: 9 robots
           is $('#start').hidden == true
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
    let state = "[$('#add').checkVisibility(), $('#adding-open').ariaExpanded]";
    let (open, closed) = (r#"[true, "true"]"#, r#"[false, "false"]"#);
    visit.set_width(360);
    visit.play(&format!(
        "reload -> rows 1 -> is {state} == {closed} -> press adding-open -> focus Name -> is {state} == {open}
         type a<Escape> -> focus adding-open -> is {state} == {closed}
         type a -> focus Name -> value -> type a -> press adding-close -> type a -> value a -> press adding-close -> focus adding-open
         run $('#shortcuts').click() -> type a -> focus adding-open"
    ));
}

#[test]
fn each_violation_is_shown_beside_its_field() {
    Visit::of(&["Marvin"]).play(
        "type a -> focus Name -> type Marvin<Tab><Tab>-1<Enter>
         see #add .of-name .error: Name must be unique -> see #add a: Marvin
         see #add .of-type .error: Type is required
         see #add .of-year .error: Year cannot be less than zero
         focus Name -> message Name must be unique -> type <Space>II<Tab>v<Tab>x<Enter> -> focus Year
         see #add .of-year .error: Year must be a whole number, 0 or more
         message Year must be a whole number, 0 or more -> names Marvin",
    );
}

#[test]
fn robot_is_edited_in_its_record() {
    Visit::of(&["Marvin", "R2-D2"]).play(
        r#"edit Marvin -> type Arthur<Escape> -> focus robot-heading -> names Marvin, R2-D2
           stored [{"name":"Marvin","type":"droid","year":1977},{"name":"R2-D2","type":"droid","year":1977}]
           type <Escape> -> focus Marvin -> edit R2-D2
           type Marvin<Enter> -> see #record .error: Name must be unique -> focus Name
           message Name must be unique -> type <Control>aR3-D3<Tab>m<Tab>1980<Enter>
           focus robot-heading -> said Saved R3-D3. -> is rows()[1] == ["R3-D3", "mechanical", "1980"]
           stored {"name":"R3-D3","type":"mechanical","year":1980}"#,
    );
}

#[test]
fn last_changes_are_undone_one_after_the_other() {
    Visit::of(&["BB-8", "Marvin", "R2-D2"]).play(
        r#"press Delete Marvin -> rows 2 -> focus Delete R2-D2 -> said Deleted Marvin. Control Z restores it.
           stored [{"name":"BB-8","type":"droid","year":1977},{"name":"R2-D2","type":"droid","year":1977}]
           type <Control>z -> names BB-8, Marvin, R2-D2 -> said Marvin was restored.
           PUT /api/robots/2 {"name":"Marvin","type":"droid","year":1980}
           is rows()[1] == ["Marvin", "droid", "1980"] -> press Delete Marvin -> rows 2
           POST /api/robots {"name":"Marvin","type":"virtual","year":1}
           click #undo .offer button -> see #undo: Not undone: Deleted Marvin. Name must be unique
           DELETE /api/robots/4 -> click #undo .offer button -> said Marvin was restored.
           stored {"name":"Marvin","type":"droid","year":1980}
           enter K-9<Tab>d<Tab>1977 -> rows 4 -> type <Escape> -> DELETE /api/robots/5
           type <Control>z -> said K-9 was deleted since. -> edit BB-8 -> type BB-9<Enter> -> said Saved BB-9.
           PUT /api/robots/1 {"name":"BB-10","type":"droid","year":1977}
           type <Control>z -> said BB-9 was changed since. Its history can restore each version."#,
    );
}

#[test]
fn changes_of_everybody_are_listed_and_undone() {
    let visit = Visit::of(&["A", "B"]);
    visit.play(
        r#"press recent-open -> focus recent-heading -> see #recent-changes: Added 2 robots: B, A
           PATCH /v1/robots/1 {"year":1980} -> see #recent-changes li:first-child: Changed A
           see #recent-changes li:first-child .changed: Year 1977 → 1980"#,
    );
    // Others than those before.
    let pause = || thread::sleep(Duration::from_millis(1100));
    pause();
    visit.play(
        "DELETE /api/robots/2 -> see #recent-changes li:first-child: Deleted B -> see #table .gone: B
         click #recent-changes li:first-child button -> said Undone for 1 robot. -> is $$('#table .gone').length == 0
         see #recent-changes li:first-child: Restored B -> see #recent-changes li:last-child: Added 2 robots: B, A",
    );
    pause();
    visit.play(
        r#"PATCH /v1/robots/1 {"year":1990} -> see #recent-changes li:first-child: Changed A
           see #recent-changes li:first-child .changed: Year 1980 → 1990
           click #recent-changes li:first-child button -> said Undone for 1 robot. -> see #table: 1980
           see #recent-changes li:first-child .changed: Year 1990 → 1980 -> see #recent-by: everybody -> see #recent-by: unknown
           set #recent-day =2020-01-01 -> see #recent-words: Nothing was changed -> set #recent-day =
           see #recent-changes li:first-child: Changed A -> set #recent-by =
           see #recent-changes li:first-child: Changed A
           click #recent-changes li:last-child a:first-of-type -> see #record h2: B -> is $('#recent').hidden == true"#,
    );
}

#[test]
fn undoing_names_robots_that_were_changed_since() {
    let visit = Visit::of(&["A", "B", "C"]);
    let pause = || thread::sleep(Duration::from_millis(1100));
    pause();
    visit.play(r#"PATCH /v1/robots {"ids":["1","2","3"],"changes":{"year":5}}"#);
    pause();
    visit.play(
        r#"PATCH /v1/robots/1 {"year":6} -> press recent-open -> see #recent-changes li:last-child: Added 3 robots: C, B, A
           see #recent-changes li:nth-child(2): Changed 3 robots -> see #recent-changes li:nth-child(2): Year 1977 → 5 -> see #recent-changes li:first-child .changed: Year 5 → 6
           click #recent-changes li:nth-child(2) button
           said Undone for 2 robots. 1 robot changed since stays as it is: A."#,
    );
}

#[test]
fn many_changes_are_undone_if_that_is_confirmed() {
    Visit::of_many(150).play(
        "click #recent-open -> see #recent-changes li: Added 150 robots -> click #recent-changes li button
         see #recent-changes li: Undo this for 150 robots? -> rows 100 -> type <Enter> -> said Undone for 150 robots.
         see #count: no robots",
    );
}

#[test]
fn changes_are_undone_but_for_robots_changed_since() {
    Visit::of(&["A", "B", "C"]).play(
        r"run $('thead .of-select input').click() -> press changing-open -> focus Field -> type y -> tab Year
          type 1980<Enter> -> said Changed 3 robots. -> see #undo: Changed 3 robots.
          see #count: 3 robots -> is $('#count').textContent == '3 robots'
          PATCH /v1/robots/2 {'type':'virtual'} -> see #table: virtual -> click #undo .offer button
          said Undone for 2 robots. 1 robot changed since stays as it is: B.
          is rows() == [['A', 'droid', '1977'], ['B', 'virtual', '1980'], ['C', 'droid', '1977']]
          choose robots.csv name,type,year\nD,droid,1\nE,droid,2\n -> see #plan-counts: Would add 2 robots.
          import -> see #import-outcome: Added 2 robots. -> rows 5 -> see #undo: Imported robots.csv.
          click #undo .offer button -> said Undone for 2 robots. -> names A, B, C -> see #count: 3 robots
          click #importing-close -> is $('#news button').hidden == true
          run $('thead .of-select input').click() -> press changing-open -> type <Enter> -> focus Field -> type y -> tab Year
          type 1<Enter> -> said Changed 3 robots. -> run $('[data-action=select]').click() -> run $('#erasing').requestSubmit()
          said Deleted 1 robot. -> type <Control>z -> said Undone for 1 robot. -> type <Control>z -> said Undone for 3 robots.
          run $('thead .of-select input').click() -> run $('#erasing').requestSubmit() -> said Deleted 3 robots.
          see #start: No robots yet -> click #undo .offer button -> names A, B, C"
            .replace('\'', "\"")
            .as_str(),
    );
}

/// Undoing changes is too much at once. Of its two parts, the last one succeeds, and the first one at the second attempt.
const PARTS: &str = "
    const send = window.fetch;
    const answer = (status, body) => new Response(JSON.stringify(body), { status });
    const refuse = (status, message) => answer(status, { errors: [{ message }] });
    const answers = [refuse(413, 'too many'), answer(200, { count: '2', left: [], changes: null }), refuse(500, 'It fails.')];
    let pages = 0;
    window.undone = [];
    window.fetch = async (path, options) => {
        if (path.includes('v1/changes?')) return answer(200, { changes: [], next: `p-${++pages}`, more: pages < 10 });
        if (path !== 'v1/revert') return send(path, options);
        window.undone.push(JSON.parse(options.body));
        return answers.shift() ?? answer(200, { count: '1', left: [], changes: null });
    };";

#[test]
fn rest_of_many_changes_is_undone_again_if_a_part_fails() {
    let visit = Visit::of(&["A"]);
    visit.play(
        "choose robots.csv name\\nD1\\nD2\\nD3\\nD4\\nD5\\nD6\\nD7\\nD8\\nD9\\nD10\\n -> see #plan-counts: Would add 10 robots.
         import -> see #undo: Imported robots.csv. -> click #importing-close",
    );
    visit.run(PARTS);
    visit.play(
        "click #undo .offer button -> said Undone for 2 robots. Not undone for the others. It may be undone
         click #undo .offer button -> said Undone for 1 robot. -> is $('#undo').textContent.includes('Undo:') == false
         is window.undone.map(({ after, until }) => [after === window.undone[0].after, until]).slice(2) == \
         [[true, \"p-9\"], [true, \"p-9\"]]",
    );
}

#[test]
fn undo_adds_no_rows_to_a_filtered_list() {
    let visit = Visit::of(&["A", "B", "C"]);
    thread::sleep(Duration::from_millis(1100));
    visit.play(
        "run $('thead .of-select input').click() -> press changing-open -> focus Field -> type y -> tab Year
         type 1980<Enter> -> said Changed 3 robots. -> open ?q=A -> names A -> press recent-open
         see #recent-changes: Changed 3 robots -> click #recent-changes li:first-child button -> said Undone for 3 robots.
         names A -> see #count: 1 robot",
    );
}

#[test]
fn robot_is_deleted_once() {
    Visit::of(&["BB-8", "Marvin"]).play(
        "hold method === 'DELETE'
         run for (const each of ['Delete', 'Delete']) $(`[aria-label='${each} Marvin']`).click()
         release -> names BB-8 -> see #undo .offer: Deleted Marvin.
         DELETE /api/robots/1 -> see #table .gone: BB-8 -> click [data-action=delete] -> see #undo .offer: BB-8 was deleted by another user.
         see #start: No robots yet -> type <Control>z -> names Marvin",
    );
}

#[test]
fn late_answer_leaves_the_focus_in_the_search() {
    Visit::of(&["BB-8", "Marvin"]).play(
        "edit Marvin -> hold method === 'PATCH' -> type Arthur<Enter> -> run $('#query').focus()
         release -> said Saved Arthur. -> is document.activeElement.id == \"query\"
         click [data-action=delete] -> rows 1 -> hold method === 'POST' -> click #undo .offer button
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
