// The filters: a chip for each field with conditions, which opens to change them, and the menu that adds one.

import { changeView, currentView } from "./address.js";
import { rounded } from "./bins.js";
import { button, byId, element, onSubmit, show, unseen } from "./elements.js";
import { KINDS, inWords } from "./kinds.js";
import { startMenu } from "./panels.js";
import { MEMBERS, onDefined } from "./robot.js";
import { mark } from "./row.js";
import { PAUSE } from "./search.js";
import { Suggestions } from "./suggestions.js";
import { CHOSEN, CONDITIONS, EVERYTHING, MAX_PART, NONE, RANGES, TEXTS, isFiltered, problemIn, withoutFilter } from "./view.js";

/** The chips by the keys of their fields, in the order in which they were added. */
const chips = new Map();

/** The number of inputs so far, for their ids. */
let count = 0;

let timer;

/** Starts the menu, and listening. */
export function startFilters() {
  startMenu(byId("filter-menu"));
  onSubmit(byId("filter"), apply);
  byId("filter").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, PAUSE);
  });
  byId("clear").addEventListener("click", () => {
    changeView({ ...withoutFilter(currentView()), q: currentView().q });
    byId("filter-menu").querySelector("summary").focus();
  });
  onDefined(() => {
    const fields = MEMBERS.filter(({ key }) => kindOf(key));
    const items = fields.map(({ key, title }) => element("li", {}, button(title, () => add(key), { "data-key": key })));
    byId("filter-fields").replaceChildren(...items);
    for (const chip of chips.values()) chip.remove();
  });
}

/** The inputs of a field, and what a view has of it. */
function kindOf(key) {
  const of = (members) => members.find((one) => one.key === key);
  const kinds = [[CHOSEN, choiceInputs], [RANGES, rangeInputs], [TEXTS, textInputs]];
  const [members, make] = kinds.find(([members]) => of(members)) ?? [];
  return members && { make, one: of(members), names: namesOf(of(members)) };
}

/** The members of a view that are conditions of a field. */
function namesOf({ key, from, to }) {
  if (from) return [key, from, to].filter((name) => name in EVERYTHING);
  return TEXTS.some((one) => one.key === key) ? CONDITIONS.map(([end]) => key + end) : [key];
}

const conditionsIn = (view, names) => Object.fromEntries(names.map((name) => [name, view[name]]));

const isActive = (view, names) => names.some((name) => view[name].length > 0);

/** Shows the filters of a view. */
export function fillFilters(view) {
  clearTimeout(timer);
  for (const { key } of MEMBERS) {
    const kind = kindOf(key);
    if (!kind) continue;
    chips.get(key)?.remove();
    if (isActive(view, kind.names)) addChip(key, view);
  }
  check();
}

/** Shows only the robots that meet some conditions of a field, in addition to the other filters. */
export function filterBy(key, conditions) {
  const none = Object.fromEntries(kindOf(key).names.map((name) => [name, EVERYTHING[name]]));
  changeView({ ...none, ...conditions });
  byId("robots").focus();
}

/** Adds the filter of a field, or opens it. */
function add(key) {
  byId("filter-menu").open = false;
  const chip = chips.get(key) ?? addChip(key, EVERYTHING);
  chip.open();
}

function addChip(key, view) {
  const { make, one, names } = kindOf(key);
  const inputs = make(one, conditionsIn(view, names));
  const summary = element("summary");
  const editor = element("div", { class: "conditions" }, element("h2", {}, one.title), ...inputs.shown);
  const menu = element("details", { class: "menu" }, summary, editor);
  const removing = button("✕", () => remove(true), { class: "quiet", "aria-label": `Remove the filter ${one.title}` });
  const item = element("li", { "data-member": key }, menu, removing);
  const remove = (isByUser) => {
    chips.delete(key);
    item.remove();
    if (!isByUser) return;
    apply();
    byId("filter-menu").querySelector("summary").focus();
  };
  const read = () => {
    const conditions = { ...conditionsIn(EVERYTHING, names), ...inputs.read() };
    summary.replaceChildren(element("b", {}, one.title), " ", inWordsOf(one, conditions));
    item.classList.toggle("active", isActive(conditions, names));
    return conditions;
  };
  const open = () => {
    menu.open = true;
    inputs.focus();
  };
  startMenu(menu);
  menu.addEventListener("toggle", () => {
    if (menu.open) {
      editor.classList.toggle("to-left", editor.getBoundingClientRect().right > innerWidth);
      inputs.opened?.();
    } else if (!isActive(read(), names)) {
      const hadFocus = item.contains(document.activeElement);
      remove();
      check();
      if (hadFocus) byId("filter-menu").querySelector("summary").focus();
    }
  });
  const chip = { read, remove, open, inputs, one };
  chips.set(key, chip);
  byId("chips").append(item);
  read();
  return chip;
}

