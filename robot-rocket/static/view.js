// Views: which robots the list shows, in which order, and with which columns. A view is a value, without side effects.
//
// Members: `q` has the words that are searched; `sort` is the order, as the service names it; `columns` has the keys of
// the columns with their widths, such as `name:300,maker`, empty for the usual ones; `by` is the field of the chart. The
// others have the names of the service's parameters: a choice such as `type` is a list of values, any if there is none;
// the ends of a range, such as `year_from`, and conditions of texts, such as `maker_contains`, are as typed, or empty.

import { KINDS, compareIntegers } from "./kinds.js";
import { MEMBERS, SEARCHED, SORT_KEYS, member, onDefined } from "./robot.js";

/** In a view, the value of robots that have none. */
export const NONE = "\0";

/** In a view, the chart that is folded. */
export const NO_CHART = "-";

/** The members with ranges, with the names of both ends. */
export let RANGES;

/** The names of the ends of ranges. */
let ENDS;

/** The members of which values are chosen, and the values: robots that were stored before a field was required have none. */
export let CHOSEN;

/** The members whose texts are compared. */
export let TEXTS;

/** The conditions of a text: the ends of their parameters, and their words. */
export const CONDITIONS = [["_contains", "contains"], ["", "is"], ["_not", "is not"]];

/** The maximum length of a text that values contain, for the service. */
export const MAX_PART = 100;

/** The names of the members of a view that are texts. */
export let TYPED;

/** The view of all robots by name. */
export let EVERYTHING;

onDefined(() => {
  const ordered = MEMBERS.filter(({ input }) => KINDS[input].isValid);
  RANGES = ordered.map((one) => ({ ...one, from: `${one.key}_from`, to: `${one.key}_to` }));
  ENDS = RANGES.flatMap(({ from, to }) => [from, to]);
  const known = { choice: ({ choices }) => choices, boolean: () => ["true", "false"] };
  CHOSEN = MEMBERS.filter(({ input }) => known[input]);
  CHOSEN = CHOSEN.map((one) => ({ ...one, values: [...known[one.input](one), ...(one.isOwn ? [NONE] : [])] }));
  TEXTS = MEMBERS.filter(({ input }) => ["text", "uri"].includes(input));
  const keys = RANGES.map(({ key }) => key);
  TYPED = [...ENDS, ...keys, ...TEXTS.flatMap(({ key }) => CONDITIONS.map(([end]) => key + end))];
  EVERYTHING = {
    q: "",
    ...Object.fromEntries(CHOSEN.map(({ key }) => [key, []])),
    ...Object.fromEntries(TYPED.map((name) => [name, ""])),
    sort: "name",
    columns: "",
    by: "",
  };
});

/** The view in the query of an address. Values that the page could not show are ignored. */
export function viewIn(search) {
  const parameters = new URLSearchParams(search);
  const text = (name) => parameters.get(name) ?? "";
  const valuesOf = (name) => parameters.getAll(name).map((value) => value || NONE);
  const view = { ...EVERYTHING, q: text("q") };
  for (const { key, values } of CHOSEN) view[key] = values.filter((value) => valuesOf(key).includes(value));
  for (const name of TYPED) view[name] = text(name);
  for (const range of RANGES) {
    for (const end of [range.from, range.to]) if (!isEnd(range, text(end))) view[end] = "";
  }
  const isEmpty = ({ key }) => parameters.has(key) && text(key) === "";
  for (const { key } of RANGES) view[key] = "";
  for (const one of [...TEXTS, ...RANGES]) if (one.key !== "name" && isEmpty(one)) view[one.key] = NONE;
  if (SORT_KEYS.includes(text("sort").replace(/^-/, ""))) view.sort = text("sort");
  const isColumn = (column) => /^(\w+)(:\d+)?$/.test(column) && isKey(column.replace(/:.*/, ""));
  view.columns = text("columns").split(",").filter(isColumn).join(",");
  if (text("by") === NO_CHART || member(text("by"))) view.by = text("by");
  return view;
}

const isKey = (key) => key === "id" || member(key) !== undefined;

function isEnd({ input, minimum }, text) {
  return text !== "" && KINDS[input].isValid(text, minimum);
}

/** An address with a view instead of its own. */
export function addressWith(view, old) {
  const address = new URL(old);
  for (const name of Object.keys(EVERYTHING)) address.searchParams.delete(name);
  for (const [name, value] of filterOf(view)) address.searchParams.append(name, value);
  for (const name of ["sort", "columns", "by"]) {
    if (view[name] !== EVERYTHING[name]) address.searchParams.set(name, view[name]);
  }
  // Readable, where that is the same.
  address.search = address.search.replaceAll("%2C", ",").replaceAll("%3A", ":");
  return address.href;
}

/** The service's parameters for the filter, with the words that are searched. */
export function filterOf(given) {
  // A view of an earlier definition has no members of new fields.
  const view = { ...EVERYTHING, ...given };
  const stored = (value) => (value === NONE ? "" : value);
  const chosen = CHOSEN.flatMap(({ key }) => view[key].map((value) => [key, stored(value)]));
  const typed = TYPED.filter((name) => view[name] !== "").map((name) => [name, stored(view[name])]);
  return [...(view.q.trim() === "" ? [] : [["q", view.q]]), ...chosen, ...typed];
}

/** The view of all robots, in the order and with the columns of another one. */
export function withoutFilter({ sort, columns, by }) {
  return { ...EVERYTHING, sort, columns, by };
}

/** Whether a view leaves out robots. */
export function isFiltered(view) {
  return filterOf(view).length > 0;
}

/** Whether two views show the same robots in the same order, with the same columns and chart. */
export function isSameView(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether two views show the same robots in the same order. */
export function isSameList(one, other) {
  return one.sort === other.sort && isSameFilter(one, other);
}

/** Whether two views show the same robots. */
export function isSameFilter(one, other) {
  return isSameView(filterOf(one), filterOf(other));
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
export function includes(given, robot) {
  const view = { ...EVERYTHING, ...given };
  return (
    isFound(view.q, robot) &&
    CHOSEN.every(({ key }) => view[key].length === 0 || view[key].includes(robot[key] || NONE)) &&
    TEXTS.every(({ key }) => meets(view, key, robot[key])) &&
    RANGES.every(({ key, input, from, to }) => {
      const isBefore = (one, other) => KINDS[input].compare(one, other) <= 0;
      const [first, last, value] = [view[from], view[to], robot[key]];
      if (view[key] === NONE) return value === "";
      if (value === "") return first === "" && last === "";
      return (first === "" || isBefore(first, value)) && (last === "" || isBefore(value, last));
    })
  );
}

/** Whether a text meets the conditions of a view. */
function meets(view, key, value) {
  const [part, equal, other] = CONDITIONS.map(([end]) => view[key + end]);
  const isEqual = ["", value || NONE].includes(equal);
  return isEqual && (other === "" || other !== value) && (part === "" || contains(value, part));
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
