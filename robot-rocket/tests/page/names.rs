//! Unusual and hostile names, which are shown as text.

use serde_json::json;

use crate::{
    keys::{CONTROL, ENTER, ESCAPE, TAB},
    visit::Visit,
};

const HOSTILE: [&str; 6] = [
    "<img src=x onerror=alert(1)>",
    "</bdi></td><script>alert(1)</script>",
    "\"><svg/onload=alert(1)>",
    "' onfocus=alert(1) autofocus='",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} &lt;b&gt;",
];

#[test]
fn markup_in_names_is_shown_as_text() {
    let visit = Visit::of(&HOSTILE);
    let mut sorted = HOSTILE.to_vec();
    sorted.sort_unstable();
    assert_eq!(visit.names(), sorted);
    for name in HOSTILE {
        let label = format!("Delete {name}");
        let script = "const label = arguments[0]; const button = [...document.querySelectorAll(\
                      'button')].find((each) => each.getAttribute('aria-label') === label); \
                      button.focus()";
        visit.browser.run(script, &[json!(label)]);
        visit.press(ENTER);
        visit.wait_for_text("#undo", name);
        visit.wait_for_rows(HOSTILE.len() - 1);
        visit.press_with(CONTROL, 'z');
        visit.wait_for_rows(HOSTILE.len());
        visit.wait_for_focus(&format!("Edit {name}"));
        visit.press(ENTER);
        visit.wait_for_focus("Name");
        assert_eq!(visit.run("return document.activeElement.value"), name);
        visit.press(ESCAPE);
    }
    let script = "const box = document.querySelector('#query'); box.value = arguments[0]; \
                  box.form.requestSubmit()";
    let missing = "<img src=y onerror=alert(2)>";
    visit.browser.run(script, &[json!(missing)]);
    visit.wait_for_text("#none", missing);
    let foreign = "return document.querySelectorAll('#table img, #table script, table svg, \
                   #none img, #undo img').length";
    assert_eq!(visit.run(foreign), 0);
}

#[test]
fn whitespace_and_directions_in_names_are_kept() {
    let names = [
        "  two before",
        "two\nlines",
        "   ",
        "\u{202e}abc",
        "مرحبا 7",
        "\u{7f}\u{1}",
    ];
    let visit = Visit::of(&names);
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(visit.names(), sorted);
    let script = "const styles = [...document.querySelectorAll('#table .name')].map(\
                  (name) => getComputedStyle(name)); return styles.every((style) => \
                  style.unicodeBidi.includes('isolate') && style.whiteSpace === 'pre-wrap')";
    assert_eq!(visit.run(script), true);
    assert_eq!(
        visit.run("return document.querySelectorAll('#table .blank').length"),
        2
    );
    // An unchanged box keeps the name, even if the box cannot show it.
    visit.edit("two\nlines");
    visit.press(&format!("{TAB}{TAB}1978{ENTER}"));
    visit.wait_for_focus("Edit two\nlines");
    visit.assert_stores(r#"{"name":"two\nlines","type":"droid","year":1978}"#);
}

#[test]
fn numbers_of_19_digits_are_exact() {
    let visit = Visit::of(&[]);
    visit.add("late", "virtual", "9223372036854775807");
    visit.add("later", "virtual", "9223372036854775806");
    visit.reload();
    visit.wait_for_rows(2);
    let years = visit.rows().into_iter().map(|[_, _, year]| year);
    assert!(years.eq(["9223372036854775807", "9223372036854775806"]));
    visit.edit("late");
    visit.press(&format!("{TAB}{TAB}9007199254740993{ENTER}"));
    visit.wait_for_focus("Edit late");
    assert_eq!(visit.rows()[0][2], "9007199254740993");
    visit.enter_robot("early", "m", "007");
    visit.wait_for_rows(3);
    assert_eq!(visit.rows()[0][2], "7");
    visit.assert_stores(r#""late","type":"virtual","year":9007199254740993"#);
    visit.assert_stores(r#""year":9223372036854775806"#);
    visit.assert_stores(r#"{"name":"early","type":"mechanical","year":7}"#);
    let script = "return import('/page/robot.js').then(({ stored }) => \
                  ['-0', '-00', '007', '-7'].map((year) => stored({ name: '', type: '', year }).year))";
    assert_eq!(visit.run(script), json!(["0", "0", "7", "-7"]));
}
