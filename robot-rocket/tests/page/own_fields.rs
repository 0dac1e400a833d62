//! Fields of the catalogue's owner: the form, the list, the page of a robot, and the panel of the fields.

use serde_json::{Value, json};

use crate::{
    calls::send,
    keys::{ENTER, ESCAPE, SPACE, TAB},
    visit::Visit,
};

const MUSEUM: &str = r#"{"title": "Exhibits",
 "properties": {
   "name": {"unique": false},
   "type": {"enum": ["painting", "vase", "coin"]},
   "year": {"minimum": -5000, "title": "Made in"},
   "accession": {"type": "string", "pattern": "^[0-9]{4}\\.[0-9]+$", "unique": true},
   "maker": {"type": "string", "maxLength": 200, "index": true, "search": true},
   "weight": {"type": "number", "minimum": 0, "description": "In kilograms."},
   "rooms": {"type": "integer", "minimum": 1, "maximum": 99},
   "acquired": {"type": "string", "format": "date"},
   "on_display": {"type": "boolean"},
   "condition": {"enum": ["good", "fair", "<b>poor</b>"]},
   "notes": {"type": "string", "maxLength": 5000},
   "source": {"type": "string", "format": "uri"}},
 "required": ["name", "type", "accession"]}"#;

/// The exhibits: the name, the accession and more members of each.
const EXHIBITS: [(&str, &str, &str); 5] = [
    (
        "Owl",
        "2020.1",
        r#""year":-450,"maker":"Athens","weight":17.2,"acquired":"2001-02-03","on_display":true"#,
    ),
    (
        "Owl",
        "2020.2",
        r#""year":-440,"maker":"Áthens","weight":4,"on_display":false,"condition":"good""#,
    ),
    (
        "Amphora",
        "1999.7",
        r#""maker":"Exekias","weight":1e21,"acquired":"1999-12-31","condition":"fair""#,
    ),
    (
        "Krater",
        "1987.3",
        r#""notes":"one\n<img src=x onerror=alert(1)>","source":"javascript:alert(1)""#,
    ),
    ("Bare", "1900.1", r#""source":"https://example.org/a?b""#),
];

impl Visit {
    fn define(&self, definition: &str) {
        self.call("PUT", "/api/definition", definition);
    }

    /// A visit to a museum.
    fn museum() -> Self {
        let visit = Self::of(&[]);
        visit.define(MUSEUM);
        for (name, accession, more) in EXHIBITS {
            let body =
                format!(r#"{{"name":"{name}","type":"vase","accession":"{accession}",{more}}}"#);
            visit.call("POST", "/api/robots", &body);
        }
        visit.reload();
        visit.wait_for_rows(EXHIBITS.len());
        visit
    }

    /// The texts of the elements that match a selector.
    fn texts(&self, selector: &str) -> Value {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)";
        self.browser.run(script, &[json!(selector)])
    }

    /// Sets the value of a box, as a user who types or chooses.
    fn set(&self, selector: &str, value: &str) {
        let script = "const box = document.querySelector(arguments[0]); box.value = arguments[1]; \
                      for (const type of ['input', 'change']) box.dispatchEvent(new Event(type, { bubbles: true }))";
        self.browser.run(script, &[json!(selector), json!(value)]);
    }

    /// The box of a field in the form that adds a robot, or on the page of a robot.
    fn set_field(&self, form: &str, key: &str, value: &str) {
        self.set(
            &format!("{form} [data-member={key}] :is(input, select, textarea)"),
            value,
        );
    }

    fn stored_robot(&self, id: u32) -> Value {
        let reply = self.call("GET", &format!("/api/robots/{id}?fields=*"), "");
        serde_json::from_str::<Value>(&reply).unwrap()["data"].clone()
    }

    fn open_fields(&self) {
        self.press_on("fields-open");
        self.wait_for_focus("fields-heading");
    }

    fn properties(&self) -> Value {
        let document = self.call("GET", "/api/definition", "");
        serde_json::from_str::<Value>(&document).unwrap()["properties"].clone()
    }
}

#[test]
fn form_has_an_input_of_the_right_kind_for_each_field() {
    let visit = Visit::museum();
    assert_eq!(
        visit.run("return [document.title, document.querySelector('h1').innerText]"),
        json!(["Exhibits", "Exhibits"])
    );
    let script = "return [...document.querySelectorAll('#add .field')].map((field) => { \
                  const box = field.querySelector('input, select, textarea'); \
                  return [box.labels[0].textContent, box.type, box.min ?? '', box.step ?? '']; })";
    assert_eq!(
        visit.run(script),
        json!([
            ["Name", "text", "", ""],
            ["Type", "select-one", "", ""],
            ["Made in", "number", "-5000", "1"],
            ["Accession (required)", "text", "", ""],
            ["Maker", "text", "", ""],
            ["Weight", "number", "0", "any"],
            ["Rooms", "number", "1", "1"],
            ["Acquired", "date", "", ""],
            ["On display", "select-one", "", ""],
            ["Condition", "select-one", "", ""],
            ["Notes", "textarea", "", ""],
            ["Source", "url", "", ""],
        ])
    );
    let options = "#add [data-member=condition] option, #add [data-member=on_display] option";
    assert_eq!(
        visit.texts(options),
        json!(["–", "yes", "no", "–", "good", "fair", "<b>poor</b>"])
    );
    visit.wait_for_text("#adding-open", "Add to Exhibits");
    visit.open_panel("adding");
    visit.set_field("#add", "name", "Coin");
    visit.set_field("#add", "accession", "2020.1");
    visit.set_field("#add", "weight", "-0.5");
    visit.set_field("#add", "rooms", "100");
    visit.set_field("#add", "source", "no address");
    visit.press_on("Weight");
    for (key, message) in [
        ("type", "type is required"),
        ("accession", "The accession must be unique"),
        ("weight", "The weight cannot be less than 0"),
        ("rooms", "The rooms cannot be greater than 99"),
        ("source", "The source must be a URI"),
    ] {
        visit.wait_for_text(&format!("#add [data-member={key}] .error"), message);
    }
    // The browser does not understand this, and the service reports it.
    visit.tab_to("Weight");
    visit.press(&format!("e{ENTER}"));
    visit.wait_for_text(
        "#add [data-member=weight] .error",
        "weight must be a number",
    );
    for (key, value) in [
        ("type", "coin"),
        ("year", "-44"),
        ("accession", "2020.9"),
        ("maker", " Rome "),
        ("weight", "3.50"),
        ("rooms", "7"),
        ("acquired", "2020-02-29"),
        ("on_display", "false"),
        ("condition", "<b>poor</b>"),
        ("notes", "two\nlines"),
        ("source", "https://example.org/"),
    ] {
        visit.set_field("#add", key, value);
    }
    visit.press_on("Weight");
    visit.wait_for_announcement("Added Coin, coin, -44.");
    assert_eq!(
        visit.stored_robot(6),
        json!({"id": "6", "name": "Coin", "type": "coin", "year": -44, "accession": "2020.9",
            "maker": " Rome ", "weight": 3.5, "rooms": 7, "acquired": "2020-02-29", "on_display": false,
            "condition": "<b>poor</b>", "notes": "two\nlines", "source": "https://example.org/",
            "revision": 1})
    );
    assert_eq!(
        visit.run("return document.querySelector('#add [data-member=on_display] select').value"),
        ""
    );
    // Optional members may have no value.
    visit.set_field("#add", "name", "Coin");
    visit.set_field("#add", "accession", "2020.10");
    visit.press_on("Weight");
    visit.wait_for_rows(7);
    assert_eq!(
        visit.stored_robot(7),
        json!({"id": "7", "name": "Coin", "type": "coin", "accession": "2020.10", "revision": 1})
    );
}

#[test]
fn own_fields_are_filtered_sorted_and_searched() {
    let visit = Visit::museum();
    visit.wait_for_names(&["Amphora", "Bare", "Krater", "Owl", "Owl"]);
    for (sort, names) in [
        ("weight", ["Owl", "Owl", "Amphora", "Krater", "Bare"]),
        ("-weight", ["Amphora", "Owl", "Owl", "Bare", "Krater"]),
    ] {
        visit.click("[data-key=weight] button");
        visit.wait_for_names(&names);
        assert_eq!(visit.run("return location.search"), format!("?sort={sort}"));
        let compared = format!(
            "const done = arguments[0]; Promise.all([import('./page/view.js'), import('./page/robot.js'), \
             fetch('api/robots?fields=*&sort={sort}').then((reply) => reply.json())])\
             .then(([view, robot, found]) => {{ const robots = found.map(robot.robotOf); \
             done(robots.toSorted(view.comparator('{sort}')).map(({{ id }}) => id).join() === \
             robots.map(({{ id }}) => id).join()) }})"
        );
        assert_eq!(visit.browser.run_async(&compared), true, "{sort}");
    }
    visit.press_on("More filters");
    for (id, value, query, names) in [
        ("is-condition", "good", "condition=good", &["Owl"][..]),
        (
            "is-condition",
            "\0",
            "condition=",
            &["Owl", "Krater", "Bare"],
        ),
        (
            "is-condition",
            "",
            "",
            &["Amphora", "Owl", "Owl", "Krater", "Bare"],
        ),
        ("is-on_display", "true", "on_display=true", &["Owl"]),
        (
            "is-on_display",
            "",
            "",
            &["Amphora", "Owl", "Owl", "Krater", "Bare"],
        ),
        ("weight_from", "4.5", "weight_from=4.5", &["Amphora", "Owl"]),
        ("weight_to", "20", "weight_from=4.5&weight_to=20", &["Owl"]),
        ("weight_from", "", "weight_to=20", &["Owl", "Owl"]),
        (
            "weight_to",
            "",
            "",
            &["Amphora", "Owl", "Owl", "Krater", "Bare"],
        ),
        (
            "acquired_to",
            "2000-01-01",
            "acquired_to=2000-01-01",
            &["Amphora"],
        ),
        (
            "acquired_to",
            "",
            "",
            &["Amphora", "Owl", "Owl", "Krater", "Bare"],
        ),
        ("year_to", "-445", "year_to=-445", &["Owl"]),
        (
            "year_to",
            "",
            "",
            &["Amphora", "Owl", "Owl", "Krater", "Bare"],
        ),
        ("is-maker", "Athens", "maker=Athens", &["Owl"]),
    ] {
        visit.set(&format!("#{id}"), value);
        let expected = [query, "sort=-weight"].join("&");
        let script = format!(
            "return location.search === {}",
            json!(format!("?{}", expected.trim_start_matches('&')))
        );
        visit.wait_for(&expected, &script);
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        let script = format!(
            "return [...document.querySelectorAll('#table .of-name .name')].map((each) => each.textContent)\
             .sort().join() === {}",
            json!(sorted.join(","))
        );
        visit.wait_for(query, &script);
    }
    visit.set("#is-maker", "");
    visit.set("#weight_from", "x");
    visit.wait_for_text("#filter-error", "Weight must be a number.");
    // The filter follows the address, and is unfolded.
    visit.open("?condition=&on_display=false&weight_to=5");
    visit.wait_for_text("#none", "No robot matches the filter.");
    assert_eq!(visit.run("return [document.querySelector('#filter-more').open, \
                          document.querySelector('#is-condition').value, document.querySelector('#weight_to').value]"),
        json!([true, "\0", "5"]));
    // Words are searched in the name and in the maker.
    visit.open("");
    visit.wait_for_rows(5);
    visit.press("/ATHENS owl");
    visit.wait_for_names(&["Owl", "Owl"]);
    visit.press("x");
    visit.wait_for_text("#none", "No robot has all words of ATHENS owlx.");
}

#[test]
fn columns_are_chosen_and_remembered() {
    let visit = Visit::museum();
    let headings = || visit.texts("#headings th");
    assert_eq!(
        headings(),
        json!([
            "",
            "Id",
            "Name",
            "Type",
            "Made in",
            "Accession",
            "Maker",
            "Weight",
            "Actions"
        ])
    );
    visit.press_on("Columns");
    for key in ["type", "accession", "maker", "condition", "source"] {
        visit.run(&format!(
            "document.querySelector('#columns-list [value={key}]').focus()"
        ));
        visit.press(SPACE);
    }
    let chosen = json!([
        "",
        "Id",
        "Name",
        "Made in",
        "Weight",
        "Condition",
        "Source",
        "Actions"
    ]);
    assert_eq!(headings(), chosen);
    visit.press(ESCAPE);
    visit.wait_for_focus("Columns");
    visit.reload();
    visit.wait_for_text("#table", "Krater");
    assert_eq!(headings(), chosen);
    let shown = visit.texts("#table tbody tr:first-child td");
    assert_eq!(
        shown,
        json!(["", "3", "Amphora", "", "1e+21", "fair", "", "EditDelete"])
    );
    // Only addresses of the web are links.
    assert_eq!(
        visit.run("return [...document.querySelectorAll('.is-uri a')].map((each) => each.href)"),
        json!(["https://example.org/a?b"])
    );
    visit.set_width(320);
    let script = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(script), true);
}

