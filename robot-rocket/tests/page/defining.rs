//! The panel in which the owner of a catalogue defines its fields.

use serde_json::{Value, json};

use crate::{own_fields::MUSEUM, visit::Visit};

impl Visit {
    #[track_caller]
    fn assert_property(&self, key: &str, property: &Value) {
        let document = self.call("GET", "/api/definition", "");
        let document: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(&document["properties"][key], property);
    }
}

#[test]
fn fields_are_added_changed_and_removed_without_json() {
    let visit = Visit::of(&["Marvin"]);
    // The page uses a new field at once, and keeps what was typed.
    visit.play(
        r#"type a -> focus Name -> type typed -> press fields-open -> focus fields-heading
           is texts('#fields-list code') == ["name", "type", "year"] -> run $('#field input').focus()
           type État (2024) -> is $$('#field input')[1].value == "etat_2024" -> set #field select = choice
           run set('#field textarea', 'good\n\n fair \npoor') -> type <Enter>
           said Added the field État (2024). -> focus Label
           is texts('#add [data-member=etat_2024] option') == ["–", "good", "fair", "poor"]
           is $('#add input').value == "typed""#,
    );
    let field = json!({"type": "string", "enum": ["good", "fair", "poor"], "title": "État (2024)"});
    visit.assert_property("etat_2024", &field);
    visit.play(
        r"press Edit État (2024) -> focus Label -> type <Control>aCondition
          run set('#fields-list textarea', 'good\nbad') -> click #fields-list .checks label:first-child
          press Save -> said Saved the field Condition. -> focus Edit Condition
          see #fields-list [data-member=etat_2024]: choice, required -> see #fields-error: 1 robot without Condition",
    );
    let field = json!({"type": "string", "enum": ["good", "bad"], "title": "Condition"});
    visit.assert_property("etat_2024", &field);
    // A mistake is explained, and nothing is lost. Robots have values.
    visit.play(
        r#"set #field input = Id -> press Add the field
           see #fields-error: properties.id: this name has another meaning
           set #field input = Mood -> set #field select = choice -> press Add the field
           see #fields-error: mood, Choices, one per line: must have 1 to 200 choices
           PUT /api/robots/1 {"name":"Marvin","type":"droid","year":1977,"etat_2024":"bad"}
           press Remove Condition
           see #fields-error: Condition cannot be removed, because 1 robot (id 1) would lose the value.
           focus Drop these values -> hold path.includes('drop_values') -> type <Enter>
           see #fields-busy: Working… 1 s -> release -> is $('#fields-busy').textContent == "" -> said Removed the field Condition. -> focus fields-heading
           is texts('#headings th').includes('Condition') == false
           set #title-of-catalogue = Ship's crew -> press Title of the catalogue -> type <Enter>
           see h1: Ship's crew -> type <Escape> -> focus fields-open"#,
    );
    visit.assert_property("etat_2024", &Value::Null);
}

#[test]
fn limits_and_the_order_of_fields_are_set() {
    let visit = Visit::museum();
    visit.call(
        "PUT",
        "/api/definition",
        &MUSEUM.replace("\"fair\"", "\" fair \""),
    );
    visit.play(
        "reload -> press fields-open -> focus fields-heading
         press Edit Condition -> press Save -> said Saved the field Condition. -> focus Edit Condition",
    );
    let condition =
        json!({"type": "string", "enum": ["good", " fair ", "<b>poor</b>"], "title": "Condition"});
    visit.assert_property("condition", &condition);
    let shown = "$$('#fields-list label:not(.choice)').filter((each) => each.checkVisibility())\
                 .map((each) => `${each.textContent}: ${each.control.value}`)";
    visit.play(&format!(
        r#"run $('#fields-heading').focus() -> press Edit Rooms
           is {shown} == ["Label: Rooms", "Type: digits", "Least value: 1", "Greatest value: 99"]
           press Greatest value -> said Saved the field Rooms. -> press Edit Rooms
           run for (const [label, value] of [['Least value', '-5'], ['Greatest value', '']]) \
           $$('#fields-list label').find((each) => each.textContent === label).control.value = value
           press Save -> focus Edit Rooms -> run $('#fields-heading').focus() -> press Edit Accession
           is {shown} == ["Label: Accession", "Type: text", "Most characters: 255", \
           "Pattern, a regular expression: ^[0-9]{{4}}\\.[0-9]+$"]
           type <Escape> -> press Move up Maker -> said Moved the field Maker. -> focus Edit Maker
           is texts('#headings .of-own') == ["Maker", "Accession", "Weight", "Acquired", "On display", "Condition", "Source"]
           press Edit Notes -> focus Label -> type <Control>aRemarks
           run $('#fields-heading').focus() -> press Edit Weight -> focus Label
           is $$('#fields-list input').some((each) => each.value == 'Remarks') == true"#
    ));
    let rooms = json!({"type": "integer", "title": "Rooms", "minimum": -5});
    visit.assert_property("rooms", &rooms);
    let document = visit.call("GET", "/api/definition", "");
    assert!(
        document.find("\"maker\"") < document.find("\"accession\""),
        "{document}"
    );
}

