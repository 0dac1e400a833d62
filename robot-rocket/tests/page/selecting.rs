//! Robots that are selected, changed and deleted together.

use crate::visit::Visit;

/// The names of the robots that are selected in the list.
const SELECTED: &str = "texts('tr:has(.of-select :checked) .name')";

#[test]
fn robots_are_selected_and_deleted_by_keyboard() {
    // Other robots of the same filter stay selected in another order, and none in another filter.
    Visit::of(&["A", "B", "C", "D", "E"]).play(&format!(
        r#"tab Select A -> type <Down><Space> -> said 1 robot selected
           type <Down><Down><Shift><Space> -> see #selection-count: 3 robots selected
           is {SELECTED} == ["B", "C", "D"] -> is $('thead .of-select input').indeterminate == true
           click [data-key=name] button -> names E, D, C, B, A -> is {SELECTED} == ["D", "C", "B"]
           press Select D -> focus changing-open
           tab Select D -> type <Delete><Enter> -> see #erasing-words: Delete 3 robots?
           type <Escape> -> focus erasing-open -> type <Enter><Enter> -> said Deleted 3 robots.
           names E, A -> focus robots -> is $('#selection').hidden == true
           tab Select all on this page -> type <Space> -> is {SELECTED} == ["E", "A"]
           type /A -> names A -> is $('#selection').hidden == true"#
    ));
}

#[test]
fn selected_robots_are_changed_together_or_not_at_all() {
    Visit::of(&["A", "B", "C", "D"]).play(&format!(
        r#"run $('thead .of-select input').click()
           PUT /api/robots/2 {{"name":"B2","type":"virtual","year":1}} -> DELETE /api/robots/3
           is $$('#changing-member option').map((each) => each.value) == ["", "type", "year"]
           press changing-open -> focus Field -> type y -> press Year -> see #changing .error: Year is required.
           type 1980<Enter> -> see #selection-result h3: No robot was changed. -> focus selection-count
           is texts('#selection-result li') == ["C was deleted by another user."]
           names A, B2, D -> is {SELECTED} == ["A", "B2", "D"] -> stored {{"name":"A","type":"droid","year":1977}}
           accessible failures of a change
           press changing-open -> tab Year -> run document.activeElement.value = ''
           type -1<Enter> -> said No robot was changed.
           see #selection-result li: Year cannot be less than zero (robots 1, 2, 4)
           press changing-open -> tab Year -> run document.activeElement.value = '' -> type 1980
           PUT /api/definition {{"properties":{{"maker":{{"type":"string"}}}}}}
           POST /api/robots {{"name":"E","type":"droid","year":1,"maker":"M"}}
           is !!$('#changing-member [value=maker]') == true -> focus Year
           type <Enter> -> said Changed 3 robots. -> is {SELECTED} == []
           stored [{{"name":"A","type":"droid","year":1980}},{{"name":"B2","type":"virtual","year":1980}},\
              {{"name":"D","type":"droid","year":1980}}
           edit B2 -> type B<Enter> -> said Saved B.
           PUT /api/definition?drop_values=true {{"properties":{{}}}} -> run $('tbody .of-select input').click()
           run $('#erasing').requestSubmit() -> see #selection-result li: which is not a field
           run $('#erasing').requestSubmit() -> said Deleted 1 robot."#
    ));
}

#[test]
fn whole_list_is_selected() {
    Visit::of_many(1200).play(
        "tab Select all on this page -> type <Space> -> see #selection-count: 100 robots selected
         click #selection-all -> said 1,200 robots selected -> focus selection-count
         is $('#selection-all').hidden == true -> click #changing-open -> type y -> press Year
         type 1980<Enter> -> said Changed 1,200 robots. -> open ?year=1980 -> see #count: 1,200 robots
         open ?q=0011 -> see #count: 111 robots -> is $('#selection').hidden == true
         tab Select all on this page -> type <Space> -> click #selection-all -> said 111 robots selected
         click #erasing-open -> type <Enter> -> said Deleted 111 robots. -> open ? -> see #count: 1,089 robots",
    );
}

#[test]
fn many_robots_are_deleted_by_one_request_also_in_an_outage() {
    let visit = Visit::of_many(60);
    visit.play(
        "rows 60 -> run $('thead .of-select input').click() -> run $('tbody .of-select input').click()",
    );
    visit.run(
        "const send = window.fetch; window.sent = 0; window.fetch = async (path, options) => { \
         const answer = await send(path, options); \
         if (options.method === 'DELETE' && ++window.sent) throw new TypeError('down'); \
         return answer; }",
    );
    visit.play(
        "run $('#erasing').requestSubmit()
         see #selection-result h3: Whether the robots were deleted is unknown. -> see #count: 1 robot
         is $('#selection-count').textContent == \"no robots selected\" -> is window.sent == 1",
    );
}

#[test]
fn catalogue_of_unique_names_has_no_field_to_change() {
    Visit::of(&["A", "B"]).play(
        r#"PUT /api/definition?drop_values=true {"properties": {"type": false, "year": false}}
           reload -> names A, B -> click tbody .of-select input -> see #selection-count: 1 robot selected
           is $('#changing-open').checkVisibility() == false -> is $('#erasing-open').checkVisibility() == true"#,
    );
}
