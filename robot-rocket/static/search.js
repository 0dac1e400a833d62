// The search box. It works while typing.

import { changeView } from "./address.js";
import { byId, onSubmit } from "./elements.js";
import { searched } from "./nothing.js";
import { MANY, SEARCHED, onDefined } from "./robot.js";

/** Milliseconds after a key until the list follows. */
export const PAUSE = 150;

/** The number of fields that the box names. */
const NAMED = 3;

let timer;

/** Starts listening. */
export function startSearch() {
  byId("search").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, PAUSE);
  });
  onSubmit(byId("search"), apply);
  onDefined(() => {
    const titles = searched();
    const first = SEARCHED.slice(0, NAMED).map(({ title }) => title.toLowerCase()).join(", ");
    const more = SEARCHED.length - NAMED;
    const label = `Search ${first}${more > 0 ? ` and ${more} more` : ""}`;
    byId("query").placeholder = label;
    byId("query").title = `Finds ${MANY} with all words, or parts of words, in: ${titles}`;
    byId("query").labels[0].textContent = label;
    byId("help-search").textContent = titles;
  });
}

/** Fills the box with the words of a view. */
export function fillSearch({ q }) {
  clearTimeout(timer);
  byId("query").value = q;
}

function apply() {
  clearTimeout(timer);
  changeView({ q: byId("query").value }, true);
}
