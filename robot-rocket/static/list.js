// The list of robots, with actions on each: edit, delete, undo.

import { announce, notice, offerUndo } from "./announcements.js";
import { add, current, remove } from "./api.js";
import { reserveChart } from "./chart.js";
import { whenBack } from "./connection.js";
import { shownColumns } from "./columns.js";
import { Editing } from "./editing.js";
import { byId, element, hasFocus, isTyping, show, shownName, spokenName } from "./elements.js";
import { Pages } from "./pages.js";
import { buttonOf, shownRow } from "./row.js";
import { headings, markOrder, orderInWords } from "./sorting.js";
import { ONE, OWN, inNumber, onDefined } from "./robot.js";
import { clearSelection, deselect, showSelection, startSelection } from "./selection.js";
import { requestToken } from "./token.js";
import { EVERYTHING, includes, isFiltered, isSameFilter } from "./view.js";

/** Robots and their rows that are shown above the list, by their ids: those that were added here,
    and edited ones that are not on the first page. */
const added = new Map();
const addedRows = element("tbody", { role: "rowgroup", class: "added" });

/** The robots that are being edited, by their ids. Their rows keep the typed text while they are out
    of the document. */
const edited = new Map();

/** The ids of the robots that are being deleted. */
const deleting = new Set();

const actions = { edit, remove: erase };

/** The number of robots in the view `counted`, from the service; undefined until it has answered. */
let total;

/** The last view that was opened. */
let counted = EVERYTHING;

/** The view whose number of robots was announced to screen readers. */
let announced;

/** The maximum number of own members of a robot that is edited in its row. */
const MAX_IN_ROW = 3;

let pages;
let notify;

/** Starts the list. Of `listeners`, `changed` is called with "opened", "changed" or "grown", and with
    whether there are robots; `sort` with the order that the user chooses; `edit` with a robot that
    has too many members to edit it in its row. */
export function startList(listeners) {
  notify = listeners;
  pages = new Pages(rowOf, update, failed);
  onDefined(showColumns);
  byId("table").append(addedRows);
  byId("table").addEventListener("keydown", moveFocus);
  startSelection({ settle, reload: reopen, focus: emptyFocus });
}

/** Shows the chosen columns. */
function showColumns() {
  byId("headings").replaceChildren(headings(notify.sort));
  byId("table").style.setProperty("--own", shownColumns().filter(({ isOwn }) => isOwn).length);
  markOrder(pages.view.sort);
}

/** Shows other columns of the same robots. */
export function changeColumns() {
  showColumns();
  return reopen();
}

/** Shows the robots of a view. Their number is announced, unless only the definition has changed. */
export function open(view, isRedefined) {
  if (isRedefined) announced = view;
  return pages.open(view);
}

/** Loads the same robots again. */
export function reopen() {
  return pages.open(pages.view);
}

/** Whether something was typed into a row and not saved. */
export function hasChanges() {
  return [...edited.values()].some((editing) => editing.isChanged);
}

/** Shows how many robots the view has; undefined if that cannot be known. */
export function showTotal(count) {
  total = count;
  showCount();
  announceCount();
}

/** Shows a robot that was just added. Returns false if it is shown already. */
export function showAdded(robot) {
  if (added.has(robot.id) || pages.has(robot.id)) return false;
  const row = shownRow(robot, actions);
  added.set(robot.id, { robot, row });
  addedRows.prepend(row);
  update("changed");
  return true;
}

/** Shows edited robots above the list that are not in it: they may have been deleted. */
function keepChanges() {
  for (const { robot, row, isChanged } of edited.values()) {
    if (!isChanged || pages.has(robot.id)) continue;
    added.set(robot.id, { robot, row });
    addedRows.append(row);
  }
}

function rowOf(robot) {
  if (added.has(robot.id)) return undefined;
  return edited.get(robot.id)?.row ?? shownRow(robot, actions);
}

function update(what) {
  if (what !== "changed") show(byId("refused"), false);
  if (what === "opening") {
    added.clear();
    addedRows.replaceChildren();
    if (!isSameFilter(pages.view, counted)) clearSelection();
    return;
  }
  if (what === "opened") keepChanges();
  const { view, isWhole } = pages;
  const count = pages.count + added.size;
  show(byId("table"), count > 0);
  show(byId("end"), isWhole && count > 20);
  show(byId("none"), countHere() === 0 && isFiltered(view));
  byId("none").replaceChildren(...nothingFound(view));
  if (what === "opened") {
    markOrder(view.sort);
    // In another order, it has the same number.
    if (isWhole || !isSameFilter(view, counted)) total = undefined;
    counted = view;
  }
  if (what === "changed" && isWhole) total = undefined;
  showCount();
  showSelection();
  if (isWhole) announceCount();
  const hasYears = pages.hasYears || [...added.values()].some(({ robot }) => robot.year);
  if (what !== "grown" && hasYears) reserveChart();
  notify.changed(what, count > 0 || !isWhole || isFiltered(view));
  if (what === "changed") pages.refresh();
}

function nothingFound(view) {
  const { q } = view;
  if (q === "" || isFiltered({ ...view, q: "" })) return [`No ${ONE} matches the filter.`];
  return [`No ${ONE} has all words of `, shownName(q), "."];
}

/** Shows the number of robots. That of a list without more pages is known before the service counts.
    While it counts a longer one after a change, the old number is shown. */
