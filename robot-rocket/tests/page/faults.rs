//! Faults while something is typed or confirmed: nothing is lost, and only what was confirmed is done.

use crate::{outage::CUT_OFF, own_fields::MUSEUM, visit::Visit};

#[test]
fn typed_values_survive_an_outage_and_a_reload() {
    let visit = Visit::of(&["Marvin"]);
    visit.run(CUT_OFF);
    visit.play(
        r#"run window.isDown = () => false -> edit Marvin -> type <img src=x onerror=alert(1)>
           run window.isDown = () => true -> type <Enter> -> see #record .error: Whether the robot was saved is unknown.
           run window.isDown = () => false; $('#trouble button').click() -> said The server answers again.
           is $('#record input').value == "<img src=x onerror=alert(1)>"
           reload -> focus Name -> value <img src=x onerror=alert(1)> -> PATCH /v1/robots/1 {"year":5}
           type <Home> -> reload -> focus Name -> type <Enter> -> said Saved <img
           stored [{"name":"\u003cimg src=x onerror=alert(1)\u003e","type":"droid","year":5}]
           reload -> see #robot-heading: <img -> is $$('#record .editor').length == 0
           type <Escape> -> panel adding -> focus Name -> type BB-8 -> reload -> rows 1 -> see #adding: Add a robot
           is $('#add input').value == "BB-8" -> run $('#add input').focus() -> type <Tab>d<Tab>1<Enter> -> rows 2
           reload -> rows 2 -> is $('#adding').hidden == true
           press fields-open -> focus fields-heading -> run $('#field input').focus() -> type Maker
           reload -> rows 2 -> is $$('#field input').map((box) => box.value).slice(0, 2) == ["Maker", "maker"]"#,
    );
}

/// Answers requests with the method as a server without its database.
const UNAVAILABLE: &str = r#"
    const send = window.fetch;
    window.isDown = true;
    window.fetch = (path, options) => window.isDown && options.method === "POST"
        ? Promise.resolve(new Response('{"errors":[{"message":"Busy"}]}', { status: 503 })) : send(path, options);"#;

/// Sends requests, and loses the responses.
const LOST: &str = r#"
    const send = window.fetch;
    window.isDown = true;
    window.fetch = (path, options) => send(path, options).then((response) => {
        if (window.isDown && options.method === "POST") throw new TypeError("lost");
        return response;
    });"#;

#[test]
fn outcome_of_an_addition_is_known_or_said_to_be_unknown() {
    let chair = r#"{"name":"Chair","type":"droid","year":1}"#;
    for (fault, message) in [
        (UNAVAILABLE, "The robot was not added. Add it again."),
        (
            LOST,
            "Whether the robot was added is unknown: 2 robots with these values",
        ),
    ] {
        let visit = Visit::of(&[]);
        let repeated = r#"{"properties": {"name": {"unique": false}}}"#;
        visit.call("PUT", "/v1/definition", repeated);
        visit.call("POST", "/v1/robots", chair);
        visit.play("reload -> rows 1");
        visit.run(fault);
        visit.play(&format!(
            "enter Chair<Tab>d<Tab>1 -> see #add .error: {message} -> is $('#add input').value == \"Chair\"
             is $('#undo').textContent == \"\" -> run window.isDown = false"
        ));
    }
}

/// Asks once for a token before a deletion.
const NO_TOKEN: &str = r#"
    const send = window.fetch;
    window.deleted = [];
    let isAsked = false;
    window.fetch = (path, options) => {
        if (options.method !== "DELETE") return send(path, options);
        window.deleted.push(options.body);
        const headers = { "WWW-Authenticate": "Bearer" };
        if (!isAsked) return Promise.resolve(new Response('{"errors":[]}', { status: isAsked = 401, headers }));
        return send(path, options);
    };"#;

