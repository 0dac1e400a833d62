// The page of a catalogue without robots.

import { action } from "./action.js";
import { upload } from "./api.js";
import { announce } from "./announcements.js";
import { byId, show } from "./elements.js";
import { reopen } from "./list.js";
import { OWN, TYPES, onDefined } from "./robot.js";

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

/** Starts the page. */
export function startStart() {
  for (const id of ["importing-open", "adding-open"]) byId(`start-${id}`).addEventListener("click", () => byId(id).click());
  byId("add-samples").addEventListener("click", () => fill());
  onDefined(() => show(byId("samples"), OWN.length === 0 && TYPES.length > 2));
}

/** Shows the start page if there is no robot, and hides it otherwise. */
export function showStart(isEmpty) {
  show(byId("start"), isEmpty);
  show(byId("robots"), !isEmpty);
}

const fill = action({
  async perform() {
    const lines = ["name,type,year", ...SAMPLES.map(([name, type, year]) => `\n${name},${TYPES[type]},${year}`)];
    byId("start-error").textContent = "";
    await upload(new Blob(lines), { format: "csv", on_conflict: "skip" });
    await reopen();
    showStart(false);
    byId("robots").focus();
    announce(`Added ${SAMPLES.length} sample robots.`);
  },
  failed({ messages }) {
    byId("start-error").textContent = messages.join(" ");
  },
  back: () => fill(),
});
