// The list of robots, and what is done with each: edit, delete, undo.

import { notice, offerUndo, say } from "./announcements.js";
import { add, remove, replace } from "./api.js";
import { whenBack } from "./connection.js";
import { byId, element, show, shownName, spokenName } from "./elements.js";
import { Fields } from "./fields.js";
import { Pages } from "./pages.js";
import { buttonOf, editedRow, shownRow } from "./row.js";
import { askForToken } from "./token.js";

/** What was added here stands above the list, wherever in it its place is: robots by their ids. */
const added = new Map();
const addedRows = element("tbody", { role: "rowgroup", class: "added" });

/** The rows in which robots are edited. They keep what was typed also while they are out of the
    document. */
const edited = new Map();

/** Whether there is anything to lose, for each of these. */
const fieldsOf = new Map();

const actions = { edit, remove: erase };

let pages;
let isChangedElsewhere = () => {};

/** Starts the list; `changed` is called whenever the robots are others, with whether there are
    any. */
export function startList(changed) {
  isChangedElsewhere = changed;
  pages = new Pages(rowOf, told, failed);
  byId("table").append(addedRows);
  byId("table").addEventListener("keydown", walk);
}

/** Shows the robots whose name contains a text. */
export function open(query) {
  return pages.open(query);
}

/** Shows the same robots as they are by now. */
export function reopen() {
  return pages.open(pages.query);
}

/** Whether something was typed into a row and not saved. */
export function hasChanges() {
  return [...fieldsOf.values()].some((fields) => fields.isChanged);
}

/** Shows a robot that was just added. */
export function welcome(robot) {
  added.set(robot.id, robot);
  addedRows.prepend(shownRow(robot, actions));
  told("changed");
}

function rowOf(robot) {
  if (added.has(robot.id)) return undefined;
  return edited.get(robot.id) ?? shownRow(robot, actions);
}

function told(what) {
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
  const hint = ". Capitals and blanks count.";
  byId("none").replaceChildren("No name contains ", shownName(query), hint);
  if (what === "opened") say(query === "" ? text : `${text} found`);
  isChangedElsewhere(what, total > 0 || query !== "");
}

function counted(total, isWhole) {
  if (total === 0) return "no robots";
  const robots = `${total.toLocaleString("en")} ${total === 1 ? "robot" : "robots"}`;
  return isWhole ? robots : `more than ${robots}`;
}

function failed(error, again) {
  if (error.asksForToken) askForToken(error, again);
  else if (error.isPassing) whenBack(error, again);
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
    cancel: () => leave(editing, editing.robot),
  });
  edited.set(robot.id, editing.row);
  fieldsOf.set(robot.id, fields);
  known(robot, editing.row);
  old.replaceWith(editing.row);
  fields.name.box.focus();
  fields.name.box.select();
}

/** Has the robot known under its values of now, in this row. */
function known(robot, row) {
  if (added.has(robot.id)) added.set(robot.id, robot);
  else pages.change(robot, row);
}

/** Ends the editing: the robot is as given. */
function leave(editing, robot) {
  const row = shownRow(robot, actions);
  edited.delete(editing.robot.id);
  fieldsOf.delete(editing.robot.id);
  known(robot, row);
  editing.row.replaceWith(row);
  buttonOf(row, "edit").focus();
}

async function save(editing) {
  const { robot, fields } = editing;
  if (editing.isBusy) return;
  if (!fields.isChanged && !editing.isGone) return leave(editing, robot);
  editing.isBusy = true;
  const draft = fields.draft();
  try {
    if (editing.isGone) return again(editing, await add(draft));
    await replace(robot.id, draft);
    leave(editing, { id: robot.id, ...draft, year: plain(draft.year) });
    say(`Saved ${spokenName(draft.name)}.`);
    told("changed");
  } catch (error) {
    refused(editing, error);
  } finally {
    editing.isBusy = false;
  }
}

/** A year as the service writes it. */
function plain(year) {
  return BigInt(year.trim()).toString();
}

function refused(editing, error) {
  const { fields } = editing;
  if (error.status === 404) {
    editing.isGone = true;
    const message = "This robot was deleted meanwhile. Save adds it again, under a new id.";
    return fields.tell({ status: 404, messages: [message] });
  }
  if (error.asksForToken) return askForToken(error, () => save(editing));
  fields.tell(error);
  if (error.isPassing) whenBack(error, () => fields.clear());
}

/** The robot that was edited had been deleted, and is there again. */
function again(editing, robot) {
  edited.delete(editing.robot.id);
  fieldsOf.delete(editing.robot.id);
  pages.remove(editing.robot.id);
  added.delete(editing.robot.id);
  editing.row.remove();
  bring(robot);
}

async function erase(robot, row) {
  try {
    await remove(robot.id);
    gone(robot, row);
    offerUndo(robot, async () => bring(await add(robot)));
  } catch (error) {
    if (error.asksForToken) return askForToken(error, () => erase(robot, row));
    if (error.status === 404) gone(robot, row);
    const words = error.isPassing ? "Whether it is deleted is unknown; delete it again." : "";
    notice(robot, ` ${[...error.messages, words].join(" ")}`);
    if (error.isPassing) whenBack(error, reopen);
  }
}

/** Takes the row of a robot away that is no more. The focus goes to the next one. */
function gone(robot, row) {
  const rows = [...byId("table").querySelectorAll("tbody tr")];
  const at = rows.indexOf(row);
  const hadFocus = row.contains(document.activeElement) || document.activeElement === document.body;
  const next = rows[at + 1] ?? rows[at - 1];
  pages.remove(robot.id);
  added.delete(robot.id);
  row.remove();
  told("changed");
  if (!hadFocus) return;
  (buttonOf(next, "delete") ?? next?.querySelector("input, textarea") ?? landing()).focus();
}

/** Where the focus goes when there is no robot left. */
function landing() {
  return byId("start").hidden ? byId("robots") : byId("start").querySelector("button");
}

/** Shows a robot that is back. */
function bring(robot) {
  const row = pages.place(robot);
  if (row) told("changed");
  else welcome(robot);
  const shown = row ?? addedRows.firstChild;
  buttonOf(shown, "edit").focus();
  shown.classList.add("fresh");
  say(`${spokenName(robot.name)} is back.`);
}

/** The arrows go from robot to robot. */
function walk(event) {
  const action = event.target.dataset.action;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!action || !step) return;
  const buttons = [...byId("table").querySelectorAll(`[data-action="${action}"]`)];
  const target = buttons[buttons.indexOf(event.target) + step];
  if (!target) return;
  event.preventDefault();
  target.focus();
}
