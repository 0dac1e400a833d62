// The page of a catalogue without robots.

import { action } from "./action.js";
import { upload } from "./api.js";
import { announce } from "./announcements.js";
import { button, byId, element, show } from "./elements.js";
import { reopen } from "./list.js";
import { OWN, TITLE, TYPES, onDefined } from "./robot.js";

/** Robots that everybody knows: name, position of the type, and year. */
const SAMPLES = [
  ["Maschinenmensch", 1, "1927"],
  ["Robby the Robot", 1, "1956"],
  ["Unimate", 1, "1961"],
  ["ELIZA", 2, "1966"],
  ["HAL 9000", 2, "1968"],
  ["R2-D2", 0, "1977"],
  ["C-3PO", 0, "1977"],
  ["GLaDOS", 2, "2007"],
  ["BB-8", 0, "2015"],
];

const WELCOME =
  "This catalogue holds robots, each with a unique name, a type and a year. Start with some " +
  "well-known ones, or add your own below.";

const errorText = element("p", { class: "error", role: "alert" });

/** Starts the page, which depends on the definition. */
export function startStart() {
  onDefined(() => byId("start").replaceChildren());
}

/** Shows the start page if there is no robot, and hides it otherwise. */
export function showStart(isEmpty) {
  const isFilled = byId("start").childElementCount > 0;
  if (isEmpty && !isFilled) byId("start").append(...parts());
  show(byId("start"), isEmpty);
  show(byId("robots"), !isEmpty);
}

/** Whether the definition permits the well-known robots. */
function hasSamples() {
  return OWN.length === 0 && TYPES.length > 2;
}

function parts() {
  const heading = (text) => element("h2", { id: "start-heading" }, text);
  if (!hasSamples()) {
    const words = "Add the first one below, or import a file.";
    return [heading(`${TITLE}: nothing here yet`), element("p", {}, words)];
  }
  const address = new URL("v1/robots", location.href);
  const call = `curl -d '{"name":"R2-D2","type":"droid","year":1977}' ${address}`;
  // Focusable, so that the arrow keys can scroll it in a narrow window.
  const scrolled = { tabindex: "0", role: "group", "aria-label": "The same from a shell" };
  return [
    heading("No robots yet"),
    element("p", {}, WELCOME),
    element("p", {}, button("Add sample robots", () => fill(), { class: "main" })),
    errorText,
    element("p", { class: "hint" }, "From a shell:"),
    element("pre", scrolled, element("code", {}, call)),
  ];
}

const fill = action({
  async perform() {
    const lines = ["name,type,year", ...SAMPLES.map(([name, type, year]) => `\n${name},${TYPES[type]},${year}`)];
    errorText.textContent = "";
    await upload(new Blob(lines), { format: "csv", on_conflict: "skip" });
    await reopen();
    byId("robots").focus();
    announce(`Added ${SAMPLES.length} sample robots.`);
  },
  failed({ messages }) {
    errorText.textContent = messages.join(" ");
  },
  back: () => fill(),
});
