// Views: which robots the list shows, and in which order. A view is a value, without side effects.
//
// Members: `query` is a part of the name; `sort` is the order, as the service names it. The others
// have the names of the service's parameters: a choice such as `type` is a list of values, any if
// there is none; the ends of a range, such as `year_from` and `year_to`, are as typed, or empty.

import { SORT_KEYS } from "./definition.js";
import { CHOICES, MEMBERS } from "./robot.js";

/** The members with ranges: the key, the title, and the names of both ends. */
export const RANGES = MEMBERS.filter(({ input }) => input === "digits").map(({ key, title }) => ({
  key,
  title,
  from: `${key}_from`,
  to: `${key}_to`,
}));

/** The names of the ends of ranges. */
export const ENDS = RANGES.flatMap(({ from, to }) => [from, to]);

/** The view of all robots by name. */
export const EVERYTHING = {
  query: "",
  ...Object.fromEntries(CHOICES.map(({ key }) => [key, []])),
  ...Object.fromEntries(ENDS.map((end) => [end, ""])),
  sort: "name",
};

/** The parameters of the page's address. */
const IN_ADDRESS = ["q", "sort", ...CHOICES.map(({ key }) => key), ...ENDS];

/** The view in the query of an address. Values that the page could not show are ignored. */
export function viewIn(search) {
  const parameters = new URLSearchParams(search);
  const text = (name) => parameters.get(name) ?? "";
  const view = { ...EVERYTHING, query: text("q") };
  for (const { key, choices } of CHOICES) {
    view[key] = choices.filter((choice) => parameters.getAll(key).includes(choice));
  }
  for (const end of ENDS) if (/^\d+$/.test(text(end))) view[end] = text(end);
  if (SORT_KEYS.includes(text("sort").replace(/^-/, ""))) view.sort = text("sort");
  return view;
}

/** An address with a view instead of its own. */
export function addressWith(view, old) {
  const address = new URL(old);
  for (const name of IN_ADDRESS) address.searchParams.delete(name);
  if (view.query !== "") address.searchParams.set("q", view.query);
  for (const [name, value] of filterOf(view)) address.searchParams.append(name, value);
  if (view.sort !== EVERYTHING.sort) address.searchParams.set("sort", view.sort);
  return address.href;
}

/** The service's parameters for the filter, except for the text in names. */
function filterOf(view) {
  const chosen = CHOICES.flatMap(({ key }) => view[key].map((choice) => [key, choice]));
  return [...chosen, ...ENDS.filter((end) => view[end] !== "").map((end) => [end, view[end]])];
}

/** The service's parameters for the filter. Case and diacritics are ignored. */
export function filterWithText(view) {
  const filter = filterOf(view);
  const text = [["containing", view.query], ["fold", "true"]];
  return view.query === "" ? filter : [...filter, ...text];
}

/** Whether a view leaves out robots. */
export function isFiltered(view) {
  return filterWithText(view).length > 0;
}

/** Whether two views show the same robots in the same order. */
export function isSameView(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether two views show the same robots. */
export function isSameFilter(one, other) {
  return isSameView({ ...one, sort: "" }, { ...other, sort: "" });
}

/** The reason why the service would reject the ranges of a view; empty if there is none. */
export function problemWith(view) {
  for (const { key, from, to } of RANGES) {
    const [first, last] = [view[from], view[to]];
    if (!/^\d*$/.test(first) || !/^\d*$/.test(last)) return `A ${key} has only digits.`;
    const isReversed = first !== "" && last !== "" && BigInt(first) > BigInt(last);
    if (isReversed) return `The first ${key} must not be after the last one.`;
  }
  return "";
}

/** Whether a view shows a robot. */
export function includes(view, robot) {
  return (
    contains(robot.name, view.query) &&
    CHOICES.every(({ key }) => view[key].length === 0 || view[key].includes(robot[key])) &&
    RANGES.every(
      ({ key, from, to }) =>
        (view[from] === "" || BigInt(robot[key]) >= BigInt(view[from])) &&
        (view[to] === "" || BigInt(robot[key]) <= BigInt(view[to])),
    )
  );
}

/** Whether a name contains a text, without case and diacritics, as the service compares them. */
export function contains(name, text) {
  // With these flags, characters are equal if their simple case foldings are.
  const pattern = withoutDiacritics(text).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(pattern, "iu").test(withoutDiacritics(name));
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

/** The function that compares robots in an order of the service. */
export function comparator(sort) {
  const key = sort.replace(/^-/, "");
  const compare =
    key === "name"
      ? (one, other) => compareTexts(one.name, other.name)
      : (one, other) => compareNumbers(one[key], other[key]) || compareNumbers(one.id, other.id);
  return sort.startsWith("-") ? (one, other) => compare(other, one) : compare;
}

function compareNumbers(one, other) {
  const difference = BigInt(one) - BigInt(other);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Compares texts by code points, as the service orders names. */
function compareTexts(one, other) {
  const [ones, others] = [[...one], [...other]];
  const at = ones.findIndex((character, index) => character !== others[index]);
  if (at === -1) return ones.length - others.length;
  return at < others.length ? ones[at].codePointAt(0) - others[at].codePointAt(0) : 1;
}