function showCount() {
  byId("count").textContent = countInWords();
  const rows = total ?? (pages.isWhole ? countHere() : undefined);
  byId("table").setAttribute("aria-rowcount", rows === undefined ? -1 : rows + 1);
}

/** The number of robots of the view up to the end of the window. */
function countHere() {
  const ofView = [...added.values()].filter(({ robot }) => includes(pages.view, robot));
  return pages.count + ofView.length;
}

function countInWords() {
  const here = countHere();
  if (total === undefined && !pages.isWhole) return `more than ${inNumber(here)}`;
  return inNumber(total ?? here);
}

/** Announces the number of robots of a view once, not when it is loaded again. */
function announceCount() {
  if (pages.view === announced) return;
  announced = pages.view;
  const found = isFiltered(pages.view) ? `${countInWords()} found` : countInWords();
  announce(`${found}${orderInWords(pages.view.sort)}`);
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
  if (deleting.has(robot.id)) return;
  if (OWN.length > MAX_IN_ROW) return notify.edit(robot);
  const editing = new Editing(robot, {
    end: (current, isSaved) => endEditing(editing, current, isSaved),
    giveUp: () => giveUp(editing),
    addAgain: (current) => showAddedAgain(editing, current),
  });
  edited.set(robot.id, editing);
  remember(robot, editing.row);
  old.replaceWith(editing.row);
  editing.start();
}

/** Keeps the current values and row of a robot. */
function remember(robot, row) {
  if (added.has(robot.id)) added.set(robot.id, { robot, row });
  else pages.change(robot, row);
}

/** Ends editing and shows the robot. */
function endEditing(editing, robot, isSaved) {
  const hadFocus = hasFocus(editing.row);
  edited.delete(robot.id);
  showSaved(robot);
  if (hadFocus) buttonOf(rowInList(robot), "edit")?.focus();
  if (isSaved) announce(`Saved ${spokenName(robot.name)}.`);
}

/** Shows another version of a robot, unless the robot is being edited here, too. */
export function showSaved(robot) {
  const old = rowInList(robot);
  if (!old || edited.has(robot.id)) return;
  const { action } = old.contains(document.activeElement) ? document.activeElement.dataset : {};
  const row = shownRow(robot, actions);
  remember(robot, row);
  old.replaceWith(row);
  row.classList.add("fresh");
  if (action) buttonOf(row, action).focus();
  update("changed");
}

/** Moves the focus to a robot, or to the list. */
export function focusRobot(id) {
  const target = buttonOf(rowInList({ id }), "edit") ?? byId("robots");
  target.focus();
}

/** Ends editing of a robot that was deleted by another user. */
function giveUp({ robot }) {
  edited.delete(robot.id);
  removeRow(robot);
}

/** Shows an edited robot that had been deleted and was added again. */
function showAddedAgain(editing, robot) {
  edited.delete(editing.robot.id);
  forget(editing.robot);
  showRestored(robot);
}

async function erase(robot) {
  if (deleting.has(robot.id)) return;
  deleting.add(robot.id);
  try {
    await remove(robot);
    removeRow(robot);
    offerUndo(robot, async () => showRestored(await add(robot)));
  } catch (error) {
    if (error.needsToken) requestToken(error, () => erase(robot));
    else await notErased(robot, error);
  } finally {
    deleting.delete(robot.id);
  }
}

/** Shows why a robot was not deleted, and the version of another user. */
async function notErased(robot, error) {
  const isOther = [404, 412].includes(error.status);
  const [now] = isOther ? await current([robot]).catch(() => [robot]) : [robot];
  settle(robot, now);
  const unknown = error.isTransient ? ["Whether it was deleted is unknown. Try again."] : [];
  const why = `. ${[...error.messages, ...unknown].join(" ")}`;
  const other = ": another user has just changed it. Look, and try again.";
  if (!now) notice(robot, " was deleted by another user.");
  else notice(robot, ` was not deleted${isOther ? other : why}`);
  if (error.isTransient) whenBack(error, reopen);
}

/** Shows a robot as it is stored now, if it is. */
function settle(robot, now) {
  if (!now) removeRow(robot);
  else if (now !== robot) showSaved(now);
}

/** The current row of a robot, if it has one: while a request was under way, the list may have been
    loaded again. */
function rowInList({ id }) {
  return added.get(id)?.row ?? pages.row(id);
}

/** Removes a robot and its row. */
function forget(robot) {
  rowInList(robot)?.remove();
  deselect(robot.id);
  pages.remove(robot.id);
  added.delete(robot.id);
}

/** Removes the row of a deleted robot. The focus moves to the next row. */
function removeRow(robot) {
  const row = rowInList(robot);
  const rows = [...byId("table").querySelectorAll("tbody tr")];
  const at = rows.indexOf(row);
  const hadFocus = row && hasFocus(row);
  const next = rows[at + 1] ?? rows[at - 1];
  forget(robot);
  update("changed");
  if (!hadFocus) return;
  (buttonOf(next, "delete") ?? next?.querySelector("input, textarea") ?? emptyFocus()).focus();
}

/** The element to focus when no robot has the focus. */
function emptyFocus() {
  if (byId("start").hidden) return byId("robots");
  return byId("start").querySelector("button") ?? byId("adding-open");
}

/** Shows a restored robot. */
function showRestored(robot) {
  if (pages.place(robot)) update("changed");
  else showAdded(robot);
  const shown = rowInList(robot);
  if (!isTyping()) buttonOf(shown, "edit")?.focus();
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
