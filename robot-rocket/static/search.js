// The inputs of the filter: the search box, choices and ranges. They work while typing.

import { changeView } from "./address.js";
import { byId, element, show } from "./elements.js";
import { CHOICES } from "./robot.js";
import { mark } from "./row.js";
import { ENDS, EVERYTHING, RANGES, isFiltered, problemWith } from "./view.js";

/** Milliseconds after a key until the list follows. */
const PAUSE = 150;

let timer;

/** Creates the inputs and starts listening. */
export function startSearch() {
  byId("clear").before(...CHOICES.map(choices), ...RANGES.map(range));
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
    byId(ENDS[0]).focus();
  });
}

/** Shows all robots, in the same order. */
function clearFilter() {
  clearTimeout(timer);
  fillSearch(EVERYTHING);
  changeView(values());
}

/** Fills the inputs with a view. */
export function fillSearch(view) {
  clearTimeout(timer);
  byId("query").value = view.query;
  for (const { key } of CHOICES) {
    for (const box of boxes(key)) box.checked = view[key].includes(box.value);
  }
  for (const end of ENDS) byId(end).value = view[end];
  check();
}

function choices({ key, title, choices }) {
  const chips = choices.map((choice) => {
    const box = element("input", { type: "checkbox", value: choice });
    return element("label", { class: "chip" }, box, mark(choice, choices));
  });
  return element("fieldset", { id: `of-${key}` }, legend(title), ...chips);
}

function range({ key, title, from, to }) {
  const box = (id, placeholder) =>
    element("input", {
      id,
      placeholder,
      inputmode: "numeric",
      autocomplete: "off",
      "aria-describedby": "filter-error",
    });
  const unseen = (text) => element("span", { class: "unseen" }, text);
  return element(
    "fieldset",
    { class: "range" },
    legend(title),
    element("label", { for: from }, `${title} `, unseen("from")),
    box(from, "from"),
    element("label", { for: to }, "to", unseen(` ${key}`)),
    box(to, "to"),
  );
}

function legend(title) {
  return element("legend", { class: "unseen" }, title);
}

function boxes(key) {
  return [...byId(`of-${key}`).querySelectorAll("input")];
}

/** The values of the search box and of choices. */
function chosen() {
  const values = ({ key }) => boxes(key).flatMap((box) => (box.checked ? [box.value] : []));
  return {
    query: byId("query").value,
    ...Object.fromEntries(CHOICES.map((member) => [member.key, values(member)])),
  };
}

function values() {
  const ends = ENDS.map((end) => [end, byId(end).value.trim()]);
  return { ...chosen(), ...Object.fromEntries(ends) };
}

function apply() {
  clearTimeout(timer);
  changeView(check() ? values() : chosen());
}

/** Whether the service would accept the inputs. Shows the reason if not. */
function check() {
  const problem = problemWith(values());
  byId("filter-error").textContent = problem;
  for (const end of ENDS) byId(end).setAttribute("aria-invalid", String(problem !== ""));
  show(byId("clear"), isFiltered(values()));
  return problem === "";
}
