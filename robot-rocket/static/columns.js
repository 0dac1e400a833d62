// The columns of the table, which the user can choose in a menu.

import { byId, element, inStorage, show } from "./elements.js";
import { startMenu } from "./panels.js";
import { MEMBERS, OWN, onDefined } from "./robot.js";

/** The maximum number of own members with a column, unless the user chooses others. */
const MAX_OWN = 3;

/** Catalogues at other paths have other columns. */
const KEY = `robots-columns ${new URL(".", location.href).pathname}`;

/** The keys of the columns that the user has chosen; undefined for the usual ones. */
let chosen = inStorage(() => JSON.parse(localStorage.getItem(KEY)) ?? undefined);

/** The members with a column, in their order. The name always has one. */
export function shownColumns() {
  const usual = OWN.filter(({ input }) => input !== "long").slice(0, MAX_OWN);
  const isShown = (one) => (chosen ? chosen.includes(one.key) : !one.isOwn || usual.includes(one));
  return MEMBERS.filter((one) => one.key === "name" || isShown(one));
}

/** Starts the menu. `changed` is called when the user has chosen. */
export function startColumns(changed) {
  startMenu("columns");
  onDefined(() => {
    show(byId("columns"), OWN.length > 0);
    byId("columns-list").replaceChildren(...MEMBERS.filter(({ key }) => key !== "name").map(choice));
  });
  byId("columns-list").addEventListener("change", () => {
    chosen = [...byId("columns-list").querySelectorAll(":checked")].map((box) => box.value);
    inStorage(() => localStorage.setItem(KEY, JSON.stringify(chosen)));
    changed();
  });
}

function choice({ key, title }) {
  const checked = shownColumns().some((one) => one.key === key);
  const box = element("input", { type: "checkbox", value: key, checked });
  return element("li", {}, element("label", { class: "choice" }, box, title));
}
