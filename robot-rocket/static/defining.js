// The panel in which the owner of the catalogue edits its fields.

import { announce } from "./announcements.js";
import { redefine, refreshDefinition } from "./api.js";
import { byId, element, show } from "./elements.js";
import { KINDS } from "./kinds.js";
import { startPanel } from "./panels.js";
import { MEMBERS, OWN, definition, member, onDefined } from "./robot.js";
import { requestToken } from "./token.js";

/** What a field may be besides. */
const FLAGS = [
  "Required",
  "No two have the same value",
  "Find and sort quickly",
  "Part of the search",
];

/** What the catalogue and its robots are called: names of inputs, and their labels. */
const TITLES = { title: "Title of the catalogue", one: "One of them is a", many: "Several are" };

/** The limits of values: a keyword, a label, and the kinds of fields that have it. */
const LIMITS = [
  ["minimum", "Least value", ["digits", "number"]],
  ["maximum", "Greatest value", ["digits", "number"]],
  ["maxLength", "Most characters", ["text", "long"]],
  ["pattern", "Pattern, a regular expression", ["text", "long"]],
];

/** The maximum length of the name of a field with an index. */
const MAX_NAME_LENGTH = 40;

/** The key of the field that is being edited, and its form. */
let edited;

let count = 0;

/** Starts the panel. */
export function startDefining() {
  startPanel("fields", () => {
    const refresh = () => tried(refreshDefinition, refresh);
    refresh();
    return byId("fields-heading");
  });
  fillTitle();
  fillAdding();
  onDefined(() => {
    fillList();
    const { title, noun } = definition.document;
    for (const [name, value] of Object.entries({ title, one: noun?.one, many: noun?.many })) {
      byId("catalogue-title").elements[name].value = value ?? "";
    }
  });
}

/** Does something with the service. Shows an error, and returns it. */
async function tried(action, again) {
  report("");
  try {
    await action();
  } catch (error) {
    if (error.needsToken) requestToken(error, again);
    else report(error.messages.join(" "));
    return error;
  }
}

function report(text, ...more) {
  byId("fields-error").replaceChildren(text, ...more);
  if (text !== "") byId("fields-error").scrollIntoView({ block: "nearest" });
}

/** Changes a copy of the definition, and stores it. Returns whether that was done. */
async function change(words, edit, dropsValues = false) {
  const document = structuredClone(definition.document);
  edit(document);
  const again = () => change(words, edit, dropsValues);
  const error = await tried(() => redefine(document, dropsValues), again);
  if (!error) announce(words);
  else if (error.status === 412) await showOthers();
  else if (error.messages[0].includes("drop_values")) offerDrop(error, words, edit);
  return !error;
}

/** Shows what another user has defined meanwhile. */
async function showOthers() {
  const words =
    "Another user has changed the fields meanwhile. They are shown now; make your change again.";
  if (!(await tried(refreshDefinition, showOthers))) report(words);
}

/** Asks whether values are dropped: those of a removed field, or those that are none of its new type. */
function offerDrop(error, words, edit) {
  const onclick = async () => (await change(words, edit, true)) && byId("fields-heading").focus();
  const button = element("button", { type: "button", onclick }, "Drop these values");
  const [reason] = error.messages[0].split("; ");
  report(`${reason}. `, button);
  button.focus();
}

