// Kinds of fields: the table of what the page does with their values, which are text, empty if there is none.

/** For each kind: its `title`, and the `keywords` of a new field; `literal` is a typed value in JSON, as
    typed if the service has to report an error; `stored` the value that the service stores for it;
    `compare` the order of two values. A kind with ranges has `isValid`, whether a text is the end of one,
    and `rule`, what it must be. A kind with an input of the browser has its type, `box`. */
export const KINDS = {
  text: texts("Text"),
  long: texts("Long text", { maxLength: "10000" }),
  choice: texts("Choice"),
  digits: {
    title: "Whole number",
    keywords: { type: "integer" },
    literal: (typed) => number(/^-?\d+$/, digits(typed)),
    stored: digits,
    compare: compareIntegers,
    isValid: (text, minimum) => (minimum >= 0 ? /^\d+$/ : /^-?\d+$/).test(text),
    rule: "a whole number",
  },
  number: {
    title: "Number",
    keywords: { type: "number" },
    literal: (typed) => number(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/i, decimal(typed)),
    stored: decimal,
    compare: (one, other) => one - other,
    isValid: (text) => Number.isFinite(Number(text)),
    rule: "a number",
  },
  boolean: {
    title: "Yes or no",
    keywords: { type: "boolean" },
    literal: (typed) => typed || "null",
    stored: (typed) => typed,
    compare: compareTexts,
    inWords: (value) => ({ true: "yes", false: "no" })[value] ?? value,
  },
  date: {
    ...texts("Date", { format: "date" }),
    isValid: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
    rule: "a date, such as 2020-05-31",
    box: "date",
  },
  uri: { ...texts("Web address", { format: "uri" }), box: "url" },
};

/** The kind of a property of the definition. */
export function kindOf({ type, format, maxLength, enum: choices }) {
  if (choices) return "choice";
  if (format) return format;
  if (type !== "string") return type === "integer" ? "digits" : type;
  return Number(maxLength) > 500 ? "long" : "text";
}

/** A value for people, as text. */
export function inWords(input, value) {
  return KINDS[input].inWords?.(value) ?? value;
}

function texts(title, keywords) {
  const values = { literal: JSON.stringify, stored: (typed) => typed, compare: compareTexts };
  return { title, keywords: { type: "string", ...keywords }, ...values };
}

function number(pattern, text) {
  return pattern.test(text) ? text : JSON.stringify(text === "" ? null : text);
}

/** Without leading zeros, which JSON does not allow. */
function digits(typed) {
  const text = typed.trim().replace(/^(-?)0+(?=\d)/, "$1");
  return text === "-0" ? "0" : text;
}

function decimal(typed) {
  const text = typed.trim();
  const isNumber = text !== "" && Number.isFinite(Number(text));
  return isNumber ? String(Number(text) + 0) : text;
}

/** Compares integers of any number of digits. */
export function compareIntegers(one, other) {
  const difference = BigInt(one) - BigInt(other);
  return difference < 0n ? -1 : Number(difference > 0n);
}

/** Compares texts by code points, as the service orders names. */
function compareTexts(one, other) {
  const [ones, others] = [one, other].map((text) => Array.from(text, (character) => character.codePointAt(0)));
  const at = ones.findIndex((point, index) => point !== others[index]);
  return at === -1 ? ones.length - others.length : ones[at] - (others[at] ?? -1);
}
