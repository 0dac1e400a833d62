// The form of a field: its keywords, and what is typed into their inputs. What was typed stays if another user changes the
// field meanwhile.

import { countsBy } from "./api.js";
import { element, show } from "./elements.js";
import { KINDS } from "./kinds.js";
import { definition, member } from "./robot.js";
import { EVERYTHING } from "./view.js";

const isNumeric = ({ input }) => ["digits", "number"].includes(input);
const isText = ({ input }) => ["text", "long"].includes(input);

/** The keywords of a field that have an input: its label, and whether it fits a kind of field. Those that are true or
    false have a word in the list of fields. */
export const KEYWORDS = [
  { keyword: "enum", label: "Choices, one per line", fits: ({ input }) => input === "choice" },
  { keyword: "minimum", label: "Least value", fits: isNumeric },
  { keyword: "maximum", label: "Greatest value", fits: isNumeric },
  { keyword: "maxLength", label: "Most characters", fits: isText },
  { keyword: "pattern", label: "Pattern, a regular expression", fits: (kind) => isText(kind) && !kind.isName },
  { keyword: "required", label: "Required", word: "required", fits: ({ isName }) => !isName },
  {
    keyword: "unique",
    label: "No two have the same value",
    word: "unique",
    fits: ({ input, isOwn, isName }) => isName || (isOwn && input !== "long" && input !== "boolean"),
  },
  {
    keyword: "index",
    label: "Find and sort quickly",
    word: "indexed",
    fits: ({ input, isOwn }) => isOwn && input !== "long",
  },
  {
    keyword: "search",
    label: "Part of the search",
    word: "searched",
    fits: ({ input, isOwn }) => isOwn && KINDS[input].keywords.type === "string",
  },
];

/** The maximum number of choices of a field. */
const MAX_CHOICES = 200;

/** The maximum length of the name of a field with an index. */
const MAX_NAME_LENGTH = 40;

let count = 0;

/** The value of a keyword of a field; undefined if there is none. */
export function valueOf(field, keyword) {
  return keyword === "required" ? field?.isRequired : definition.document.properties[field?.key]?.[keyword];
}

/** The inputs of a field that is edited, or of a new one, and what is typed into them. */
export function formOf(original) {
  let field = original;
  const isOwn = field?.isOwn !== false;
  const title = textBox({});
  title.value = field?.title ?? "";
  const key = textBox({ spellcheck: "false", autocapitalize: "none" });
  const options = Object.entries(KINDS).map(([value, kind]) => element("option", { value }, kind.title));
  const type = element("select", {}, ...options);
  type.value = field?.input ?? "text";
  const isSameType = () => !isOwn || type.value === field?.input;
  const keywordsIn = ({ properties }) => (isSameType() ? properties[field.key] : KINDS[type.value].keywords);
  const inputs = KEYWORDS.map((each) => inputOf(each, field));

  /** Shows what fits the kind of the field. */
  const fit = () => {
    const kind = { input: isOwn ? type.value : field.input, isOwn, isName: field?.key === "name" };
    for (const input of inputs) input.fit(kind, keywordsIn(definition.document));
  };
  let isOwnKey = false;
  title.addEventListener("input", () => field || isOwnKey || (key.value = keyOf(title.value)));
  key.addEventListener("input", () => (isOwnKey = key.value !== ""));
  type.addEventListener("change", async () => {
    fit();
    if (!field || type.value !== "choice") return;
    const { groups } = await countsBy(field.key, EVERYTHING, MAX_CHOICES).catch(() => ({ groups: [] }));
    for (const input of inputs) input.propose?.(groups.flatMap(({ value }) => value || []));
  });
  fit();
  const [checks, others] = [true, false].map((is) => inputs.flatMap((each) => (each.isCheck === is ? each.shown : [])));
  return {
    elements: [
      labelled("Label", title),
      ...(field ? [] : [labelled("Name in files and in the API", key)]),
      ...(isOwn ? [labelled("Type", type)] : []),
      ...others,
      element("div", { class: "checks" }, ...checks),
    ],
    get title() {
      return title.value.trim() || key.value;
    },
    get key() {
      return key.value.trim();
    },
    /** The kind to which values are converted; undefined if it stays. */
    get converts() {
      return isSameType() ? undefined : type.value;
    },
    /** Shows the field of another definition. What was typed stays. */
    renew() {
      const now = member(field.key);
      if (!now) return;
      if (title.value === field.title) title.value = now.title;
      const isTyped = type.value !== field.input;
      field = now;
      if (!isTyped) type.value = now.input;
      for (const input of inputs) input.renew(now);
      fit();
    },
    /** What is typed now, as a change of a document: keywords whose input is unchanged, or that have none here, stay. */
    edit(name) {
      const isSame = isSameType();
      const typedTitle = (!isSame || title.value !== field.title) && title.value.trim();
      const edits = inputs.filter(({ isChanged }) => !isSame || isChanged).map(({ keyword, edit }) => [keyword, edit()]);
      return (document) => {
        const { description } = document.properties[name] ?? {};
        const property = { ...keywordsIn(document), ...(description && { description }) };
        if (typedTitle !== false) property.title = typedTitle;
        if (property.title === "") delete property.title;
        document.properties[name] = property;
        for (const [keyword, valueNow] of edits) {
          const value = valueNow(property[keyword]);
          if (keyword === "required") {
            const required = document.required.filter((other) => other !== name);
            document.required = value ? [...required, name] : required;
          } else if (value !== undefined) property[keyword] = value;
          else if (keyword === "unique" && name === "name") property.unique = false;
          else delete property[keyword];
        }
      };
    },
  };
}

