// The page of a catalogue without robots.

import { action } from "./action.js";
import { upload } from "./api.js";
import { announce } from "./announcements.js";
import { button, buttons, byId, element, show } from "./elements.js";
import { reopen } from "./list.js";
import { MANY, ONE, OWN, TYPES, onDefined } from "./robot.js";

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

/** A file is what most people have; sample robots are for those who only look. */
function parts() {
  const open = (id) => () => byId(id).click();
  const samples = button("Add sample robots", () => fill(), { class: "quiet" });
  return [
    element("h2", { id: "start-heading" }, `No ${MANY} yet`),
    element("p", {}, "Import a file of CSV, Excel or JSON: its columns become fields. You can also drop it anywhere on this page."),
    buttons(
      button("Import a file", open("importing-open"), { class: "main" }),
      button(`Add one ${ONE} by hand`, open("adding-open")),
    ),
    ...(hasSamples() ? [element("p", { class: "hint" }, "Only looking? ", samples)] : []),
    errorText,
  ];
}

const fill = action({
  async perform() {
    const lines = ["name,type,year", ...SAMPLES.map(([name, type, year]) => `\n${name},${TYPES[type]},${year}`)];
    errorText.textContent = "";
    await upload(new Blob(lines), { format: "csv", on_conflict: "skip" });
    showStart(false);
    byId("robots").focus();
    await reopen();
    announce(`Added ${SAMPLES.length} sample robots.`);
  },
  failed({ messages }) {
    errorText.textContent = messages.join(" ");
  },
  back: () => fill(),
});
