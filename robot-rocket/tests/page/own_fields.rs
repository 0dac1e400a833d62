//! Fields of the catalogue's owner: the form, the list, and the page of a robot.

use serde_json::{Value, json};

use crate::visit::Visit;

pub(crate) const MUSEUM: &str = r#"{"title": "Exhibits",
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

/// The exhibits, without their type.
const EXHIBITS: [&str; 5] = [
    r#""name":"Owl","accession":"2020.1","year":-450,"maker":"Athens","weight":17.2,"acquired":"2001-02-03","on_display":true"#,
    r#""name":"Owl","accession":"2020.2","year":-440,"maker":"Áthens","weight":4,"on_display":false,"condition":"good""#,
    r#""name":"Amphora","accession":"1999.7","maker":"Exekias","weight":1e21,"acquired":"1999-12-31","condition":"fair""#,
    r#""name":"Krater","accession":"1987.3","notes":"one\n<img src=x onerror=alert(1)>","source":"javascript:alert(1)""#,
    r#""name":"Bare","accession":"1900.1","source":"https://example.org/a?b""#,
];

impl Visit {
    /// A visit to a museum.
    pub(crate) fn museum() -> Self {
        let visit = Self::of(&[]);
        visit.call("PUT", "/api/definition", MUSEUM);
        for exhibit in EXHIBITS {
            let body = format!(r#"{{"type":"vase",{exhibit}}}"#);
            visit.call("POST", "/api/robots", &body);
        }
        visit.play("reload -> rows 5");
        visit
    }

    #[track_caller]
    pub(crate) fn assert_stored(&self, id: u32, robot: &Value) {
        let reply = self.call("GET", &format!("/api/robots/{id}?fields=*"), "");
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(&reply["data"], robot);
    }
}

#[test]
fn form_has_an_input_of_the_right_kind_for_each_field() {
    let visit = Visit::museum();
    visit.play(
        r#"is [document.title, $('h1').innerText] == ["Exhibits", "Exhibits"]
           is $$('#add .field').map((field) => field.querySelector('input, select, textarea')).map((box) => \
           [box.labels[0].textContent, box.type, box.min ?? '', box.step ?? ''].join('|')) == \
           ["Name (required)|text||", "Type (required)|select-one||", "Made in|number|-5000|1", "Accession (required)|text||", \
           "Maker|text||", "Weight|number|0|any", "Rooms|number|1|1", "Acquired|date||", \
           "On display|select-one||", "Condition|select-one||", "Notes|textarea||", "Source|url||"]
           is texts('#add [data-member=on_display] option') == ["–", "yes", "no"]
           is texts('#add [data-member=condition] option') == ["–", "good", "fair", "<b>poor</b>"]
           panel adding -> tab Maker -> type the
           is $$('#add [data-member=maker] option').map((option) => option.value) == ["Athens", "Áthens"]
           set #add [data-member=maker] input = -> is $$('#add [data-member=maker] option').length == 3
           set #add [data-member=name] input = Coin -> set #add [data-member=accession] input = 2020.1
           set #add [data-member=weight] input = -0.5 -> set #add [data-member=rooms] input = 100
           set #add [data-member=source] input = no address -> press Weight
           see #add [data-member=type] .error: Type is required
           see #add [data-member=accession] .error: Accession must be unique
           see #add [data-member=weight] .error: Weight cannot be less than 0
           see #add [data-member=rooms] .error: Rooms cannot be greater than 99
           see #add [data-member=source] .error: Source must be a URI"#,
    );
    // The browser does not understand this, and the service reports it.
    visit.play(
        "tab Weight -> type e<Enter> -> see #add [data-member=weight] .error: Weight must be a number",
    );
    let mut robot = json!({"type": "coin", "year": -44, "accession": "2020.9", "maker": " Rome ", "weight": 3.5,
        "rooms": 7, "acquired": "2020-02-29", "on_display": false, "condition": "<b>poor</b>",
        "notes": "two\nlines", "source": "https://example.org/"});
    for (key, value) in robot.as_object().unwrap() {
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        let selector = format!("#add [data-member={key}] :is(input, select, textarea)");
        visit.set(&selector, &text);
    }
    visit.play(
        "press Weight -> said Added Coin, coin, -44. -> is $('#add [data-member=on_display] select').value == \"\"",
    );
    (robot["id"], robot["name"], robot["revision"]) = (json!("6"), json!("Coin"), json!(6));
    visit.assert_stored(6, &robot);
    // Optional members may have no value.
    visit.play(
        "set #add [data-member=name] input = Coin -> set #add [data-member=accession] input = 2020.10
         press Weight -> rows 7",
    );
    let robot =
        json!({"id": "7", "name": "Coin", "type": "coin", "accession": "2020.10", "revision": 7});
    visit.assert_stored(7, &robot);
}

#[test]
fn own_fields_are_filtered_sorted_and_searched() {
    let visit = Visit::museum();
    visit.play("names Amphora, Bare, Krater, Owl, Owl");
    for (sort, names) in [
        ("weight", "Owl, Owl, Amphora, Krater, Bare"),
        ("-weight", "Amphora, Owl, Owl, Bare, Krater"),
    ] {
        visit.play(&format!(
            "click [data-key=weight] button -> names {names} -> address ?sort={sort}"
        ));
        let compared = format!(
            "const done = arguments[0]; Promise.all([import('./page/view.js'), import('./page/robot.js'), \
             fetch('api/robots?fields=*&sort={sort}').then((reply) => reply.json())])\
             .then(([view, robot, found]) => {{ const robots = found.map(robot.robotOf); \
             done(robots.toSorted(view.comparator('{sort}')).map(({{ id }}) => id).join() === \
             robots.map(({{ id }}) => id).join()) }})"
        );
        assert_eq!(visit.browser.run_async(&compared), true, "{sort}");
    }
    // The inputs of a filter have the names of its parameters, or are boxes.
    let check = |key: &str, place: u32| {
        let of_value = format!("#chips [data-member={key}] .counted:nth-of-type({place}) input");
        format!("filter {key} -> run $('{of_value}').click()")
    };
    let text =
        |key: &str, name: &str, value: &str| format!("filter {key} -> set #{name} = {value}");
    for (step, query, names) in [
        (check("condition", 1), "condition=good&", "Owl"),
        (
            check("condition", 4),
            "condition=good&condition=&",
            "Owl, Owl, Bare, Krater",
        ),
        (check("condition", 1), "condition=&", "Owl, Bare, Krater"),
        (check("condition", 4), "", "Amphora, Owl, Owl, Bare, Krater"),
        (check("on_display", 1), "on_display=true&", "Owl"),
        (
            check("on_display", 1),
            "",
            "Amphora, Owl, Owl, Bare, Krater",
        ),
        (
            text("weight", "weight_from", "4.5"),
            "weight_from=4.5&",
            "Amphora, Owl",
        ),
        (
            text("weight", "weight_to", "20"),
            "weight_from=4.5&weight_to=20&",
            "Owl",
        ),
        (
            text("weight", "weight_from", ""),
            "weight_to=20&",
            "Owl, Owl",
        ),
        (
            text("weight", "weight_to", ""),
            "",
            "Amphora, Owl, Owl, Bare, Krater",
        ),
        (
            text("acquired", "acquired_to", "2000-01-01"),
            "acquired_to=2000-01-01&",
            "Amphora",
        ),
        (
            text("acquired", "acquired_to", ""),
            "",
            "Amphora, Owl, Owl, Bare, Krater",
        ),
        (text("year", "year_to", "-445"), "year_to=-445&", "Owl"),
        (
            text("year", "year_to", ""),
            "",
            "Amphora, Owl, Owl, Bare, Krater",
        ),
    ] {
        visit.play(&format!(
            "{step} -> address ?{query}sort=-weight -> names {names}"
        ));
    }
    // The filter follows the address. Words are searched in the name and in the maker.
    visit.play(
        r#"filter weight -> set #weight_from = x -> see #filter-error: Weight must be a number.
           open ?condition=&on_display=false&weight_to=5 -> see #none: No record matches the filter.
           is texts('#chips summary') == ["Weight to 5", "On display no", "Condition none"]
           open ?weight=&acquired= -> names Bare, Krater -> is texts('#chips summary') == ["Weight is empty", "Acquired is empty"]
           open -> rows 5 -> type /ATHENS owl -> names Owl, Owl
           type x -> see #none: No record has all words of ATHENS owlx."#,
    );
}

#[test]
fn all_values_of_a_deleted_robot_are_restored() {
    let visit = Visit::of(&["Marvin"]);
    visit.play(
        r#"PUT /api/definition {"properties": \
           {"maker": {"type": "string", "title": "Made by <i>"}, "mood": {"enum": ["low"]}}}
           reload -> rows 1 -> edit Marvin -> type <Tab><Tab><Tab>Sirius<Tab>l -> press Save -> said Saved Marvin.
           is texts('#table tbody td.of-own') == ["Sirius", "low"]
           is texts('#headings .of-own') == ["Made by <i>", "Mood"]
           press Delete Marvin -> see #start: No robots yet -> click #undo .offer button -> rows 1"#,
    );
    let robot = json!({"id": "1", "name": "Marvin", "type": "droid", "year": 1977, "maker": "Sirius",
        "mood": "low", "revision": 4});
    visit.assert_stored(1, &robot);
}