function fillTitle() {
  const boxes = Object.entries(TITLES).map(([name]) => textBox({ id: `${name}-of-catalogue`, name }));
  const fields = Object.values(TITLES).map((words, index) => labelled(words, boxes[index]));
  byId("catalogue-title").append(...fields, buttons({}, "Save"));
  byId("catalogue-title").addEventListener("submit", (event) => {
    event.preventDefault();
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

function item(one) {
  if (edited?.key === one.key) return element("li", {}, edited.form);
  const button = (title, onclick) => {
    const label = `${title} ${one.title}`;
    return element("button", { type: "button", class: "quiet", "aria-label": label, onclick }, title);
  };
  const flags = ["required", "unique", "indexed", "searched"].filter((_, index) => flagsOf(one)[index]);
  const words = [KINDS[one.input].title.toLowerCase(), ...flags].join(", ");
  const actions = [button("Edit", () => edit(one))];
  if (one.isOwn && one !== OWN[0]) actions.push(button("Move up", () => moveUp(one)));
  if (one.key !== "name") actions.push(button("Remove", () => removeField(one)));
  return element(
    "li",
    { "data-member": one.key },
    element("b", {}, one.title),
    element("code", {}, one.key),
    element("span", { class: "hint" }, words),
    element("span", { class: "of-actions" }, ...actions),
  );
}

function flagsOf({ key, isRequired, isUnique }) {
  const { index, search } = definition.document.properties[key];
  return [isRequired, isUnique, index === true, search === true];
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

function edit(one) {
  const form = formOf(one);
  const close = () => {
    edited = undefined;
    fillList();
    focusField(one.key);
  };
  const cancel = element("button", { type: "button", onclick: close }, "Cancel");
  const attributes = { class: "field-form", novalidate: true, "aria-label": `Field ${one.title}` };
  const ending = buttons({ class: "main" }, "Save", cancel);
  const shown = element("form", attributes, ...form.elements, ending);
  shown.addEventListener("submit", async (event) => {
    event.preventDefault();
    const store = (document) => form.store(document, one.key);
    if (await change(`Saved the field ${form.title}.`, store)) close();
  });
  shown.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  });
  edited = { key: one.key, form: shown };
  fillList();
  shown.querySelector("input").focus();
}

function fillAdding() {
  const form = formOf();
  byId("field").replaceChildren(...form.elements, buttons({ class: "main" }, "Add the field"));
  byId("field").onsubmit = async (event) => {
    event.preventDefault();
    const { key } = form;
    if (!/^[a-z]/.test(key)) return report("The name of a field begins with a letter from a to z.");
    if (member(key)) return report(`There is already a field ${key}; choose another name.`);
    const store = (document) => form.store(document, key);
    if (!(await change(`Added the field ${form.title}.`, store))) return;
    fillAdding();
    byId("field").querySelector("input").focus();
  };
}

/** The inputs of a field that is edited, or of a new one, and what is typed into them. */
function formOf(one) {
  const title = textBox({});
  title.value = one?.title ?? "";
  const key = textBox({ spellcheck: "false", autocapitalize: "none" });
  const options = Object.entries(KINDS).map(([value, kind]) => element("option", { value }, kind.title));
  const type = element("select", {}, ...options);
  type.value = one?.input ?? "text";
  const choices = element("textarea", { rows: 4, spellcheck: "false" });
  choices.value = one?.choices.join("\n") ?? "";
  const shown = { choices: choices.value };
  const before = one ? flagsOf(one) : [];
  const boxes = FLAGS.map((_, index) => element("input", { type: "checkbox", checked: before[index] }));
  const checks = boxes.map((box, index) => element("label", { class: "choice" }, box, FLAGS[index]));
  const choicesField = labelled("Choices, one per line", choices);
  const isSameType = () => one?.isOwn === false || type.value === one?.input;
  const keywordsOf = () => (isSameType() ? definition.document.properties[one.key] : KINDS[type.value].keywords);
  const limits = LIMITS.map(([, words]) => textBox({ spellcheck: "false" }));
  const limitFields = LIMITS.map(([, words], index) => labelled(words, limits[index]));

  /** Shows what fits the kind of the field. */
  const fit = () => {
    const input = one?.isOwn === false ? one.input : type.value;
    const isName = one?.key === "name";
    const isOwn = one?.isOwn !== false;
    show(choicesField, input === "choice");
    LIMITS.forEach(([keyword, , inputs], index) => {
      show(limitFields[index], inputs.includes(input) && !(isName && keyword === "pattern"));
      limits[index].value = keywordsOf()[keyword] ?? "";
      shown[keyword] = limits[index].value;
    });
    show(checks[0], !isName);
    show(checks[1], isName || (isOwn && input !== "long" && input !== "boolean"));
    show(checks[2], isOwn && input !== "long");
    show(checks[3], isOwn && KINDS[input].keywords.type === "string");
  };
  let isOwnKey = false;
  title.addEventListener("input", () => one || isOwnKey || (key.value = keyOf(title.value)));
  key.addEventListener("input", () => (isOwnKey = key.value !== ""));
  type.addEventListener("change", fit);
  fit();
  const elements = [choicesField, ...limitFields, element("div", { class: "checks" }, ...checks)];
  if (one?.isOwn !== false) elements.unshift(labelled("Type", type));
  if (!one) elements.unshift(labelled("Name in files and in the API", key));
  return {
    elements: [labelled("Label", title), ...elements],
    get title() {
      return title.value.trim() || key.value;
    },
    get key() {
      return key.value.trim();
    },
    /** Stores what is typed in a document. Keywords whose input is unchanged, or that have none here, stay. */
    store(document, name) {
      const isOn = (box, index) => box.checked && !checks[index].hidden;
      const isSame = isSameType();
      const isKeptFlag = (index) => isSame && boxes[index].checked === before[index];
      const [isRequired, ...flags] = boxes.map(isOn);
      const { description } = definition.document.properties[name] ?? {};
      const property = { ...keywordsOf(), ...(description && { description }) };
      if (!isSame || title.value !== one.title) property.title = title.value.trim();
      if (property.title === "") delete property.title;
      const isKept = isSame && choices.value === shown.choices;
      if (!choicesField.hidden && !isKept) property.enum = lines(choices.value);
      LIMITS.forEach(([keyword], index) => {
        const value = limits[index].value.trim();
        if (limitFields[index].hidden || limits[index].value === shown[keyword]) return;
        if (value === "") delete property[keyword];
        else property[keyword] = value;
      });
      ["unique", "index", "search"].forEach((keyword, index) => {
        if (isKeptFlag(index + 1)) return;
        if (flags[index] || (keyword === "unique" && name === "name")) property[keyword] = flags[index];
        else delete property[keyword];
      });
      document.properties[name] = property;
      if (isKeptFlag(0)) return;
      const others = document.required.filter((required) => required !== name);
      document.required = isRequired || name === "name" ? [...others, name] : others;
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

/** The button that submits a form, and others. */
function buttons(attributes, title, ...others) {
  const submit = element("button", { type: "submit", ...attributes }, title);
  return element("div", { class: "buttons" }, submit, ...others);
}

function labelled(text, box) {
  box.id ||= `field-input-${++count}`;
  return element("div", { class: "field" }, element("label", { for: box.id, class: "shown" }, text), box);
}
