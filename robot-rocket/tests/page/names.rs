//! Unusual and hostile names, which are shown as text, and numbers of 19 digits.

use serde_json::json;

use crate::visit::Visit;

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
    visit.expect_names(&sorted);
    for name in HOSTILE {
        let label = format!("Delete {name}");
        let focus = "$$('button').find((each) => each.ariaLabel === arguments[0]).focus()";
        visit.browser.run(focus, &[label.into()]);
        visit.play(&format!(
            "type <Enter> -> see #undo: {name} -> rows 5
             type <Control>z -> rows 6 -> see #undo: was restored -> see #undo: {name}
             press Edit {name} -> focus Name -> value {name} -> see #record h2: {name} -> type <Escape><Escape>
             is $('#record').hidden == true"
        ));
    }
    visit.play(
        "search <img src=y onerror=alert(2)> -> see #none: <img src=y onerror=alert(2)>
         is $$('#table img, #table script, table svg, #none img, #undo img, #record img').length == 0",
    );
}

#[test]
fn whitespace_and_directions_in_names_are_kept() {
    let mut names = [
        "  two before",
        "two\nlines",
        "   ",
        "\u{202e}abc",
        "مرحبا 7",
        "\u{7f}\u{1}",
    ];
    let visit = Visit::of(&names);
    names.sort_unstable();
    visit.expect_names(&names);
    let is_kept = "is $$('#table .name').map((name) => getComputedStyle(name)).every((style) => \
                   style.unicodeBidi.includes('isolate') && style.whiteSpace === 'pre-wrap') == true";
    visit.play(is_kept);
    visit.play("is $$('#table .blank').length == 2");
    // An unchanged box keeps the name, even if the box cannot show it.
    visit.press_on("Edit two\nlines");
    visit.play(
        r#"focus Name -> type <Tab><Tab>1978<Enter> -> see #said: Saved
           stored {"name":"two\nlines","type":"droid","year":1978}"#,
    );
}

#[test]
fn numbers_of_19_digits_are_exact() {
    let robots = [
        ("late", "virtual", "9223372036854775807"),
        ("later", "virtual", "9223372036854775806"),
    ];
    let visit = Visit::of_robots(&robots);
    visit.play(
        r#"is rows().map(([, , year]) => year) == ["9223372036854775807", "9223372036854775806"]
           edit late -> type <Tab><Tab>9007199254740993<Enter> -> said Saved late.
           is rows().find(([name]) => name == 'late')[2] == "9007199254740993"
           enter early<Tab>m<Tab>007 -> rows 3 -> is rows()[0][2] == "7"
           stored "late","type":"virtual","year":9007199254740993
           stored "year":9223372036854775806
           stored {"name":"early","type":"mechanical","year":7}"#,
    );
    let script = "return import('/page/robot.js').then(({ stored }) => \
                  ['-0', '-00', '007', '-7'].map((year) => stored({ name: '', type: '', year }).year))";
    assert_eq!(visit.run(script), json!(["0", "0", "7", "-7"]));
}
