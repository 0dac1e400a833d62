// The list of robots, with actions on each.

import { action, handleError } from "./action.js";
import { announce, notice } from "./announcements.js";
import { current, remove } from "./api.js";
import { CellEditing } from "./cells.js";
import { onChanges, reportChanges } from "./changes.js";
import { layOut, noteValues, startColumns } from "./columns.js";
import { button, byId, element, hasFocus, sentences, show, spokenName } from "./elements.js";
import { startGrid } from "./grid.js";
import { nothingFound } from "./nothing.js";
import { Pages } from "./pages.js";
import { hide } from "./panels.js";
import { shownRow } from "./row.js";
import { headings, markOrder, orderInWords } from "./sorting.js";
import { inNumber, onDefined } from "./robot.js";
import { clearSelection, deselect, showSelection, startSelection } from "./selection.js";
import { did } from "./undo.js";
import { EVERYTHING, includes, isFiltered, isSameFilter } from "./view.js";

/** Deletes a robot unless it was changed meanwhile. */
export const eraseRobot = action({
  async perform(robot) {
    await remove(robot);
    did(["Deleted ", robot], { id: robot.id, to: robot.revision });
    announce(`Deleted ${spokenName(robot.name)}. Control Z restores it.`);
    reportChanges([{ id: robot.id, robot: null }]);
  },
  failed: notErased,
  back: reopen,
  key: ({ id }) => id,
});

/** The buttons of each robot: their titles, and what they do with the robot and its row. */
const actions = { edit: ["Edit", (robot) => notify.edit(robot)], delete: ["Delete", eraseRobot] };

/** Whether robots are cards instead of rows. */
const NARROW = matchMedia("(max-width: 40rem)");

/** The maximum number of robots that are shown above the list together. More, and the list is read again. */
const MOST_ABOVE = 100;

/** The maximum number of rows that are printed. More, and the browser needs minutes. */
const MOST_PRINTED = 2000;

/** The number of robots in the view `counted`, from the service; undefined until it has answered. */
let total;

/** The last view that was opened. */
let counted = EVERYTHING;

/** The view whose number of robots was announced to screen readers. */
let announced;

/** The ids of the robots that others have added, which wait until the user wants to see them, and the button for that. */
const expected = new Set();
const showing = button("", showNews, { hidden: true });

/** Changes of others since the request that is under way: its response may be older. */
const missed = [];

let pages;
let notify;

/** Starts the list. Of `listeners`, `changed` is called with "opened", "changed", "followed" (the changes of others) or
    "grown", and with whether there are robots; `edit` with a robot to edit. */
export function startList(listeners) {
  notify = listeners;
  pages = new Pages(rowOf, update, failed);
  startColumns(redraw);
  onDefined(showHeadings);
  startGrid({ robotOf: (row) => pages.robot(row.dataset.id), stored: showSaved });
  startSelection({ reload: reopen, focus: emptyFocus, hasMore: (size) => size < (total ?? (pages.isWhole ? pages.count : Infinity)) });
  byId("news").append(showing);
  onChanges(follow);
  // A card opens its record.
  byId("table").addEventListener("click", ({ target }) => {
    if (NARROW.matches && !target.closest("a, button, input, .editing")) target.closest("tr")?.querySelector(".of-name a")?.click();
  });
  // Other widths, or a card for each robot.
  NARROW.addEventListener("change", layOut);
}

function showHeadings() {
  byId("headings").replaceChildren(headings());
  markOrder(pages.view.sort);
}

function redraw() {
  CellEditing.leaveAll();
  keepFocus(() => {
    showHeadings();
    pages.redraw();
  });
  layOut();
  showSelection();
}

/** Shows columns that have a value now, unless that would disturb an input. */
function showFilled(robots) {
  if (noteValues(robots) && !byId("table").querySelector(".editing")) redraw();
}

/** Draws headings or rows anew. The focus stays at its place. */
function keepFocus(change) {
  const focused = document.activeElement;
  const row = focused.closest("#table tr");
  const key = focused.closest("[data-key]")?.dataset.key;
  const { action } = focused.dataset;
  change();
  if (!row) return;
  if (focused.isConnected) return focused.focus({ preventScroll: true });
  const parent = row.dataset.id ? pages.row(row.dataset.id) : byId("headings");
  const place = parent?.querySelector(action ? `[data-action="${action}"]` : `[data-key="${key}"]`);
  const target = focused.matches("td, [data-action]") ? place : place?.querySelector("a, button");
  target?.focus({ preventScroll: true });
}