#[test]
fn robot_with_many_fields_has_a_page_of_its_own() {
    let visit = Visit::museum();
    visit.tab_to("Krater");
    visit.press(ENTER);
    visit.wait_for_focus("robot-heading");
    assert_eq!(
        visit.run("return [location.hash, document.title]"),
        json!(["#/robots/4", "Krater · Exhibits"])
    );
    assert_eq!(
        visit.texts("#robot [data-member=notes]"),
        json!(["one\n<img src=x onerror=alert(1)>"])
    );
    assert_eq!(
        visit.run("return document.querySelectorAll('#robot :is(img, a)').length"),
        0
    );
    visit.wait_for(
        "only the robot",
        "return !document.querySelector('#add').checkVisibility()",
    );
    visit.press_on("Edit");
    visit.wait_for_focus("Name");
    visit.set_field("#robot", "weight", "-1");
    visit.press(ENTER);
    visit.wait_for_text(
        "#robot [data-member=weight] .error",
        "The weight cannot be less than 0",
    );
    // In a long text, Enter begins a line.
    visit.run("const box = document.querySelector('#robot textarea'); box.focus(); box.value = ''");
    visit.press(&format!("a{ENTER}b"));
    visit.set_field("#robot", "weight", "2");
    visit.set_field("#robot", "source", "");
    visit.press_on("Save");
    visit.wait_for_announcement("Saved Krater.");
    visit.wait_for_focus("robot-heading");
    let stored = visit.stored_robot(4);
    assert_eq!(
        stored,
        json!({"id": "4", "name": "Krater", "type": "vase", "accession": "1987.3",
        "weight": 2, "notes": "a\nb", "revision": 2})
    );
    // Going back does not lose what was typed.
    visit.press_on("Edit");
    visit.wait_for_focus("Name");
    visit.press("Bowl");
    visit.browser.go_back();
    visit.wait_for_announcement("Save or cancel the changes first.");
    assert_eq!(visit.run("return document.activeElement.value"), "Bowl");
    visit.press(ESCAPE);
    visit.wait_for_focus("robot-heading");
    visit.press(ESCAPE);
    visit.wait_for_focus("Edit Krater");
    assert_eq!(
        visit.texts("#table tbody tr:nth-child(3) td:nth-child(8)"),
        json!(["2"])
    );
    // The button in the list begins to edit there. Another user changes the robot meanwhile.
    visit.press(ENTER);
    visit.wait_for_focus("Name");
    visit.call(
        "PUT",
        "/api/robots/4",
        r#"{"name":"Krater","type":"vase","accession":"1987.3","on_display":true}"#,
    );
    visit.press(&format!("Vase{ENTER}"));
    visit.wait_for_text(".conflict", "Another user has changed this robot");
    assert_eq!(
        visit.texts(".conflict .differs"),
        json!([
            "Name (differs)VaseKrater",
            "Weight (differs)2",
            "On display (differs)yes",
            "Notes (differs)a\nb"
        ])
    );
    visit.click(".conflict .main");
    visit.wait_for_announcement("Saved Vase.");
    visit.open("#/robots/99");
    visit.reload();
    visit.wait_for_text("#robot-heading", "No robot has the id");
    visit.press_on("All robots");
    visit.wait_for_rows(EXHIBITS.len());
}

