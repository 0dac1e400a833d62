//! Filter and order of the list, and both in the address.

use crate::visit::Visit;

/// A visit to six robots of different types and years.
fn visit() -> Visit {
    Visit::of_robots(&[
        ("R2-D2", "droid", "1977"),
        ("C-3PO", "droid", "1977"),
        ("BB-8", "droid", "2015"),
        ("Robby", "mechanical", "1956"),
        ("HAL 9000", "virtual", "1968"),
        ("late", "virtual", "9223372036854775807"),
    ])
}

#[test]
fn filters_are_added_and_removed_by_keyboard() {
    visit().play(
        "press + Filter -> press Type -> focus droid -> type <Tab><Tab><Space> -> names HAL 9000, late
         said 2 robots found -> type <Escape> -> focus Type virtual
         press + Filter -> press Year -> focus Year from -> type 1960<Tab>2000 -> names HAL 9000
         address ?type=virtual&year_from=1960&year_to=2000
         press Remove the filter Type -> focus + Filter -> names C-3PO, HAL 9000, R2-D2 -> see #count: 3 robots
         type /2- -> names R2-D2 -> type x -> see #none: No robot has all words of 2-x and matches the filter.
         press Show all robots -> rows 6 -> address -> press + Filter -> press Name -> focus Name -> type <Escape>
         focus + Filter -> is $$('#chips li').length == 0",
    );
}

#[test]
fn texts_are_compared_and_suggested_with_their_counts() {
    Visit::museum().play(
        r#"filter maker -> focus Maker -> see .suggestions: Exekias -> type ath -> names Owl, Owl
           address ?maker_contains=ath -> is texts('.suggestions li') == ["Athens 1", "Áthens 1"]
           click .suggestions button -> names Owl -> address ?maker=Athens -> see #chips summary: Maker is Athens
           focus Maker -> accessible a filter of texts -> set #chips select = _not
           names Amphora, Bare, Krater, Owl -> address ?maker_not=Athens -> run $('#chips .choice input').click()
           names Bare, Krater -> address ?maker= -> reload -> names Bare, Krater -> see #chips summary: Maker is empty
           open ?name_contains=OW -> names Owl, Owl -> see #chips summary: Name contains OW
           open ?by=maker -> is texts('#numbers tbody tr') == ["Athens1", "Exekias1", "Áthens1", "none2"]
           click .bin .part -> names Owl -> address ?maker=Athens&by=maker
           open ?maker_contains=ath&columns=name,year -> names Owl, Owl
           is $('#headings tr').cells.length == $('#table tbody tr').cells.length == true"#,
    );
}

/// The headings with an order, as they are announced.
const ORDER: &str = "$$('#headings [aria-sort]').map((each) => [each.textContent, each.ariaSort])";

#[test]
fn filter_and_order_follow_the_address() {
    let is_set =
        r#"[$('#query').value, ...texts('#chips summary')] == ["-", "Type droid", "Year to 2015"]"#;
    visit().play(&format!(
        r#"open ?q=-&type=droid&sort=-year&year_to=2015 -> names BB-8, C-3PO, R2-D2 -> is {is_set}
           press Remove the filter Type -> is location.search.includes('type') == false
           press + Filter -> press Type -> tab mechanical -> type <Space> -> see #none: matches the filter.
           reload -> see #none: matches the filter.
           back -> back -> names BB-8, C-3PO, R2-D2 -> is {is_set} -> is {ORDER} == [["Year", "descending"]]
           open ?type=toaster&year_from=x&year_to=-1&sort=price&q=&cursor=1&columns=price&by=name2 -> rows 6
           is {ORDER} == [["Name", "ascending"]]"#
    ));
}

#[test]
fn impossible_years_are_explained_and_change_nothing() {
    visit().play(
        "press + Filter -> press Year -> focus Year from -> type 2000<Tab> -> names BB-8, late
         type 19 -> see #filter-error: The first year must not be after the last one.
         message The first year must not be after the last one.
         type 77x -> see #filter-error: A year has only digits. -> names BB-8, late
         open ?year_from=3&year_to=2 -> see #refused: year_from must not be greater than year_to",
    );
}

#[test]
fn headings_and_the_menu_sort_in_both_directions() {
    visit().play(&format!(
        r#"is {ORDER} == [["Name", "ascending"]] -> tab Year -> type <Enter>
           names Robby, HAL 9000, R2-D2, C-3PO, BB-8, late -> said 6 robots, sorted by Year, ascending
           is {ORDER} == [["Year", "ascending"]] -> focus Year -> type <Enter>
           names late, BB-8, C-3PO, R2-D2, HAL 9000, Robby -> is {ORDER} == [["Year", "descending"]]
           address ?sort=-year -> press Id -> names R2-D2, C-3PO, BB-8, Robby, HAL 9000, late
           is texts('#table tbody .of-id') == ["1", "2", "3", "4", "5", "6"]
           back -> names late, BB-8, C-3PO, R2-D2, HAL 9000, Robby -> click #order summary
           see #order-menu: capital letters first -> press Id -> names R2-D2, C-3PO, BB-8, Robby, HAL 9000, late
           open ?sort=-year&type=droid -> names BB-8, C-3PO, R2-D2
           press Delete C-3PO -> names BB-8, R2-D2
           click #undo .quiet -> names BB-8, C-3PO, R2-D2 -> see #count: 3 robots"#
    ));
}

#[test]
fn overtaken_requests_are_aborted() {
    let visit = visit();
    visit.run(
        "const send = window.fetch; window.aborted = 0; window.fetch = (path, options) => \
         !path.includes('type=droid') ? send(path, options) : new Promise((_, reject) => \
         options.signal.addEventListener('abort', () => { window.aborted += 1; \
         reject(options.signal.reason); }))",
    );
    visit.play(
        "press + Filter -> press Type -> tab droid -> type <Space> -> address ?type=droid -> rows 6
         type <Space> -> is window.aborted == 1 -> rows 6",
    );
}