/** Conditions for people. */
function inWordsOf(one, conditions) {
  const { key, input, from, to } = one;
  const isDecimal = input === "number";
  const words = (value) => (value === NONE ? "none" : isDecimal && value ? rounded(value) : inWords(input, value));
  if (conditions[key] === NONE) return "is empty";
  if (from) {
    const [first, last] = [conditions[from], conditions[to]].map(words);
    if (first && last) return first === last ? first : `${first} – ${last}`;
    if (first || last) return first ? `from ${first}` : `to ${last}`;
    return "…";
  }
  if (Array.isArray(conditions[key])) return conditions[key].map(words).join(", ") || "…";
  const [end, verb] = CONDITIONS.find(([end]) => conditions[key + end] !== "") ?? [];
  return verb ? `${verb} ${conditions[key + end]}` : "…";
}

const emptyBox = (isEmpty, attributes) => {
  const box = element("input", { type: "checkbox", checked: isEmpty, ...attributes });
  return [box, element("label", { class: "choice" }, box, "is empty")];
};

/** A check box per value, with the number of robots. */
function choiceInputs({ key, input, values, choices }, conditions) {
  const items = values.map((value) => {
    const box = element("input", { type: "checkbox", value, checked: conditions[key].includes(value) });
    const words = value === NONE ? element("i", {}, "none") : input === "choice" ? mark(value, choices) : inWords(input, value);
    const number = element("span", { class: "soft" });
    const label = element("label", { class: "choice" }, box, words);
    return { value, box, number, shown: element("div", { class: "counted" }, label, number) };
  });
  return {
    shown: [element("fieldset", {}, element("legend", { class: "unseen" }, "Values"), ...items.map(({ shown }) => shown))],
    read: () => ({ [key]: items.filter(({ box }) => box.checked).map(({ value }) => value) }),
    focus: () => items[0].box.focus(),
    async opened() {
      const groups = await new Suggestions(key).groups(conditionsIn(EVERYTHING, [key]));
      for (const { value, number } of items) number.textContent = groups.get(value)?.toLocaleString("en") ?? "";
    },
  };
}

function rangeInputs({ key, title, input, minimum, from, to }, conditions) {
  const type = KINDS[input].box;
  const inputmode = input === "number" ? "decimal" : "numeric";
  const end = (name, words) => {
    // A numeric keypad may have no sign.
    const mode = type || !(minimum >= 0) ? undefined : inputmode;
    const attributes = { type: type ?? "text", inputmode: mode, autocomplete: "off", "aria-describedby": "filter-error" };
    const box = Object.assign(element("input", { id: name, ...attributes }), { value: conditions[name] });
    return [box, element("div", { class: "field" }, element("label", { for: name }, unseen(`${title} `), words), box)];
  };
  const [[first, firstField], [last, lastField]] = [end(from, "from"), end(to, "to")];
  const [empty, emptyField] = emptyBox(conditions[key] === NONE);
  return {
    shown: [element("div", { class: "range" }, firstField, lastField), emptyField],
    read: () => (empty.checked ? { [key]: NONE } : { [from]: first.value.trim(), [to]: last.value.trim() }),
    focus: () => first.focus(),
    mark(isWrong) {
      for (const box of [first, last]) box.setAttribute("aria-invalid", String(isWrong));
    },
  };
}

function textInputs({ key, title }, conditions) {
  const known = CONDITIONS.find(([end]) => ![NONE, ""].includes(conditions[key + end]));
  const options = CONDITIONS.map(([end, words]) => element("option", { value: end }, words));
  const condition = element("select", { "aria-label": `Condition of ${title}` }, ...options);
  condition.value = known?.[0] ?? CONDITIONS[0][0];
  const id = `filter-text-${++count}`;
  const box = element("input", { id, type: "text", autocomplete: "off", spellcheck: "false", dir: "auto", "aria-label": title });
  box.value = known ? conditions[key + known[0]] : "";
  const [empty, emptyField] = emptyBox(conditions[key] === NONE);
  const suggestions = new Suggestions(key, (value) => {
    condition.value = condition.value === "_not" ? "_not" : "";
    [box.value, empty.checked] = [value, false];
    apply();
    box.focus();
  });
  const suggest = () => suggestions.show(box.value);
  box.addEventListener("input", suggest);
  return {
    shown: [condition, box, ...(key === "name" ? [] : [emptyField]), suggestions.element],
    read() {
      const text = box.value.trim().slice(0, condition.value === "_contains" ? MAX_PART : undefined);
      return empty.checked ? { [key]: NONE } : { [key + condition.value]: text };
    },
    focus: () => box.focus(),
    opened: suggest,
  };
}

/** The conditions of all chips. */
function values() {
  const none = { ...withoutFilter(currentView()), q: currentView().q };
  return Object.assign(none, ...[...chips.values()].map((chip) => chip.read()));
}

function apply() {
  clearTimeout(timer);
  if (check()) changeView(values(), true);
}

/** Whether the service would accept the inputs. Shows the reason if not. */
function check() {
  const problem = problemIn(values());
  byId("filter-error").textContent = problem?.text ?? "";
  for (const { inputs, one } of chips.values()) inputs.mark?.(problem?.range.key === one.key);
  show(byId("clear"), isFiltered({ ...values(), q: "" }));
  return problem === undefined;
}
