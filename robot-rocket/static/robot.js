// The members of a robot, as the definition of the catalogue has them. All values are text.

import { DOCUMENT, REVISION } from "./definition.js";
import { KINDS, kindOf } from "./kinds.js";

/** The members that every catalogue has. */
const BUILT_IN = ["name", "type", "year"];

/** The document of the definition, as `v1/definition` has it, and its revision; none if it needs a
    token. */
export let definition;

/** The members that users enter, in the order of the form and of the table. */
export let MEMBERS;

/** The members that the owner of the catalogue has added. */
export let OWN;

/** The types of robots, by which the service counts them. */
export let TYPES;

/** The members in which words are searched. */
export let SEARCHED;

/** The members by which the service sorts, and the id. */
export let SORT_KEYS;

/** The title of the catalogue, for people. */
export let TITLE;

/** What its owner calls a robot, and robots. */
export let [ONE, MANY] = ["", ""];

const listeners = [];

/** Uses a definition of the catalogue from now on. */
export function define(document, revision) {
  const isSame = JSON.stringify(document) === JSON.stringify(definition?.document);
  definition = { document, revision };
  if (isSame) return;
  const required = document.required ?? BUILT_IN;
  // A built-in field that is left out has the schema `false`.
  const properties = Object.entries(document.properties).filter(([, property]) => property);
  MEMBERS = properties.map(([key, property]) => ({
    key,
    title: property.title,
    input: kindOf(property),
    choices: property.enum ?? [],
    isOwn: !BUILT_IN.includes(key),
    isRequired: required.includes(key),
    isUnique: property.unique === true,
    isSearched: property.search === true,
    // The service does not sort by such texts.
    isLong: property.maxLength > 500,
    minimum: property.minimum,
    maximum: property.maximum,
    hint: property.description,
  }));
  OWN = MEMBERS.filter(({ isOwn }) => isOwn);
  TYPES = member("type")?.choices ?? [];
  SEARCHED = MEMBERS.filter(({ key, isSearched }) => key === "name" || isSearched);
  const sortable = MEMBERS.filter(({ isOwn, input, isLong }) => (isOwn || input !== "choice") && !isLong);
  SORT_KEYS = ["id", ...sortable.map(({ key }) => key)];
  TITLE = document.title ?? "Robot Catalogue";
  const usual = document.title ? { one: "record", many: "records" } : { one: "robot", many: "robots" };
  ({ one: ONE, many: MANY } = document.noun ?? usual);
  for (const listener of listeners) listener();
}

/** Calls a listener now, and after each change of the definition. Those that registered before have
    been called then. */
export function onDefined(listener) {
  listeners.push(listener);
  listener();
}

/** The member with this key. */
export function member(key) {
  return MEMBERS.find((one) => one.key === key);
}

/** The limits of an integer that has no other ones. */
const [MIN_INTEGER, MAX_INTEGER] = ["-9223372036854775808", "9223372036854775807"];

/** A message of the service about a member, with its label instead of its name in the API, and the owner's noun. */
export function inLabels(message, key = NAMED.exec(message)?.slice(1).find(Boolean)) {
  const title = member(key)?.title;
  const inNouns = message.replace(`The ${ONE} `, "The ").replace(/(\(|\d )(robots?)\b/g, (_, before, noun) => before + (noun === "robot" ? ONE : MANY));
  const text = inNouns.replace(/an integer(?: from (-?\d+) to (\d+))?/, (_, from, to) => {
    if (!from || from === MIN_INTEGER) return `a whole number${!to || to === MAX_INTEGER ? "" : `, ${to} or less`}`;
    return `a whole number${to === MAX_INTEGER ? `, ${from} or more` : ` from ${from} to ${to}`}`;
  });
  if (!title) return text;
  const named = new RegExp(`^(The )?(robot )?${key} `);
  return text.replace(named, `${title} `).replace(/^Value of field '.*?' must be part of list:/, `${title} must be one of:`);
}

/** A message that names a member. */
const NAMED = /^(?:The )?(?:robot )?([a-z]\w*) |^Value of field '(\w+)'/;

/** The number of colors in the style sheet. */
const COLORS = 8;

/** The class of a choice, which has a color by its position; empty if there are no more colors, or another version of
    the service has stored the value. */
export function colorOf(choices, value) {
  const position = choices.indexOf(value);
  return position === -1 || position >= COLORS ? "" : `choice-${position + 1}`;
}

/** A robot with its article. */
export const aOne = () => `${/^[aeiou]/i.test(ONE) ? "an" : "a"} ${ONE}`;

/** A number of robots, for people. */
export function inNumber(count) {
  if (count === 0) return `no ${MANY}`;
  return `${count.toLocaleString("en")} ${count === 1 ? ONE : MANY}`;
}

/** A draft with an entry per member. */
export function draftOf(valueOf) {
  return Object.fromEntries(MEMBERS.map((one) => [one.key, valueOf(one)]));
}

/** A draft with the values that the service stores for it. */
export function stored(draft) {
  return draftOf(({ key, input }) => KINDS[input].stored(draft[key] ?? ""));
}

/** A robot as the service sends it, with all values as text. */
export function robotOf({ id, revision, ...values }) {
  return { id, ...stored(draftOf(({ key }) => String(values[key] ?? ""))), revision };
}

/** Parses JSON with each number as text, because numbers have up to 19 digits, more than a JavaScript number can hold. */
export function read(text) {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(token, (found) => (found[0] === '"' ? found : `"${found}"`)));
}

/** Writes a definition that was read, with its numbers as numbers. */
export function written(document) {
  const limits = /"(minimum|maximum|maxLength)":"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)"/g;
  return JSON.stringify(document).replace(limits, '"$1":$2');
}

/** Whether robots have members that the page does not know, because the definition has changed. */
export function hasUnknown(robots) {
  const known = ["id", "revision", ...MEMBERS.map(({ key }) => key)];
  return robots.some((robot) => Object.keys(robot).some((key) => !known.includes(key)));
}

/** Whether two drafts have the same values. */
export function isSame(left, right) {
  return differing(left, right).length === 0;
}

/** The members of which two versions of a robot have different values. */
export function differing(one, other) {
  return MEMBERS.filter(({ key }) => (one[key] ?? "") !== (other[key] ?? ""));
}

/** The request body for a draft. Members that it does not have are left out. */
export function bodyOf(draft) {
  const members = MEMBERS.filter(({ key }) => key in draft).map(({ key, input }) => {
    return `${JSON.stringify(key)}:${KINDS[input].literal(draft[key])}`;
  });
  return `{${members.join(",")}}`;
}

define(read(DOCUMENT), REVISION);
