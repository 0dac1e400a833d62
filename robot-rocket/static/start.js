// The page of a catalogue without robots.

import { add } from "./api.js";
import { say } from "./announcements.js";
import { whenBack } from "./connection.js";
import { byId, element, show } from "./elements.js";
import { open } from "./list.js";
import { askForToken } from "./token.js";

const SAMPLES = [
  ["Maschinenmensch", "mechanical", "1927"],
  ["Robby the Robot", "mechanical", "1956"],
  ["Unimate", "mechanical", "1961"],
  ["ELIZA", "virtual", "1966"],
  ["HAL 9000", "virtual", "1968"],
  ["R2-D2", "droid", "1977"],
  ["C-3PO", "droid", "1977"],
  ["GLaDOS", "virtual", "2007"],
  ["BB-8", "droid", "2015"],
].map(([name, type, year]) => ({ name, type, year }));

const WELCOME =
  "This catalogue keeps robots: each with a name of its own, a type and a year. Begin with some " +
  "that everybody knows, or with yours in the form below.";

const wrong = element("p", { class: "error", role: "alert" });

/** Shows the start page while there is no robot, and else not. */
export function showStart(isEmpty) {
  if (isEmpty && byId("start").childElementCount === 0) byId("start").append(...parts());
  show(byId("start"), isEmpty);
  show(byId("robots"), !isEmpty);
}

function parts() {
  const address = new URL("api/robots", location.href);
  const call = `curl -d '{"name":"R2-D2","type":"droid","year":1977}' ${address}`;
  const attributes = { type: "button", class: "main", onclick: fill };
  // Where it is too long for the window, the arrow keys must get to its end.
  const scrolled = { tabindex: "0", role: "group", "aria-label": "The same from a shell" };
  return [
    element("h2", { id: "start-heading" }, "No robots yet"),
    element("p", {}, WELCOME),
    element("p", {}, element("button", attributes, "Add sample robots")),
    wrong,
    element("p", { class: "hint" }, "From a shell:"),
    element("pre", scrolled, element("code", {}, call)),
  ];
}

async function fill() {
  wrong.textContent = "";
  try {
    for (const robot of SAMPLES) await addUnlessThere(robot);
  } catch (error) {
    if (error.asksForToken) return askForToken(error, fill);
    wrong.textContent = error.messages.join(" ");
    if (error.isPassing) whenBack(error, fill);
    return;
  }
  await open("");
  byId("robots").focus();
  say(`Added ${SAMPLES.length} sample robots.`);
}

/** Where some were added before the server went away, only the others are missing. */
async function addUnlessThere(robot) {
  try {
    await add(robot);
  } catch (error) {
    const isThere = error.messages.includes("The robot name must be unique");
    if (!isThere) throw error;
  }
}
