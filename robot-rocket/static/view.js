// Views: which robots the list shows, and in which order. A view is a value, without side effects.
//
// Members: `query` is a part of the name; `types` are names of types, any if there is none; `from`
// and `to` are years as typed, or empty; `sort` is the order, as the service names it.

import { TYPES } from "./robot.js";

/** The view of all robots by name. */
export const EVERYTHING = { query: "", types: [], from: "", to: "", sort: "name" };

/** The members by which the service sorts. */
export const SORT_KEYS = ["id", "name", "year"];

/** The parameters of the page's address. */
const IN_ADDRESS = ["q", "type", "year_from", "year_to", "sort"];

/** The view in the query of an address. Values that the page could not show are ignored. */
export function viewIn(search) {
  const parameters = new URLSearchParams(search);
  const text = (name) => parameters.get(name) ?? "";
  const digits = (name) => (/^\d+$/.test(text(name)) ? text(name) : "");
  const isKnown = SORT_KEYS.includes(text("sort").replace(/^-/, ""));
  return {
    query: text("q"),
    types: TYPES.filter((type) => parameters.getAll("type").includes(type)),
    from: digits("year_from"),
    to: digits("year_to"),
    sort: isKnown ? text("sort") : EVERYTHING.sort,
  };
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
function filterOf({ types, from, to }) {
  const parameters = types.map((type) => ["type", type]);
  if (from !== "") parameters.push(["year_from", from]);
  if (to !== "") parameters.push(["year_to", to]);
  return parameters;
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

/** The reason why the service would reject the years of a view; empty if there is none. */
export function problemWith({ from, to }) {
  if (!/^\d*$/.test(from) || !/^\d*$/.test(to)) return "A year has only digits.";
  const isReversed = from !== "" && to !== "" && BigInt(from) > BigInt(to);
  return isReversed ? "The first year must not be after the last one." : "";
}

/** Whether a view shows a robot. */
export function includes({ query, types, from, to }, { name, type, year }) {
  return (
    contains(name, query) &&
    (types.length === 0 || types.includes(type)) &&
    (from === "" || BigInt(year) >= BigInt(from)) &&
    (to === "" || BigInt(year) <= BigInt(to))
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
  const compare = COMPARISONS[sort.replace(/^-/, "")];
  return sort.startsWith("-") ? (one, other) => compare(other, one) : compare;
}

const COMPARISONS = {
  id: (one, other) => compareNumbers(one.id, other.id),
  name: (one, other) => compareTexts(one.name, other.name),
  year: (one, other) => compareNumbers(one.year, other.year) || compareNumbers(one.id, other.id),
};

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