#[test]
fn robot_with_few_fields_is_edited_in_its_row() {
    let visit = Visit::of(&["Marvin"]);
    visit.define(r#"{"properties": {"maker": {"type": "string", "title": "Made by <i>"}, "mood": {"enum": ["low"]}}}"#);
    visit.reload();
    visit.wait_for_rows(1);
    visit.edit("Marvin");
    visit.press(&format!("{TAB}{TAB}{TAB}Sirius{TAB}l{ENTER}"));
    visit.wait_for_focus("Edit Marvin");
    assert_eq!(
        visit.texts("#table tbody td.of-own"),
        json!(["Sirius", "low"])
    );
    assert_eq!(
        visit.texts("#headings .of-own"),
        json!(["Made by <i>", "Mood"])
    );
    // All values of a deleted robot are restored.
    visit.press_on("Delete Marvin");
    visit.wait_for_text("#start", "Robot Catalogue: nothing here yet");
    visit.click("#undo .main");
    visit.wait_for_rows(1);
    assert_eq!(visit.stored_robot(2)["mood"], "low");
}

#[test]
fn fields_are_added_changed_and_removed_without_json() {
    let visit = Visit::of(&["Marvin"]);
    visit.press("a");
    visit.press("typed");
    visit.open_fields();
    assert_eq!(
        visit.texts("#fields-list code"),
        json!(["name", "type", "year"])
    );
    visit.run("document.querySelector('#field input').focus()");
    visit.press("État (2024)");
    assert_eq!(
        visit.run("return document.querySelectorAll('#field input')[1].value"),
        "etat_2024"
    );
    visit.set("#field select", "choice");
    visit.set("#field textarea", "good\n\n fair \npoor");
    visit.press(ENTER);
    visit.wait_for_announcement("Added the field État (2024).");
    visit.wait_for_focus("Label");
    let expected =
        json!({"type": "string", "enum": ["good", "fair", "poor"], "title": "État (2024)"});
    assert_eq!(visit.properties()["etat_2024"], expected);
    // The page uses it at once, and keeps what was typed.
    assert_eq!(
        visit.texts("#add [data-member=etat_2024] option"),
        json!(["–", "good", "fair", "poor"])
    );
    assert_eq!(
        visit.run("return document.querySelector('#add input').value"),
        "typed"
    );
    visit.wait_for_text("#headings", "État (2024)");
    visit.press_on("Edit État (2024)");
    visit.wait_for_focus("Label");
    visit.press_with(crate::keys::CONTROL, 'a');
    visit.press("Condition");
    visit.set("#fields-list textarea", "good\nbad");
    visit.click("#fields-list .checks label:first-child");
    visit.press_on("Save");
    visit.wait_for_announcement("Saved the field Condition.");
    visit.wait_for_focus("Edit Condition");
    let expected = json!({"type": "string", "enum": ["good", "bad"], "title": "Condition"});
    assert_eq!(visit.properties()["etat_2024"], expected);
    visit.wait_for_text("#fields-list [data-member=etat_2024]", "choice, required");
    // A mistake is explained, and nothing is lost.
    visit.set("#field input", "Id");
    visit.press_on("Add the field");
    visit.wait_for_text(
        "#fields-error",
        "properties.id: this name has another meaning",
    );
    // Robots have values.
    visit.call(
        "PUT",
        "/api/robots/1",
        r#"{"name":"Marvin","type":"droid","year":1977,"etat_2024":"bad"}"#,
    );
    visit.press_on("Remove Condition");
    let why = "etat_2024 cannot be removed, because 1 robot (id 1) would lose the value.";
    visit.wait_for_text("#fields-error", why);
    visit.wait_for_focus("Drop these values");
    visit.press(ENTER);
    visit.wait_for_announcement("Removed the field Condition.");
    visit.wait_for_focus("fields-heading");
    assert_eq!(visit.properties()["etat_2024"], Value::Null);
    assert_eq!(
        visit.texts("#headings th"),
        json!(["", "Id", "Name", "Type", "Year", "Actions"])
    );
    // The title.
    visit.set("#title-of-catalogue", "Ship's crew");
    visit.press_on("Title of the catalogue");
    visit.press(ENTER);
    visit.wait_for_text("h1", "Ship's crew");
    visit.press(ESCAPE);
    visit.wait_for_focus("fields-open");
}

#[test]
fn limits_and_the_order_of_fields_are_set() {
    let visit = Visit::museum();
    visit.define(&MUSEUM.replace("\"fair\"", "\" fair \""));
    visit.reload();
    visit.open_fields();
    visit.press_on("Edit Condition");
    visit.press_on("Save");
    visit.wait_for_announcement("Saved the field Condition.");
    assert_eq!(visit.properties()["condition"]["enum"][1], " fair ");
    visit.wait_for_focus("Edit Condition");
    visit.run("document.querySelector('#fields-heading').focus()");
    visit.press_on("Edit Rooms");
    let label = "#fields-list label:not(.choice)";
    let shown = format!(
        "return [...document.querySelectorAll('{label}')].filter((each) => each.checkVisibility())\
         .map((each) => [each.textContent, each.control.value])"
    );
    assert_eq!(
        visit.run(&shown),
        json!([
            ["Label", "Rooms"],
            ["Type", "digits"],
            ["Least value", "1"],
            ["Greatest value", "99"]
        ])
    );
    visit.press_on("Greatest value");
    visit.wait_for_announcement("Saved the field Rooms.");
    visit.press_on("Edit Rooms");
    for (label, value) in [("Least value", "-5"), ("Greatest value", "")] {
        let script = "[...document.querySelectorAll('#fields-list label')].find((each) => \
                      each.textContent === arguments[0]).control.value = arguments[1]";
        visit.browser.run(script, &[json!(label), json!(value)]);
    }
    visit.press_on("Save");
    visit.wait_for_focus("Edit Rooms");
    let rooms = json!({"type": "integer", "title": "Rooms", "minimum": -5});
    assert_eq!(visit.properties()["rooms"], rooms);
    visit.run("document.querySelector('#fields-heading').focus()");
    visit.press_on("Edit Accession");
    let expected = json!([
        ["Label", "Accession"],
        ["Type", "text"],
        ["Most characters", "255"],
        ["Pattern, a regular expression", "^[0-9]{4}\\.[0-9]+$"]
    ]);
    assert_eq!(visit.run(&shown), expected);
    visit.press(ESCAPE);
    visit.press_on("Move up Maker");
    visit.wait_for_announcement("Moved the field Maker.");
    visit.wait_for_focus("Edit Maker");
    assert_eq!(
        visit.texts("#headings .of-own"),
        json!(["Maker", "Accession", "Weight"])
    );
    let document = visit.call("GET", "/api/definition", "");
    assert!(
        document.find("\"maker\"") < document.find("\"accession\""),
        "{document}"
    );
}

#[test]
fn definition_of_another_user_is_shown_first() {
    let visit = Visit::of(&["Marvin"]);
    visit.open_fields();
    visit.define(r#"{"properties": {"maker": {"type": "string"}}}"#);
    visit.set("#field input", "Owner");
    visit.press_on("Add the field");
    visit.wait_for_text(
        "#fields-error",
        "Another user has changed the fields meanwhile.",
    );
    assert_eq!(
        visit.texts("#fields-list code"),
        json!(["name", "type", "year", "maker"])
    );
    visit.press_on("Add the field");
    visit.wait_for_announcement("Added the field Owner.");
    assert_eq!(
        visit.texts("#fields-list code"),
        json!(["name", "type", "year", "maker", "owner"])
    );
    // A robot with an unknown member shows that the definition has changed.
    visit.define(r#"{"properties": {"maker": {"type": "string"}, "owner": {"type": "string"}, "mood": {"type": "string"}}}"#);
    visit.call(
        "PUT",
        "/api/robots/1",
        r#"{"name":"Marvin","type":"droid","year":1977,"mood":"low"}"#,
    );
    visit.click("[data-key=year] button");
    visit.wait_for_text("#headings", "Mood");
    visit.wait_for_text("#table", "low");
    // So does a rule about one.
    visit.define(
        r#"{"properties": {"hue": {"enum": ["red"]}, "mood": {"type": "string"}}, "required": ["name", "hue"]}"#,
    );
    visit.press("a");
    visit.press(&format!("R2-D2{ENTER}"));
    visit.wait_for_text("#add [data-member=hue] .error", "hue is required");
    visit.set_field("#add", "hue", "red");
    visit.press_on("Mood");
    visit.wait_for_announcement("Added R2-D2.");
    let stored = json!({"id": "2", "name": "R2-D2", "hue": "red", "revision": 1});
    assert_eq!(visit.stored_robot(2), stored);
    visit.wait_for_text("#picture .decade", "no year");
}

#[test]
fn definition_needs_the_token_that_reading_needs() {
    use robot_core::http::{AccessToken, Permission};
    let definer = AccessToken::of("robots_definer", Permission::Define);
    let reader = AccessToken::of("robots_reader", Permission::Read);
    let tokens = format!("{definer},{reader}");
    let settings = [("DATABASE_URL", "memory:"), ("ROCKET_API_TOKENS", &*tokens)];
    let visit = Visit::with(&settings);
    let headers = [("Authorization", "Bearer robots_definer")];
    let body = r#"{"title": "Secrets", "properties": {"hideout": {"type": "string"}}}"#;
    let defined = send(&visit.client(), "PUT", "/api/definition", &headers, body);
    assert_eq!(defined.status, 200);
    let module = visit.call("GET", "/page/definition.js", "");
    assert!(
        !module.contains("hideout") && module.contains("REVISION = null"),
        "{module}"
    );
    visit.wait_for_focus("Token");
    visit.press(&format!("robots_reader{ENTER}"));
    visit.wait_for_text("#start", "Secrets");
    visit.reload();
    visit.wait_for_text("#adding-open", "Add to Secrets");
    visit.open_panel("adding");
    visit.wait_for_text("#add", "Hideout");
    visit.open_fields();
    visit.press_on("Remove Hideout");
    visit.wait_for_text("#token", "This token does not permit to define");
    visit.wait_for_focus("Token");
    visit.press(&format!("robots_definer{ENTER}"));
    visit.wait_for_announcement("Removed the field Hideout.");
}

#[test]
fn axe_finds_no_violations_with_own_fields() {
    let visit = Visit::museum();
    visit.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    visit.assert_accessible("a museum");
    visit.open_fields();
    visit.press_on("Edit Condition");
    visit.set("#field input", "Id");
    visit.press_on("Add the field");
    visit.wait_for_text("#fields-error", "another meaning");
    visit.assert_accessible("the fields");
    visit.set_width(320);
    let script = "return document.documentElement.scrollWidth <= innerWidth";
    assert_eq!(visit.run(script), true);
    visit.open("#/robots/4");
    visit.wait_for_text("#robot-heading", "Krater");
    visit.assert_accessible("the page of a robot");
    assert_eq!(visit.run(script), true);
    visit.press_on("Edit");
    visit.assert_accessible("the page of a robot that is edited");
    assert_eq!(visit.run(script), true);
}