#[test]
fn kind_is_changed_with_a_plan_of_the_conversion() {
    let visit = Visit::museum();
    visit.play(
        r"press fields-open -> focus fields-heading -> press Edit Accession -> focus Label
           set #fields-list select = choice -> is $('#fields-list textarea').value.split('\n').length == 5
           set #fields-list select = number -> type <Enter>
           see #fields-error: Accession: text becomes number. The values of 5 records are converted. -> focus Convert
           type <Enter> -> said Saved the field Accession. -> see #fields-list [data-member=accession]: number
           run $('#fields-heading').focus() -> press Edit Notes -> focus Label
           set #fields-list select = number -> type <Enter> -> focus Convert -> type <Enter>
           see #fields-error: Notes cannot get another type, because 1 record (id 4) would lose the value
           see #fields-error: Nothing is changed yet. -> focus Drop these values -> type <Enter>
           said Saved the field Notes.",
    );
    visit.assert_property("notes", &json!({"type": "number", "title": "Notes"}));
}

#[test]
fn definition_of_another_user_is_shown_first() {
    let visit = Visit::of(&["Marvin"]);
    // A robot with an unknown member shows that the definition has changed, and so does a rule about one.
    visit.play(
        r#"press fields-open -> focus fields-heading
           PUT /api/definition {"properties": {"maker": {"type": "string"}}}
           set #field input = Owner -> press Add the field
           see #fields-error: Another user has changed the fields meanwhile.
           is texts('#fields-list code') == ["name", "type", "year", "maker"]
           press Add the field -> said Added the field Owner.
           is texts('#fields-list code') == ["name", "type", "year", "maker", "owner"]
           PUT /api/definition {"properties": \
           {"maker": {"type": "string"}, "owner": {"type": "string"}, "mood": {"type": "string"}}}
           PUT /api/robots/1 {"name":"Marvin","type":"droid","year":1977,"mood":"low"}
           click [data-key=year] button -> see #headings: Mood -> see #table: low
           PUT /api/definition {"properties": {"hue": {"enum": ["red"]}, "mood": {"type": "string"}}, \
           "required": ["name", "hue"]}
           type a -> focus Name -> type R2-D2<Enter> -> see #add [data-member=hue] .error: Hue is required
           set #add [data-member=hue] select = red -> press Mood -> said Added R2-D2."#,
    );
    let robot = json!({"id": "2", "name": "R2-D2", "hue": "red", "revision": 3});
    visit.assert_stored(2, &robot);
}

#[test]
fn axe_finds_no_violations_with_own_fields() {
    Visit::museum().play(
        "run $$('details').forEach((each) => { each.open = true; }) -> accessible a museum
         press fields-open -> focus fields-heading -> press Edit Condition -> set #field input = Id
         press Add the field -> see #fields-error: another meaning -> accessible the fields -> fits 320
         open #/robots/4 -> see #robot-heading: Krater -> accessible the page of a robot -> is fits() == true
         press Edit -> accessible the page of a robot that is edited -> is fits() == true",
    );
}
