// The panel in which the owner of the catalogue edits its fields.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { redefine, refreshDefinition } from "./api.js";
import { button, buttons, byId, element, formEnd, onEscape, onSubmit, show } from "./elements.js";
import { KINDS } from "./kinds.js";
import { startPanel } from "./panels.js";
import { MEMBERS, OWN, definition, member, onDefined } from "./robot.js";

const isNumeric = ({ input }) => ["digits", "number"].includes(input);
const isText = ({ input }) => ["text", "long"].includes(input);

/** The keywords of a field that have an input: its label, and whether it fits a kind of field. Those that are true or
    false have a word in the list of fields. */
const KEYWORDS = [
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

/** What the catalogue and its robots are called: names of inputs, and their labels. */
const TITLES = { title: "Title of the catalogue", one: "One of them is a", many: "Several are" };

/** The maximum length of the name of a field with an index. */
const MAX_NAME_LENGTH = 40;

const OVERTAKEN =
  "Another user has changed the fields meanwhile. They are shown now; make your change again.";

/** The key of the field that is being edited, and its form. */
let edited;

/** The form of a new field. */
let added;

let count = 0;

/** Starts the panel. */
export function startDefining() {
  startPanel("fields", () => {
    refresh("");
    return byId("fields-heading");
  });
  fillTitle();
  fillAdding();
  onSubmit(byId("field"), addField);
  onDefined(() => {
    fillList();
    const { title, noun } = definition.document;
    for (const [name, value] of Object.entries({ title, one: noun?.one, many: noun?.many })) {
      byId("catalogue-title").elements[name].value = value ?? "";
    }
  });
}

/** Shows the fields as another user may have defined them, and a text. */
const refresh = action({
  async perform(words) {
    report("");
    await refreshDefinition();
    report(words);
  },
  failed: showError,
  key: (words) => words,
});

function report(text, ...more) {
  byId("fields-error").replaceChildren(text, ...more);
  if (text !== "") byId("fields-error").scrollIntoView({ block: "nearest" });
}

function showError({ messages }) {
  report(messages.join(" "));
}

/** Changes a copy of the definition, and stores it. Returns whether that was done. */
const change = action({
  async perform(words, edit, dropsValues = false) {
    const document = structuredClone(definition.document);
    edit(document);
    report("");
    await redefine(document, dropsValues);
    announce(words);
    return true;
  },
  failed(error, words, edit) {
    if (error.status === 412) return refresh(OVERTAKEN);
    if (error.messages[0].includes("drop_values")) return offerDrop(error, words, edit);
    showError(error);
  },
});

/** Asks whether values are dropped: those of a removed field, or those that are none of its new type. */
function offerDrop(error, words, edit) {
  const drop = async () => (await change(words, edit, true)) && byId("fields-heading").focus();
  const dropping = button("Drop these values", drop);
  const [reason] = error.messages[0].split("; ");
  report(`${reason}. `, dropping);
  dropping.focus();
}

function fillTitle() {
  const boxes = Object.entries(TITLES).map(([name]) => textBox({ id: `${name}-of-catalogue`, name }));
  const fields = Object.values(TITLES).map((words, index) => labelled(words, boxes[index]));
  byId("catalogue-title").append(...fields, buttons(button("Save", undefined, { type: "submit" })));
  onSubmit(byId("catalogue-title"), () => {
    const [title, one, many] = boxes.map((box) => box.value.trim());
    change("Saved the title.", (document) => {
      if (title) document.title = title;
      else delete document.title;
      if (one || many) document.noun = { one, many };
      else delete document.noun;
    });
  });
}

/** Fills the list of fields. The form of a field that is being edited stays. */
function fillList() {
  if (!member(edited?.key)) edited = undefined;
  byId("fields-list").replaceChildren(...MEMBERS.map(item));
}

function item(field) {
  if (edited?.key === field.key) return element("li", {}, edited.form);
  const quiet = (title, onclick) => button(title, onclick, { class: "quiet", "aria-label": `${title} ${field.title}` });
  const flags = KEYWORDS.filter(({ keyword, word }) => word && valueOf(field, keyword)).map(({ word }) => word);
  const words = [KINDS[field.input].title.toLowerCase(), ...flags].join(", ");
  const actions = [quiet("Edit", () => edit(field))];
  if (field.isOwn && field !== OWN[0]) actions.push(quiet("Move up", () => moveUp(field)));
  if (field.key !== "name") actions.push(quiet("Remove", () => removeField(field)));
  return element(
    "li",
    { "data-member": field.key },
    element("b", {}, field.title),
    element("code", {}, field.key),
    element("span", { class: "hint" }, words),
    element("span", { class: "of-actions" }, ...actions),
  );
}

/** The value of a keyword of a field; undefined if there is none. */
function valueOf(field, keyword) {
  return keyword === "required" ? field?.isRequired : definition.document.properties[field?.key]?.[keyword];
}

async function removeField({ key, title, isOwn }) {
  const isDone = await change(`Removed the field ${title}.`, (document) => {
    if (isOwn) delete document.properties[key];
    else document.properties[key] = false;
    document.required = document.required.filter((name) => name !== key);
  });
  if (isDone) byId("fields-heading").focus();
}

/** Moves a field before the previous one, in the form, the table and files. */
async function moveUp({ key, title }) {
  const isDone = await change(`Moved the field ${title}.`, (document) => {
    const properties = Object.entries(document.properties);
    const at = properties.findIndex(([name]) => name === key);
    properties.splice(at - 1, 2, properties[at], properties[at - 1]);
    document.properties = Object.fromEntries(properties);
  });
  if (isDone) focusField(key);
}

function focusField(key) {
  byId("fields-list").querySelector(`[data-member=${key}] button`)?.focus();
}

function edit(field) {
  const form = formOf(field);
  const close = () => {
    edited = undefined;
    fillList();
    focusField(field.key);
  };
  const attributes = { class: "field-form", novalidate: true, "aria-label": `Field ${field.title}` };
  const shown = element("form", attributes, ...form.elements, formEnd("Save", button("Cancel", close)));
  onSubmit(shown, async () => {
    const store = (document) => form.store(document, field.key);
    if (await change(`Saved the field ${form.title}.`, store)) close();
  });
  onEscape(shown, close);
  edited = { key: field.key, form: shown };
  fillList();
  shown.querySelector("input").focus();
}

function fillAdding() {
  added = formOf();
  byId("field").replaceChildren(...added.elements, formEnd("Add the field"));
}

async function addField() {
  const { key, title, store } = added;
  if (!/^[a-z]/.test(key)) return report("The name of a field begins with a letter from a to z.");
  if (member(key)) return report(`There is already a field ${key}; choose another name.`);
  if (!(await change(`Added the field ${title}.`, (document) => store(document, key)))) return;
  fillAdding();
  byId("field").querySelector("input").focus();
}

/** The inputs of a field that is edited, or of a new one, and what is typed into them. */
function formOf(field) {
  const isOwn = field?.isOwn !== false;
  const title = textBox({});
  title.value = field?.title ?? "";
  const key = textBox({ spellcheck: "false", autocapitalize: "none" });
  const options = Object.entries(KINDS).map(([value, kind]) => element("option", { value }, kind.title));
  const type = element("select", {}, ...options);
  type.value = field?.input ?? "text";
  const isSameType = () => !isOwn || type.value === field?.input;
  const keywordsOf = () => (isSameType() ? definition.document.properties[field.key] : KINDS[type.value].keywords);
  const inputs = KEYWORDS.map((each) => inputOf(each, field));

  /** Shows what fits the kind of the field. */
  const fit = () => {
    const kind = { input: isOwn ? type.value : field.input, isOwn, isName: field?.key === "name" };
    for (const input of inputs) input.fit(kind, keywordsOf());
  };
  let isOwnKey = false;
  title.addEventListener("input", () => field || isOwnKey || (key.value = keyOf(title.value)));
  key.addEventListener("input", () => (isOwnKey = key.value !== ""));
  type.addEventListener("change", fit);
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
    /** Stores what is typed in a document. Keywords whose input is unchanged, or that have none here, stay. */
    store(document, name) {
      const isSame = isSameType();
      const { description } = definition.document.properties[name] ?? {};
      const property = { ...keywordsOf(), ...(description && { description }) };
      if (!isSame || title.value !== field.title) property.title = title.value.trim();
      if (property.title === "") delete property.title;
      document.properties[name] = property;
      for (const { keyword, value } of inputs.filter(({ isChanged }) => !isSame || isChanged)) {
        if (keyword === "required") {
          const required = document.required.filter((other) => other !== name);
          document.required = value ? [...required, name] : required;
        } else if (value !== undefined) property[keyword] = value;
        else if (keyword === "unique" && name === "name") property.unique = false;
        else delete property[keyword];
      }
    },
  };
}

/** The input of a keyword. */
function inputOf({ keyword, label, fits, word }, field) {
  const isCheck = word !== undefined;
  const isLines = keyword === "enum";
  let box = isLines ? element("textarea", { rows: 4, spellcheck: "false" }) : textBox({ spellcheck: "false" });
  if (isCheck) box = element("input", { type: "checkbox", checked: valueOf(field, keyword) === true });
  if (isLines) box.value = field?.choices.join("\n") ?? "";
  const shown = isCheck ? element("label", { class: "choice" }, box, label) : labelled(label, box);
  const typed = () => (isCheck ? box.checked : box.value);
  let before = typed();
  return {
    keyword,
    isCheck,
    shown,
    /** Shows the input if it fits a kind of field, with the limit that it has. */
    fit(kind, keywords) {
      show(shown, fits(kind));
      if (!isCheck && !isLines) box.value = keywords[keyword] ?? "";
      if (!isCheck && !isLines) before = box.value;
    },
    get isChanged() {
      return typed() !== before;
    },
    /** The value of the keyword; undefined if there is none. */
    get value() {
      if (shown.hidden) return undefined;
      if (isLines) return lines(box.value);
      return (isCheck ? box.checked : box.value.trim()) || undefined;
    },
  };
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
