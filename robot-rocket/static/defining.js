// The panel in which the owner of the catalogue edits its fields.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { countFilled, redefine, refreshDefinition } from "./api.js";
import { keepDraft, keptDraft } from "./drafts.js";
import { button, byId, element, formEnd, onEscape, onSubmit, withSeconds } from "./elements.js";
import { KEYWORDS, formOf, valueOf } from "./field.js";
import { filterBy } from "./filters.js";
import { KINDS } from "./kinds.js";
import { startPanel } from "./panels.js";
import { MEMBERS, OWN, definition, inLabels, inNumber, member, onDefined } from "./robot.js";
import { NONE } from "./view.js";

const OVERTAKEN =
  "Another user has changed the fields meanwhile. They are shown now, with what you have typed: look, and do it again.";

/** The forms of the fields that are being edited, by their keys, with their elements. */
const edited = new Map();

/** The form of a new field. */
let added;

/** Starts the panel. */
export function startDefining() {
  startPanel("fields", () => {
    refresh("");
    return byId("fields-heading");
  });
  fillAdding(keptDraft("field"));
  onSubmit(byId("catalogue-title"), saveTitle);
  onSubmit(byId("field"), addField);
  for (const id of ["catalogue-title", "field"]) {
    const typed = () => [...byId(id).elements].map((box) => (box.type === "checkbox" ? box.checked : box.value));
    byId(id).addEventListener("input", () => keepDraft(id, typed()));
  }
  onDefined(() => {
    for (const { form } of edited.values()) form.renew();
    fillList();
    showTitle();
  });
  restore(byId("catalogue-title"), keptDraft("catalogue-title"));
}

/** Shows what the catalogue and its robots are called. What was typed stays. */
function showTitle() {
  const { title, noun } = definition.document;
  for (const box of byId("catalogue-title").querySelectorAll("input")) {
    const value = { title, ...noun }[box.name] ?? "";
    if (box.value === box.defaultValue) box.value = value;
    box.defaultValue = value;
  }
}

async function saveTitle() {
  const boxes = [...byId("catalogue-title").querySelectorAll("input")];
  // Only what was typed.
  const typed = boxes.filter((box) => box.value !== box.defaultValue).map((box) => [box.name, box.value.trim()]);
  const isDone = await change("Saved the title.", (document) => {
    const { title, one, many } = { title: document.title, ...document.noun, ...Object.fromEntries(typed) };
    if (title) document.title = title;
    else delete document.title;
    if (one || many) document.noun = { one, many };
    else delete document.noun;
  });
  if (isDone) keepDraft("catalogue-title");
}

/** Types again what was kept: the values of the inputs of a form, in their order. */
function restore(form, values = []) {
  [...form.elements].forEach((box, index) => {
    if (values[index] === undefined || box.type === "submit") return;
    if (box.type === "checkbox") box.checked = values[index];
    else box.value = values[index];
    if (box.matches("select")) box.dispatchEvent(new Event("change"));
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

/** Messages about the document name keywords; people know their labels. */
function showError({ messages }) {
  const words = messages.map((message) => message.replace(/^properties\.(\w+)\.(\w+): /, (_, key, keyword) => {
    const { label = keyword } = KEYWORDS.find((each) => each.keyword === keyword) ?? {};
    return `${member(key)?.title ?? key}, ${label}: `;
  }));
  report(words.join(" "));
}

/** Changes a copy of the definition, and stores it. Returns whether that was done. `edit` has what was confirmed. */
const change = action({
  async perform(words, edit, dropsValues = false) {
    const document = structuredClone(definition.document);
    edit(document);
    report("");
    const end = withSeconds(byId("fields-busy"), "Working…");
    try {
      await redefine(document, dropsValues);
    } finally {
      end();
      byId("fields-busy").replaceChildren();
    }
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
  report(`${inLabels(reason)}. Nothing is changed yet. `, dropping);
  dropping.focus();
}

/** Fills the list of fields. The forms of fields that are being edited stay. */
function fillList() {
  for (const [key, { form }] of edited) {
    if (member(key)) continue;
    edited.delete(key);
    report(`Another user has removed the field ${form.title}.`);
  }
  const { activeElement } = document;
  byId("fields-list").replaceChildren(...MEMBERS.map(item));
  activeElement.focus();
}

function item(field) {
  const form = edited.get(field.key);
  if (form) return element("li", {}, form.element);
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
    edited.delete(field.key);
    fillList();
    focusField(field.key);
  };
  const attributes = { class: "field-form", novalidate: true, "aria-label": `Field ${field.title}` };
  const shown = element("form", attributes, ...form.elements, formEnd("Save", button("Cancel", close)));
  onSubmit(shown, async () => {
    const { title, converts } = form;
    const store = form.edit(field.key);
    const isRequired = field.isRequired;
    const save = async () => {
      if (!(await change(`Saved the field ${title}.`, store))) return;
      close();
      if (!isRequired && member(field.key)?.isRequired) reportMissing(field.key);
    };
    if (converts) offerConversion(field, converts, save);
    else save();
  });
  onEscape(shown, close);
  edited.set(field.key, { form, element: shown });
  fillList();
  shown.querySelector("input").focus();
}

/** Says how many robots have no value of a field that is required now. */
async function reportMissing(key) {
  const { empty } = await countFilled(key).catch(() => ({ empty: 0 }));
  const { title } = member(key);
  if (empty > 0) report(`${inNumber(empty)} without ${title}: a value is needed when one of them is changed. `, button("Show", () => filterBy(key, { [key]: NONE })));
}

/** Says how many values are converted to another kind, and asks whether to do so. */
const offerConversion = action({
  async perform({ key, title, input }, kind, save) {
    const { filled: count } = await countFilled(key);
    if (count === 0) return save();
    const [from, to] = [input, kind].map((each) => KINDS[each].title.toLowerCase());
    const words = `${title}: ${from} becomes ${to}. The values of ${inNumber(count)} are converted. If some cannot be, you are asked first. `;
    const converting = button("Convert", save, { class: "main" });
    report(words, converting);
    converting.focus();
  },
  failed: showError,
});

function fillAdding(draft) {
  added = formOf();
  byId("field").replaceChildren(...added.elements, formEnd("Add the field"));
  restore(byId("field"), draft);
}

async function addField() {
  const { key, title } = added;
  if (!/^[a-z]/.test(key)) return report("The name of a field begins with a letter from a to z.");
  if (member(key)) return report(`There is already a field ${key}; choose another name.`);
  if (!(await change(`Added the field ${title}.`, added.edit(key)))) return;
  keepDraft("field");
  fillAdding();
  byId("field").querySelector("input").focus();
}