#[test]
fn what_was_confirmed_is_sent_with_a_token() {
    let visit = Visit::of(&["A", "B", "C"]);
    visit.run(NO_TOKEN);
    visit.play(
        r#"click [aria-label='Select A'] -> run $('#erasing').requestSubmit() -> see #token: This requires a token
           run for (const name of ['B', 'C']) $(`[aria-label='Select ${name}']`).click()
           run $('#token-text').focus() -> type robots_writer<Enter> -> said Deleted 1 robot. -> names B, C
           is window.deleted == ["{\"ids\":[\"1\"],\"revisions\":[1]}", "{\"ids\":[\"1\"],\"revisions\":[1]}"]"#,
    );
    visit.play("reload -> rows 2");
    visit.run(NO_TOKEN);
    visit.play(
        r"click [aria-label='Select B'] -> run $('#erasing').requestSubmit() -> see #token: The service rejects the token
           click #token-close -> click #token-open -> run $('#token-text').focus() -> type robots_other<Enter>
           is $('#token').hidden == true -> names B, C -> is window.deleted.length == 1",
    );
}

#[test]
fn robot_that_is_changed_before_a_deletion_is_left() {
    Visit::of(&["A", "B", "C"]).play(
        r#"run $('thead .of-select input').click() -> hold method === 'DELETE' -> run $('#erasing').requestSubmit()
           PATCH /v1/robots/2 {"year":5} -> release -> see #selection-result h3: Deleted 2 robots.
           is texts('#selection-result li') == ["B was changed by another user."] -> names B
           stored [{"name":"B","type":"droid","year":5}] -> see #count: 1 robot
           click #undo .offer button -> names A, B, C"#,
    );
}

#[test]
fn changed_fields_are_filled_and_keep_what_was_typed() {
    Visit::of(&["Marvin", "R2-D2"]).play(
        r#"PUT /v1/definition {"properties": {"maker": {"type": "string"}}} -> reload -> rows 2
           edit Marvin -> type Arthur -> set #record [data-member=maker] input = Sirius
           PUT /v1/definition {"properties": {"maker": {"type": "string"}, "hue": {"enum": ["red"]}}, \
           "required": ["name", "hue"]}
           PATCH /v1/robots/2 {"hue": "red"} -> see #record [data-member=hue] label: Hue (required)
           is [$('#record input').value, $('#record [data-member=maker] input').value] == ["Arthur", "Sirius"]
           set #record [data-member=hue] select = red -> click #record .editor .main -> said Saved Arthur.
           see #table: Sirius -> press Edit -> focus Name -> set #record [data-member=maker] input = Ursa
           PUT /v1/definition?drop_values=true {"properties": {"hue": {"enum": ["red"]}, "mood": {"type": "string"}}}
           PATCH /v1/robots/2 {"mood": "low"}
           see #record .error: Maker is no field any more; you have typed: Ursa"#,
    );
}

#[test]
fn fields_of_another_user_are_kept() {
    let visit = Visit::museum();
    let other = MUSEUM.replace(r#""fair", "#, r#""fair", "excellent", "#);
    let other = other.replace(
        r#""title": "Exhibits""#,
        r#""title": "Things", "noun": {"one": "thing", "many": "things"}"#,
    );
    visit.play(
        r"press fields-open -> focus fields-heading -> press Edit Condition
          run set('#fields-list textarea', 'good\n<b>poor</b>\nlost') -> set #many-of-catalogue = exhibits",
    );
    visit.call("PUT", "/v1/definition", &other);
    visit.play(
        r#"click #fields-list .main -> see #fields-error: They are shown now, with what you have typed
           is $('#fields-list textarea').value == "good\nexcellent\n<b>poor</b>\nlost"
           is ['title', 'one', 'many'].map((name) => $(`#${name}-of-catalogue`).value) == ["Things", "thing", "exhibits"]
           click #fields-list .main -> said Saved the field Condition."#,
    );
    let stored = visit.call("GET", "/v1/definition", "");
    let choices = r#"["good","excellent","\u003cb\u003epoor\u003c/b\u003e","lost"]"#;
    assert!(stored.contains(choices), "{stored}");
}