/** The input of a keyword. */
function inputOf({ keyword, label, fits, word }, field) {
  const isCheck = word !== undefined;
  const isLines = keyword === "enum";
  const box = isLines ? element("textarea", { rows: 4, spellcheck: "false" }) : textBox({ spellcheck: "false" });
  if (isCheck) box.type = "checkbox";
  const shown = isCheck ? element("label", { class: "choice" }, box, label) : labelled(label, box);
  /** The property of the box that has what is typed. */
  const typed = isCheck ? "checked" : "value";
  const stored = (now) => {
    if (isCheck) return valueOf(now, keyword) === true;
    return isLines ? (now?.choices.join("\n") ?? "") : (valueOf(now, keyword) ?? "");
  };
  let before = stored(field);
  box[typed] = before;
  return {
    keyword,
    isCheck,
    shown,
    /** Shows the input if it fits a kind of field, with the limit that it has. */
    fit(kind, keywords) {
      show(shown, fits(kind));
      if (isCheck || isLines || box[typed] !== before) return;
      before = keywords?.[keyword] ?? "";
      box[typed] = before;
    },
    /** Shows the keyword of another definition. What was typed stays. */
    renew(now) {
      const next = stored(now);
      if (box[typed] === before) box[typed] = next;
      else if (isLines) box.value = mergedLines(lines(before), lines(box.value), lines(next)).join("\n");
      before = next;
    },
    get isChanged() {
      return box[typed] !== before;
    },
    /** Shows values that may become choices, unless something was typed. */
    propose: isLines ? (values) => (box.value ||= values.toSorted().join("\n")) : undefined,
    /** What is typed now, as a function from the present value of the keyword to the new one; undefined if there is none. */
    edit() {
      if (shown.hidden) return () => undefined;
      const [from, mine] = [before, box[typed]];
      if (isLines) return (now = []) => mergedLines(lines(from), lines(mine), now);
      return () => (isCheck ? mine : mine.trim()) || undefined;
    },
  };
}

/** The lines of `next`, without those that were removed from `before` in `mine`, and with those that were added. In the
    order of `mine` if nobody else has changed them. */
function mergedLines(before, mine, next) {
  if (JSON.stringify(before) === JSON.stringify(next)) return mine;
  const kept = next.filter((line) => mine.includes(line) || !before.includes(line));
  return [...kept, ...mine.filter((line) => !before.includes(line) && !next.includes(line))];
}

function lines(text) {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
}

/** The name that a label suggests. */
export function keyOf(title) {
  const plain = title.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const name = plain.replace(/[^a-z0-9]+/g, "_").replace(/^[^a-z]+/, "");
  return name.slice(0, MAX_NAME_LENGTH).replace(/_+$/, "");
}

function textBox(attributes) {
  return element("input", { type: "text", autocomplete: "off", ...attributes });
}

function labelled(text, box) {
  box.id ||= `field-input-${++count}`;
  return element("div", { class: "field" }, element("label", { for: box.id, class: "shown" }, text), box);
}
