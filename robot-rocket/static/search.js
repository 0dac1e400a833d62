// The inputs of the filter: the search box, choices, ranges, and values of own members. They work
// while typing.

import { changeView } from "./address.js";
import { byId, element, onSubmit, show, unseen } from "./elements.js";
import { KINDS, inWords } from "./kinds.js";
import { CHOICES, MEMBERS, OWN, SEARCHED, onDefined } from "./robot.js";
import { mark } from "./row.js";
import { ENDS, EQUALS, EVERYTHING, NONE, RANGES, TYPED, choicesOf, isFiltered, problemIn } from "./view.js";

/** Milliseconds after a key until the list follows. */
const PAUSE = 150;

let timer;

/** Creates the inputs and starts listening. */
export function startSearch() {
  onDefined(fill);
  for (const id of ["search", "filter"]) {
    byId(id).addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(apply, PAUSE);
    });
    onSubmit(byId(id), apply);
  }
  byId("clear").addEventListener("click", () => {
    fillSearch(EVERYTHING);
    changeView(values());
    byId(ENDS[0]).focus();
  });
}

/** Creates the inputs, those of own members in a part that can be folded. */
function fill() {
  const input = (one) => (EQUALS.includes(one) ? [value(one)] : rangesOf(one).map(range));
  byId("filter-own").replaceChildren(...OWN.flatMap(input));
  const built = MEMBERS.filter(({ isOwn }) => !isOwn).flatMap(rangesOf).map(range);
  byId("filter-built-in").replaceChildren(...CHOICES.map(choices), ...built);
  show(byId("filter-more"), OWN.length > 0);
  const titles = SEARCHED.map(({ title }) => title).join(", ");
  byId("help-search").textContent = titles;
  const label = SEARCHED.length > 1 ? "Search all words" : "Search the names";
  byId("query").labels[0].textContent = label;
  byId("query").placeholder = label;
}

/** Shows only the robots of some years. */
export function filterYears(from, to) {
  [byId("year_from").value, byId("year_to").value] = [from, to];
  apply();
  byId("robots").focus();
}

/** Fills the inputs with a view. */
export function fillSearch(view) {
  clearTimeout(timer);
  byId("query").value = view.q;
  for (const { key } of CHOICES) {
    for (const box of boxes(key)) box.checked = view[key].includes(box.value);
  }
  for (const end of ENDS) byId(end).value = view[end];
  for (const { key } of EQUALS) byId(`is-${key}`).value = view[key];
  const isUsed = TYPED.some((name) => view[name] !== "" && byId("filter-own").querySelector(`#${name}, #is-${name}`));
  if (isUsed) byId("filter-more").open = true;
  check();
}

function choices({ key, title, choices }) {
  const chips = choices.map((choice) => {
    const box = element("input", { type: "checkbox", value: choice });
    return element("label", { class: "chip" }, box, mark(choice, choices));
  });
  return element("fieldset", { id: `of-${key}` }, legend(title), ...chips);
}

function rangesOf({ key }) {
  return RANGES.filter((one) => one.key === key);
}

function range({ key, title, input, isOwn, minimum, from, to }) {
  const type = KINDS[input].box;
  const inputmode = input === "number" ? "decimal" : "numeric";
  const box = (id, placeholder) =>
    element("input", {
      id,
      type: type ?? "text",
      placeholder: type ? undefined : placeholder,
      // A numeric keypad may have no sign.
      inputmode: type || !(minimum >= 0) ? undefined : inputmode,
      autocomplete: "off",
      "aria-describedby": "filter-error",
    });
  return element(
    "fieldset",
    { class: "range" },
    legend(title),
    element("label", { for: from }, `${title} `, unseen("from")),
    box(from, "from"),
    element("label", { for: to }, "to", unseen(` ${isOwn ? title : key}`)),
    box(to, "to"),
  );
}

/** The value of an own member: one of several, or a text. */
function value(member) {
  const id = `is-${member.key}`;
  const label = element("label", { for: id }, member.title);
  return element("div", { class: "value" }, label, valueBox(id, member));
}

function valueBox(id, member) {
  const values = choicesOf(member);
  const typed = { id, type: "text", autocomplete: "off", spellcheck: "false" };
  if (!values) return element("input", typed);
  const words = (each) => (each === NONE ? "(none)" : inWords(member.input, each));
  const options = values.map((each) => element("option", { value: each }, words(each)));
  return element("select", { id }, element("option", { value: "" }, "any"), ...options);
}

function legend(title) {
  return element("legend", { class: "unseen" }, title);
}

function boxes(key) {
  return [...byId(`of-${key}`).querySelectorAll("input")];
}

/** The values of the search box, of choices, and of own members. */
function chosen() {
  const values = ({ key }) => boxes(key).flatMap((box) => (box.checked ? [box.value] : []));
  return {
    q: byId("query").value,
    ...Object.fromEntries(CHOICES.map((member) => [member.key, values(member)])),
    ...Object.fromEntries(EQUALS.map(({ key }) => [key, byId(`is-${key}`).value])),
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
  const problem = problemIn(values());
  byId("filter-error").textContent = problem?.text ?? "";
  const wrong = problem ? [problem.range.from, problem.range.to] : [];
  for (const end of ENDS) byId(end).setAttribute("aria-invalid", String(wrong.includes(end)));
  show(byId("clear"), isFiltered(values()));
  return problem === undefined;
}