/** Shows the same robots with the columns of another view. */
export function arrange(view) {
  if (announced === pages.view) announced = view;
  pages.view = view;
  redraw();
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

/** Prints the rows of the view, as far as they are not too many. */
export async function printList() {
  announce("Reading the rows…");
  await pages.openWhole(MOST_PRINTED);
  print();
}

/** Shows how many robots the view has; undefined if that cannot be known. */
export function showTotal(count) {
  total = count;
  showCount();
  announceCount();
}

/** Shows a robot that was just added. Returns false if it is shown already. */
export function showAdded(robot) {
  if (pages.has(robot.id)) return false;
  showFilled([robot]);
  pages.addAbove(robot);
  update("changed");
  return true;
}

/** The id of the robot before or after another one in the list; undefined if it is not there. */
export function neighbour(id, step) {
  return pages.neighbour(id, step)?.id;
}

function rowOf(robot) {
  expected.delete(robot.id);
  const row = shownRow(robot, actions);
  CellEditing.resume(row, robot);
  return row;
}

function update(what) {
  if (what === "waiting") {
    byId("count").textContent = "The server is busy…";
    return announce("The server is busy. The list follows.");
  }
  const isRead = !["changed", "followed"].includes(what);
  if (isRead) show(byId("refused"), false);
  if (what === "opening") {
    if (!isSameFilter(pages.view, counted)) clearSelection();
    expected.clear();
    CellEditing.leaveAll();
    return keepFocus(showHeadings);
  }
  if (isRead) for (const change of missed.splice(0)) followOne(change, true);
  const { view, isWhole, size } = pages;
  show(byId("table"), size > 0);
  show(byId("end"), isWhole && size > 20);
  if (pages.count === 0 && isFiltered(view)) showNone(view);
  else hide(byId("none"));
  if (what === "opened") {
    // In another order, it has the same number.
    if (isWhole || !isSameFilter(view, counted)) total = undefined;
    counted = view;
  }
  if (what === "changed" && isWhole) total = undefined;
  showCount();
  drawNews();
  showSelection();
  if (isWhole) announceCount();
  notify.changed(what, size > 0 || !isWhole || isFiltered(view));
  // Now the table can be seen.
  if (what === "opened" && noteValues(pages.robots)) redraw();
  else if (what === "opened") layOut();
  if (what === "changed") pages.refresh();
}

/** Shows that no robot is found. Buttons stay, since one may have the focus. */
function showNone(view) {
  const words = element("div", {}, ...nothingFound(view));
  if (byId("none").textContent !== words.textContent) byId("none").replaceChildren(words);
  show(byId("none"));
}

/** Shows the number of robots. That of a list without more pages is known before the service counts.
    While it counts a longer one after a change, the old number is shown. */
function showCount() {
  byId("count").textContent = countInWords();
  const rows = total ?? (pages.isWhole ? pages.count : undefined);
  const { length } = pages.robots;
  const part = pages.size > length ? "" : "the first ";
  byId("count").dataset.printed = length < (rows ?? Infinity) ? `, of which ${part}${length.toLocaleString("en")} are here` : "";
  byId("table").setAttribute("aria-rowcount", rows === undefined ? -1 : rows + 1);
}

function countInWords() {
  if (total === undefined && !pages.isWhole) return `more than ${inNumber(pages.count)}`;
  return inNumber(total ?? pages.count);
}

/** Announces the number of robots of a view once, not when it is loaded again. */
function announceCount() {
  if (pages.view === announced) return;
  announced = pages.view;
  const found = isFiltered(pages.view) ? `${countInWords()} found` : countInWords();
  announce(`${found}${orderInWords(pages.view.sort)}`);
}

function failed(error, again) {
  byId("count").textContent = total === undefined ? "" : countInWords();
  const showError = ({ isTransient, messages }) => {
    if (isTransient) return;
    byId("refused").replaceChildren(element("p", {}, ...messages), button("Try again", again));
    show(byId("refused"));
  };
  handleError(error, { again, failed: showError, back: again });
}

/** Follows changes. Those of others are marked, and move no rows; robots that others have added wait. */
function follow(changes, isOfOthers) {
  // The page of an empty catalogue, or of a filter that nothing meets, has no place for them.
  const isFound = ({ robot }) => robot && includes(pages.view, robot);
  if (isOfOthers && pages.isBusy) missed.push(...changes);
  else if (pages.size === 0 && changes.some(isFound)) return reopen();
  else if (!isOfOthers && changes.filter(isBack).length > MOST_ABOVE) return reopen();
  for (const change of changes) followOne(change, isOfOthers);
  update(isOfOthers ? "followed" : "changed");
}

/** Whether the user has brought back a robot of the list. */
const isBack = ({ robot, action }) => robot && (action === undefined || (action === "added" && includes(pages.view, robot)));

function followOne({ id, robot, revision, action }, isOfOthers) {
  const known = pages.robot(id);
  // The own changes are reported again.
  if (known && revision && BigInt(known.revision) >= BigInt(revision)) return;
  if (!robot) {
    expected.delete(id);
    if (known && isOfOthers) pages.row(id)?.classList.add("gone");
    else if (known) removeRow(known);
  } else if (known) showRow(robot, isOfOthers ? "theirs" : "fresh");
  else if (!isOfOthers && isBack({ robot, action })) showRestored(robot);
  else if (!isOfOthers) pages.place(robot)?.classList.add("fresh");
  else if (includes(pages.view, robot) && (action === "added" || pages.isWhole)) expected.add(id);
}

/** Shows how many robots wait. The button stays, since it may have the focus. */
function drawNews() {
  const { size } = expected;
  showing.textContent = size > 0 ? `${size.toLocaleString("en")} new: show` : "";
  if (size > 0) show(showing);
  else hide(showing);
}

/** Shows the robots that others have added, as they are now, above the list. */
async function showNews() {
  byId("scroller").scrollTo(0, 0);
  byId("robots").focus({ preventScroll: true });
  const ids = [...expected];
  if (ids.length > MOST_ABOVE) return reopen();
  try {
    const robots = await current(ids.map((id) => ({ id })));
    const isShown = (robot) => expected.has(robot.id) && includes(pages.view, robot);
    for (const robot of robots.filter(isShown)) pages.addAbove(robot);
    for (const id of ids) expected.delete(id);
    update("changed");
  } catch (error) {
    failed(error, showNews);
  }
}

/** Shows another version of a robot. */
export function showSaved(robot) {
  if (!pages.has(robot.id)) return;
  showRow(robot, "fresh");
  update("changed");
}

/** Replaces the row of a robot, and marks the new one, unless one of its cells is being edited. */
function showRow(robot, mark) {
  const old = pages.row(robot.id);
  if (!old) return;
  if (old.querySelector(".editing")) return showBeside(robot, old);
  const row = rowOf(robot);
  row.classList.add(mark);
  row.classList.toggle("open", old.classList.contains("open"));
  keepFocus(() => {
    pages.change(robot, row);
    old.replaceWith(row);
  });
  showFilled([robot]);
}

/** Shows the values of a robot around the cells that are being edited. */
function showBeside(robot, row) {
  pages.change(robot, row);
  const fresh = shownRow(robot, actions);
  for (const cell of [...row.cells].filter(({ dataset, classList }) => dataset.key && !classList.contains("editing"))) {
    cell.replaceChildren(...fresh.querySelector(`[data-key="${cell.dataset.key}"]`).childNodes);
  }
}

/** Moves the focus to a robot, or to the list. */
export function focusRobot(id) {
  const target = pages.row(id)?.querySelector(".of-name a") ?? byId("robots");
  target.focus();
}

/** Shows why a robot was not deleted, and the version of another user. */
async function notErased(error, robot) {
  const isOther = [404, 412].includes(error.status);
  const [now] = isOther ? await current([robot]).catch(() => [robot]) : [robot];
  if (!now) removeRow(robot);
  else if (now !== robot) showRow(now, "fresh");
  update("changed");
  const unknown = error.isUnknown ? ["Whether it was deleted is unknown. Try again."] : [];
  const why = `. ${sentences([...error.messages, ...unknown])}`;
  const other = ": another user has just changed it. Look, and try again.";
  if (!now) notice(robot, " was deleted by another user.");
  else notice(robot, ` was not deleted${isOther ? other : why}`);
}

/** Removes a deleted robot and its row. The focus moves to the next row. */
function removeRow(robot) {
  const row = pages.row(robot.id);
  const rows = [...byId("table").querySelectorAll("tbody tr")];
  const at = rows.indexOf(row);
  const hadFocus = row && hasFocus(row);
  const next = rows[at + 1] ?? rows[at - 1];
  deselect(robot.id);
  pages.remove(robot.id);
  if (hadFocus) (next?.querySelector("[data-action=delete]") ?? emptyFocus()).focus();
}

/** The element to focus when no robot has the focus. */
function emptyFocus() {
  if (byId("start").hidden) return byId("robots");
  return byId("start").querySelector("button") ?? byId("adding-open");
}

/** Shows a robot that the user has brought back. */
function showRestored(robot) {
  if (!pages.place(robot)) pages.addAbove(robot);
  pages.row(robot.id).classList.add("fresh");
}
