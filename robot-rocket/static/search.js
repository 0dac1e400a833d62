// The inputs of the filter: the search box, the types and the years. They work while typing.

import { changeView } from "./address.js";
import { byId, element, show } from "./elements.js";
import { TYPES } from "./robot.js";
import { EVERYTHING, isFiltered, problemWith } from "./view.js";

/** Milliseconds after a key until the list follows. */
const PAUSE = 150;

let timer;

/** Fills the choice of types and starts listening. */
export function startSearch() {
  byId("types").append(...TYPES.map(choice));
  for (const id of ["search", "filter"]) {
    byId(id).addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(apply, PAUSE);
    });
    byId(id).addEventListener("submit", (event) => {
      event.preventDefault();
      apply();
    });
  }
  byId("clear").addEventListener("click", () => {
    clearFilter();
    byId("from").focus();
  });
}

/** Shows all robots, in the same order. */
function clearFilter() {
  clearTimeout(timer);
  fillSearch(EVERYTHING);
  changeView(values());
}

/** Fills the inputs with a view. */
export function fillSearch({ query, types, from, to }) {
  clearTimeout(timer);
  byId("query").value = query;
  for (const box of boxes()) box.checked = types.includes(box.value);
  byId("from").value = from;
  byId("to").value = to;
  check();
}

function choice(type) {
  const box = element("input", { type: "checkbox", value: type });
  return element("label", { class: "chip" }, box, element("span", { class: `type ${type}` }, type));
}

function boxes() {
  return [...byId("types").querySelectorAll("input")];
}

function values() {
  return {
    query: byId("query").value,
    types: boxes().flatMap((box) => (box.checked ? [box.value] : [])),
    from: byId("from").value.trim(),
    to: byId("to").value.trim(),
  };
}

function apply() {
  clearTimeout(timer);
  const { query, types, ...years } = values();
  changeView(check() ? { query, types, ...years } : { query, types });
}

/** Whether the service would accept the inputs. Shows the reason if not. */
function check() {
  const problem = problemWith(values());
  byId("filter-error").textContent = problem;
  for (const id of ["from", "to"]) byId(id).setAttribute("aria-invalid", String(problem !== ""));
  show(byId("clear"), isFiltered(values()));
  return problem === "";
}
