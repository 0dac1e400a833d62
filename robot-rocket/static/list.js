// The list of robots, with actions on each: edit, delete, undo.

import { announce, notice, offerUndo } from "./announcements.js";
import { add, remove, replace } from "./api.js";
import { whenBack } from "./connection.js";
import { byId, element, show, shownName, spokenName } from "./elements.js";
import { Fields } from "./fields.js";
import { Pages } from "./pages.js";
import { stored } from "./robot.js";
import { buttonOf, editedRow, headings, shownRow } from "./row.js";
import { requestToken } from "./token.js";

/** Robots that were added here, by their ids. They are shown above the list. */
const added = new Map();
const addedRows = element("tbody", { role: "rowgroup", class: "added" });

/** Rows in which robots are edited. They keep the typed text while they are out of the document. */
const edited = new Map();

/** The fields of each edited row. */
const fieldsOf = new Map();

const actions = { edit, remove: erase };

let pages;
let notifyChanged = () => {};

/** Starts the list. `changed` is called after each change, with whether there are robots. */
export function startList(changed) {
  notifyChanged = changed;
  pages = new Pages(rowOf, update, failed);
  byId("headings").append(headings());
  byId("table").append(addedRows);
  byId("table").addEventListener("keydown", moveFocus);
}

/** Shows the robots whose name contains a text. */
export function open(query) {
  return pages.open(query);
}

/** Loads the same robots again. */
export function reopen() {
  return pages.open(pages.query);
}

/** Whether something was typed into a row and not saved. */
export function hasChanges() {
  return [...fieldsOf.values()].some((fields) => fields.isChanged);
}

/** Shows a robot that was just added. */
export function showAdded(robot) {
  added.set(robot.id, robot);
  addedRows.prepend(shownRow(robot, actions));
  update("changed");
}

function rowOf(robot) {
  if (added.has(robot.id)) return undefined;
  return edited.get(robot.id) ?? shownRow(robot, actions);
}

function update(what) {
  if (what === "opening") {
    added.clear();
    addedRows.replaceChildren();
    show(byId("refused"), false);
    return;
  }
  const { query, count, isWhole } = pages;
  const total = count + added.size;
  show(byId("table"), total > 0);
  show(byId("end"), isWhole && total > 20);
  show(byId("none"), total === 0 && query !== "");
  const text = counted(total, isWhole);
  byId("count").textContent = text;
  const hint = ". Case and spaces matter.";
  byId("none").replaceChildren("No name contains ", shownName(query), hint);
  if (what === "opened") announce(query === "" ? text : `${text} found`);
  notifyChanged(what, total > 0 || query !== "");
}

function counted(total, isWhole) {
  if (total === 0) return "no robots";
  const robots = `${total.toLocaleString("en")} ${total === 1 ? "robot" : "robots"}`;
  return isWhole ? robots : `more than ${robots}`;
}

function failed(error, again) {
  if (error.needsToken) requestToken(error, again);
  else if (error.isTransient) whenBack(error, again);
  else {
    const button = element("button", { type: "button", onclick: again }, "Try again");
    byId("refused").replaceChildren(element("p", {}, ...error.messages), button);
    show(byId("refused"));
  }
}

function edit(robot, old) {
  const fields = new Fields(robot, "unseen");
  const editing = { robot, fields, isGone: false, isBusy: false };
  editing.row = editedRow(robot, fields, {
    save: () => save(editing),
    cancel: () => endEditing(editing, editing.robot),
  });
  edited.set(robot.id, editing.row);
  fieldsOf.set(robot.id, fields);
  remember(robot, editing.row);
  old.replaceWith(editing.row);
  fields.first.box.focus();
  fields.first.box.select();
}

/** Keeps the current values and row of a robot. */
function remember(robot, row) {
  if (added.has(robot.id)) added.set(robot.id, robot);
  else pages.change(robot, row);
}

/** Ends editing and shows the given robot. */
function endEditing(editing, robot) {
  const row = shownRow(robot, actions);
  edited.delete(editing.robot.id);
  fieldsOf.delete(editing.robot.id);
  remember(robot, row);
  editing.row.replaceWith(row);
  buttonOf(row, "edit").focus();
}

async function save(editing) {
  const { robot, fields } = editing;
  if (editing.isBusy) return;
  if (!fields.isChanged && !editing.isGone) return endEditing(editing, robot);
  editing.isBusy = true;
  const draft = fields.draft();
  try {
    if (editing.isGone) return showAddedAgain(editing, await add(draft));
    await replace(robot.id, draft);
    endEditing(editing, { id: robot.id, ...stored(draft) });
    announce(`Saved ${spokenName(draft.name)}.`);
    update("changed");
  } catch (error) {
    refused(editing, error);
  } finally {
    editing.isBusy = false;
  }
}

function refused(editing, error) {
  const { fields } = editing;
  if (error.status === 404) {
    editing.isGone = true;
    const message = "This robot was deleted meanwhile. Save adds it again, under a new id.";
    return fields.showError({ status: 404, messages: [message] });
  }
  if (error.needsToken) return requestToken(error, () => save(editing));
  fields.showError(error);
  if (error.isTransient) whenBack(error, () => fields.clear());
}

/** Shows an edited robot that had been deleted and was added again. */
function showAddedAgain(editing, robot) {
  edited.delete(editing.robot.id);
  fieldsOf.delete(editing.robot.id);
  pages.remove(editing.robot.id);
  added.delete(editing.robot.id);
  editing.row.remove();
  showRestored(robot);
}

async function erase(robot, row) {
  try {
    await remove(robot.id);
    removeRow(robot, row);
    offerUndo(robot, async () => showRestored(await add(robot)));
  } catch (error) {
    if (error.needsToken) return requestToken(error, () => erase(robot, row));
    if (error.status === 404) removeRow(robot, row);
    const words = error.isTransient ? "Whether it was deleted is unknown. Delete it again." : "";
    notice(robot, ` ${[...error.messages, words].join(" ")}`);
    if (error.isTransient) whenBack(error, reopen);
  }
}

/** Removes the row of a deleted robot. The focus moves to the next row. */
function removeRow(robot, row) {
  const rows = [...byId("table").querySelectorAll("tbody tr")];
  const at = rows.indexOf(row);
  const hadFocus = row.contains(document.activeElement) || document.activeElement === document.body;
  const next = rows[at + 1] ?? rows[at - 1];
  pages.remove(robot.id);
  added.delete(robot.id);
  row.remove();
  update("changed");
  if (!hadFocus) return;
  (buttonOf(next, "delete") ?? next?.querySelector("input, textarea") ?? emptyFocus()).focus();
}

/** The element to focus when no robot is left. */
function emptyFocus() {
  return byId("start").hidden ? byId("robots") : byId("start").querySelector("button");
}

/** Shows a restored robot. */
function showRestored(robot) {
  const row = pages.place(robot);
  if (row) update("changed");
  else showAdded(robot);
  const shown = row ?? addedRows.firstChild;
  buttonOf(shown, "edit").focus();
  shown.classList.add("fresh");
  announce(`${spokenName(robot.name)} was restored.`);
}

/** Moves the focus from robot to robot by the arrow keys. */
function moveFocus(event) {
  const action = event.target.dataset.action;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!action || !step) return;
  const buttons = [...byId("table").querySelectorAll(`[data-action="${action}"]`)];
  const target = buttons[buttons.indexOf(event.target) + step];
  if (!target) return;
  event.preventDefault();
  target.focus();
}
