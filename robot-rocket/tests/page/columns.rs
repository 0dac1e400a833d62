//! Columns of the list, and named views.

use serde_json::json;

use crate::visit::Visit;

/// The titles of the columns.
const TITLES: &str = "texts('#headings [data-key]')";

impl Visit {
    /// Moves the pointer from the middle of an element by some pixels, with its button down.
    fn drag(&self, selector: &str, by: f64) {
        let place = self.run(&format!(
            "const {{ x, y, width, height }} = $(`{selector}`).getBoundingClientRect(); \
             return [x + width / 2, y + height / 2]"
        ));
        let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
        for (kind, x) in [
            ("mousePressed", x),
            ("mouseMoved", x + by),
            ("mouseReleased", x + by),
        ] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1});
            self.browser.devtools("Input.dispatchMouseEvent", &event);
        }
    }
}

#[test]
fn empty_columns_are_hidden_and_the_choice_is_in_the_address() {
    let visit = Visit::museum();
    let usual = r#"["Name", "Type", "Made in", "Accession", "Maker", "Weight", "Acquired", "On display", "Condition", "Source"]"#;
    visit.play(&format!(
        r#"is {TITLES} == {usual} -> see #columns: 10 of 13 -> click #columns summary
           run $('#columns-list [value=type]').focus() -> type <Space> -> address ?columns=name,year,accession,maker,weight,acquired,on_display,condition,source
           run $('#columns-list [value=id]').focus() -> type <Space><Escape> -> focus Columns 10 of 13
           is {TITLES} == ["Name", "Made in", "Accession", "Maker", "Weight", "Acquired", "On display", "Condition", "Source", "Id"]
           open ?columns=condition,name,weight:222,price,condition -> rows 5 -> is {TITLES} == ["Name", "Condition", "Weight"]
           is $('th[data-key=weight]').offsetWidth == 222
           is texts('#table tbody tr:first-child td') == ["", "Amphora", "fair", "1e+21", "EditDelete"]
           is $$('.is-uri a').length == 0 -> click #columns summary -> press Usual columns -> address -> is {TITLES} == {usual}
           is $$('.is-uri a').map((each) => each.href) == ["https://example.org/a?b"]
           open ?q=Krater -> see #columns: 11 of 13 -> open ?sort=rooms -> see #columns: 11 of 13 -> open -> see #columns: 10 of 13
           PUT /api/robots/5 {{"name":"Bare","type":"vase","accession":"1900.1","rooms":7}} -> reload -> see #columns: 11 of 13
           run fetch('v1/definition').then((all) => all.json()).then((all) => fetch('v1/definition', {{ method: 'PUT', \
           headers: {{ 'Content-Type': 'application/json' }}, body: JSON.stringify({{ ...all, properties: \
           {{ ...all.properties, found: {{ type: 'string' }} }} }}) }})).then(() => $('#fields-open').click())
           see #columns: 12 of 14"#
    ));
}

#[test]
fn columns_are_moved_and_resized_by_keyboard_and_pointer() {
    let visit = Visit::of(&["R2-D2"]);
    let width = "Number(location.search.match(/type:(\\d+)/)?.[1])";
    visit.play(&format!(
        r#"tab Year -> type <Alt><Left> -> address ?columns=name,year,type,id -> focus Year -> said Year: column 2 of 4
           is {TITLES} == ["Name", "Year", "Type", "Id"] -> type <Alt><Left> -> address ?columns=name,year,type,id
           tab Type -> type <Shift><Right> -> focus Type
           is {width} == $('th[data-key=type]').offsetWidth && {width} > 60 == true
           run window.width = {width} -> type <Shift><Left> -> is {width} == window.width - 16 == true
           click #columns summary -> press Move Type to the left"#
    ));
    visit.play(&format!(r#"is {TITLES} == ["Name", "Type", "Year", "Id"] -> type <Escape> -> run window.width = {width}"#));
    visit.drag("th[data-key=type] .grip", 50.0);
    visit.play(&format!(
        "is {width} - window.width == 50 -> is $('th[data-key=type]').offsetWidth - window.width == 50
         back -> is {width} == window.width == true"
    ));
}

#[test]
fn named_views_are_kept_and_the_link_is_copied() {
    let visit = Visit::of_robots(&[("R2-D2", "droid", "1977"), ("HAL 9000", "virtual", "1968")]);
    let permission = json!({"permission": {"name": "clipboard-write"}, "setting": "granted"});
    visit.browser.devtools("Browser.setPermission", &permission);
    visit.play(
        r#"open ?type=virtual&sort=-year&columns=name,year -> names HAL 9000 -> click #views summary
           run localStorage.setItem('robots-views /', '{"Of another tab": "?q=R2"}')
           tab Name of the view -> type Machines<Enter> -> said Kept the view Machines. -> see #views-menu: Of another tab
           open -> rows 2 -> click #views summary -> press Machines -> names HAL 9000
           address ?type=virtual&sort=-year&columns=name,year -> is texts('#chips summary') == ["Type virtual"]
           press copy-link -> see #copy-link: Copied -> said Copied -> reload -> click #views summary
           press Remove the view Machines -> focus Name of the view
           is texts('#views-menu li') == ["Of another tab✕"]"#,
    );
}
