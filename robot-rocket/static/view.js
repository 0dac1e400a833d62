// Views: which robots the list shows, and in which order. A view is a value, without side effects.
//
// Members: `q` has the words that are searched; `sort` is the order, as the service names it. The others
// have the names of the service's parameters: a choice such as `type` is a list of values, any if
// there is none; the ends of a range, such as `year_from` and `year_to`, are as typed, or empty; the
// value of another own field is empty if any is shown.

import { KINDS, compareIntegers } from "./kinds.js";
import { CHOICES, MEMBERS, OWN, SEARCHED, SORT_KEYS, member, onDefined } from "./robot.js";

/** In a view, the value of robots that have none. */
export const NONE = "\0";

/** The members with ranges, with the names of both ends. */
export let RANGES;

/** The names of the ends of ranges. */
export let ENDS;

/** The own members that are compared with one value. */
export let EQUALS;

/** The names of the members of a view that are typed texts, or one value. */
export let TYPED;

/** The view of all robots by name. */
export let EVERYTHING;

onDefined(() => {
  const ordered = MEMBERS.filter(({ input }) => KINDS[input].isValid);
  RANGES = ordered.map((one) => ({ ...one, from: `${one.key}_from`, to: `${one.key}_to` }));
  ENDS = RANGES.flatMap(({ from, to }) => [from, to]);
  EQUALS = OWN.filter(({ input }) => input !== "long" && !KINDS[input].isValid);
  TYPED = [...ENDS, ...EQUALS.map(({ key }) => key)];
  EVERYTHING = {
    q: "",
    ...Object.fromEntries(CHOICES.map(({ key }) => [key, []])),
    ...Object.fromEntries(TYPED.map((name) => [name, ""])),
    sort: "name",
  };
});

/** The view in the query of an address. Values that the page could not show are ignored. */
export function viewIn(search) {
  const parameters = new URLSearchParams(search);
  const text = (name) => parameters.get(name) ?? "";
  const view = { ...EVERYTHING, q: text("q") };
  for (const { key, choices } of CHOICES) {
    view[key] = choices.filter((choice) => parameters.getAll(key).includes(choice));
  }
  for (const range of RANGES) {
    for (const end of [range.from, range.to]) if (isEnd(range, text(end))) view[end] = text(end);
  }
  for (const one of EQUALS) {
    const value = parameters.has(one.key) && text(one.key) === "" ? NONE : text(one.key);
    const choices = choicesOf(one);
    if (!choices || choices.includes(value)) view[one.key] = value === NONE && !choices ? "" : value;
  }
  if (SORT_KEYS.includes(text("sort").replace(/^-/, ""))) view.sort = text("sort");
  return view;
}

/** The values to choose from in the filter of an own member; undefined for texts. */
export function choicesOf({ input, choices }) {
  const values = { choice: choices, boolean: ["true", "false"] }[input];
  // Robots that were stored before a field was required have none, too.
  return values && [...values, NONE];
}

function isEnd({ input, minimum }, text) {
  return text !== "" && KINDS[input].isValid(text, minimum);
}

/** An address with a view instead of its own. */
export function addressWith(view, old) {
  const address = new URL(old);
  for (const name of Object.keys(EVERYTHING)) address.searchParams.delete(name);
  for (const [name, value] of filterOf(view)) address.searchParams.append(name, value);
  if (view.sort !== EVERYTHING.sort) address.searchParams.set("sort", view.sort);
  return address.href;
}

/** The service's parameters for the filter, with the words that are searched. */
export function filterOf(view) {
  const chosen = CHOICES.flatMap(({ key }) => view[key].map((choice) => [key, choice]));
  const typed = TYPED.filter((name) => view[name] !== "");
  const values = typed.map((name) => [name, view[name] === NONE ? "" : view[name]]);
  return [...(view.q.trim() === "" ? [] : [["q", view.q]]), ...chosen, ...values];
}

/** Whether a view leaves out robots. */
export function isFiltered(view) {
  return filterOf(view).length > 0;
}

/** Whether two views show the same robots in the same order. */
export function isSameView(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether two views show the same robots. */
export function isSameFilter(one, other) {
  return isSameView({ ...one, sort: "" }, { ...other, sort: "" });
}

/** The range of a view that the service would reject, and the reason; undefined if there is none. */
export function problemIn(view) {
  for (const range of RANGES) {
    const { input, title, isOwn, minimum, from, to } = range;
    const ends = [view[from], view[to]].filter((end) => end !== "");
    const name = title.toLowerCase();
    const isPlain = !isOwn && minimum >= 0;
    const rule = isPlain ? `A ${name} has only digits.` : `${title} must be ${KINDS[input].rule}.`;
    if (!ends.every((end) => isEnd(range, end))) return { range, text: rule };
    const isReversed = ends.length === 2 && KINDS[input].compare(...ends) > 0;
    if (isReversed) return { range, text: `The first ${name} must not be after the last one.` };
  }
  return undefined;
}

/** Whether a view shows a robot. */
export function includes(view, robot) {
  return (
    isFound(view.q, robot) &&
    CHOICES.every(({ key }) => view[key].length === 0 || view[key].includes(robot[key])) &&
    EQUALS.every(({ key }) => ["", robot[key] || NONE].includes(view[key])) &&
    RANGES.every(({ key, input, from, to }) => {
      const isBefore = (one, other) => KINDS[input].compare(one, other) <= 0;
      const [first, last, value] = [view[from], view[to], robot[key]];
      if (value === "") return first === "" && last === "";
      return (first === "" || isBefore(first, value)) && (last === "" || isBefore(value, last));
    })
  );
}

/** Whether a search finds a robot: each word is in one of its searched members. */
function isFound(text, robot) {
  const words = text.split(/\s+/).filter((word) => word !== "");
  return words.every((word) => SEARCHED.some(({ key }) => contains(robot[key], word)));
}

/** Whether a value contains a text, without case and diacritics, as the service compares them. */
export function contains(value, text) {
  // With these flags, characters are equal if their simple case foldings are.
  const pattern = withoutDiacritics(text).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(pattern, "iu").test(withoutDiacritics(value));
}

function withoutDiacritics(text) {
  return Array.from(text, baseOf).join("");
}

function baseOf(character) {
  if (isDiacritic(character)) return "";
  const [base, ...others] = character.normalize("NFD");
  return others.every(isDiacritic) ? base : character;
}

function isDiacritic(character) {
  return /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]/.test(character);
}

/** The function that compares robots in an order of the service: those without a value are last. */
export function comparator(sort) {
  const key = sort.replace(/^-/, "");
  const sign = sort.startsWith("-") ? -1 : 1;
  const compare = key === "id" ? compareIntegers : KINDS[member(key).input].compare;
  return (one, other) => {
    const [left, right] = [one[key], other[key]];
    if ((left === "") !== (right === "")) return left === "" ? 1 : -1;
    return sign * ((left !== "" && compare(left, right)) || compareIntegers(one.id, other.id));
  };
}
