//! Layout on narrow screens and in dark mode, and the size of the page.

use serde_json::json;

use crate::visit::Visit;

impl Visit {
    pub(crate) fn set_width(&self, width: u32) {
        let size = json!({"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.browser
            .devtools("Emulation.setDeviceMetricsOverride", &size);
    }

    /// Prefers the `light` or `dark` colour scheme.
    pub(crate) fn prefer(&self, scheme: &str) {
        let preferred = json!({"name": "prefers-color-scheme", "value": scheme});
        let media = json!({"features": [preferred]});
        self.browser.devtools("Emulation.setEmulatedMedia", &media);
    }
}

#[test]
fn narrow_screen_needs_no_horizontal_scrolling() {
    let long = "x".repeat(255);
    let visit = Visit::of(&["Marvin", &long]);
    visit.add("late", "mechanical", "9223372036854775807");
    visit.reload();
    visit.wait_for_rows(3);
    visit.choose(
        "robots.csv",
        &format!("name,type,year,{long}\n{long},toaster,1,\n"),
    );
    visit.wait_for_text("#plan-counts", "Would add no robots, fail 1.");
    for width in [320, 375, 700, 1000, 1600] {
        visit.set_width(width);
        visit.run("document.querySelector('[data-action=edit]').click()");
        visit.run("document.querySelector('#add').requestSubmit()");
        visit.wait_for_text("#add .of-name .error", "name is required");
        let script = "return document.documentElement.scrollWidth <= innerWidth";
        assert_eq!(visit.run(script), true, "{width}");
        let outside = "return [...document.querySelectorAll('button, input, select, td')].filter(\
                       (each) => each.checkVisibility() && (each.getBoundingClientRect().right > \
                       innerWidth || each.getBoundingClientRect().left < 0)).map((each) => each.outerHTML)";
        assert_eq!(visit.run(outside), json!([]), "{width}");
        let small = "return [...document.querySelectorAll('main button, main input, main select')]\
                     .filter((each) => each.checkVisibility() && (each.offsetHeight < 24 || \
                     each.offsetWidth < 24)).map((each) => each.outerHTML)";
        assert_eq!(visit.run(small), json!([]), "{width}");
        visit.run("document.querySelector('.edited .of-actions button:last-child').click()");
    }
}

#[test]
fn page_is_small_and_follows_the_preferred_color_scheme() {
    let visit = Visit::of(&[]);
    let script = "const loaded = [...performance.getEntriesByType('navigation'), \
                  ...performance.getEntriesByType('resource')]; \
                  return [loaded.every((each) => each.name.startsWith(location.origin)), \
                  loaded.length, loaded.reduce((sum, each) => sum + each.encodedBodySize, 0)]";
    let (is_own, files, bytes): (bool, u32, u32) =
        serde_json::from_value(visit.run(script)).unwrap();
    assert!(is_own);
    assert!((10..40).contains(&files), "{files} files");
    assert!((20_000..210_000).contains(&bytes), "{bytes} bytes");
    let brightness = "const of = (property) => getComputedStyle(document.body)[property]\
                      .match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0); \
                      return [of('backgroundColor'), of('color')]";
    let seen =
        |visit: &Visit| -> (u32, u32) { serde_json::from_value(visit.run(brightness)).unwrap() };
    let (ground, ink) = seen(&visit);
    assert!(ground > 600 && ink < 200, "{ground}, {ink}");
    visit.prefer("dark");
    let (ground, ink) = seen(&visit);
    assert!(ground < 100 && ink > 600, "{ground}, {ink}");
}
