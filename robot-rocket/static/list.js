// The list of robots, with actions on each: edit, delete, undo.

import { action, handleError } from "./action.js";
import { announce, notice, offerUndo } from "./announcements.js";
import { add, current, remove } from "./api.js";
import { reserveChart } from "./chart.js";
import { shownColumns } from "./columns.js";
import { Editing } from "./editing.js";
import { button, byId, element, hasFocus, isTyping, show, shownName, spokenName } from "./elements.js";
import { Pages } from "./pages.js";
import { buttonOf, shownRow } from "./row.js";
import { headings, markOrder, orderInWords } from "./sorting.js";
import { ONE, OWN, inNumber, onDefined } from "./robot.js";
import { clearSelection, deselect, showSelection, startSelection } from "./selection.js";
import { EVERYTHING, isFiltered, isSameFilter } from "./view.js";

/** The robots that are being edited, by their ids. Their rows keep the typed text while they are out
    of the document. */
const edited = new Map();

const erase = action({
  async perform(robot) {
    await remove(robot);
    removeRow(robot);
    offerUndo(robot, async () => showRestored(await add(robot)));
  },
  failed: notErased,
  back: reopen,
  key: ({ id }) => id,
});

/** The buttons of each robot: their titles, and what they do with the robot and its row. */
const actions = { edit: ["Edit", edit], delete: ["Delete", erase] };

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
  if (pages.has(robot.id)) return false;
  pages.addAbove(robot);
  update("changed");
  return true;
}

/** Shows edited robots above the list that are not in it: they may have been deleted. */
function keepChanges() {
  for (const { robot, isChanged } of [...edited.values()].reverse()) {
    if (isChanged && !pages.has(robot.id)) pages.addAbove(robot);
  }
}

function rowOf(robot) {
  return edited.get(robot.id)?.row ?? shownRow(robot, actions);
}

function update(what) {
  if (what !== "changed") show(byId("refused"), false);
  if (what === "opening") {
    if (!isSameFilter(pages.view, counted)) clearSelection();
    return;
  }
  if (what === "opened") keepChanges();
  const { view, isWhole, size } = pages;
  show(byId("table"), size > 0);
  show(byId("end"), isWhole && size > 20);
  show(byId("none"), pages.count === 0 && isFiltered(view));
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
  if (what !== "grown" && pages.hasYears) reserveChart();
  notify.changed(what, size > 0 || !isWhole || isFiltered(view));
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
  const rows = total ?? (pages.isWhole ? pages.count : undefined);
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
  const showError = ({ isTransient, messages }) => {
    if (isTransient) return;
    byId("refused").replaceChildren(element("p", {}, ...messages), button("Try again", again));
    show(byId("refused"));
  };
  handleError(error, { again, failed: showError, back: again });
}

function edit(robot, old) {
  if (erase.isBusy(robot)) return;
  if (OWN.length > MAX_IN_ROW) return notify.edit(robot);
  const editing = new Editing(robot, {
    end: (current) => endEditing(editing, current),
    giveUp: () => giveUp(editing),
    addAgain: (current) => showAddedAgain(editing, current),
  });
  edited.set(robot.id, editing);
  pages.change(robot, editing.row);
  old.replaceWith(editing.row);
  editing.start();
}

/** Ends editing and shows the robot. */
function endEditing(editing, robot) {
  const hadFocus = hasFocus(editing.row);
  edited.delete(robot.id);
  showSaved(robot);
  if (hadFocus) buttonOf(pages.row(robot.id), "edit")?.focus();
}

/** Shows another version of a robot, unless the robot is being edited here, too. */
export function showSaved(robot) {
  const old = pages.row(robot.id);
  if (!old || edited.has(robot.id)) return;
  const focused = old.contains(document.activeElement) && document.activeElement.dataset.action;
  const row = shownRow(robot, actions);
  pages.change(robot, row);
  old.replaceWith(row);
  row.classList.add("fresh");
  if (focused) buttonOf(row, focused).focus();
  update("changed");
}

/** Moves the focus to a robot, or to the list. */
export function focusRobot(id) {
  const target = buttonOf(pages.row(id), "edit") ?? byId("robots");
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

/** Shows why a robot was not deleted, and the version of another user. */
async function notErased(error, robot) {
  const isOther = [404, 412].includes(error.status);
  const [now] = isOther ? await current([robot]).catch(() => [robot]) : [robot];
  settle(robot, now);
  const unknown = error.isTransient ? ["Whether it was deleted is unknown. Try again."] : [];
  const why = `. ${[...error.messages, ...unknown].join(" ")}`;
  const other = ": another user has just changed it. Look, and try again.";
  if (!now) notice(robot, " was deleted by another user.");
  else notice(robot, ` was not deleted${isOther ? other : why}`);
}

/** Shows a robot as it is stored now, if it is. */
function settle(robot, now) {
  if (!now) removeRow(robot);
  else if (now !== robot) showSaved(now);
}

/** Removes a robot and its row. */
function forget(robot) {
  deselect(robot.id);
  pages.remove(robot.id);
}

/** Removes the row of a deleted robot. The focus moves to the next row. */
function removeRow(robot) {
  const row = pages.row(robot.id);
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
  const shown = pages.row(robot.id);
  if (!isTyping()) buttonOf(shown, "edit")?.focus();
  shown.classList.add("fresh");
  announce(`${spokenName(robot.name)} was restored.`);
}

/** Moves the focus from robot to robot by the arrow keys. */
function moveFocus(event) {
  const kind = event.target.dataset.action;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!kind || !step) return;
  const same = [...byId("table").querySelectorAll(`[data-action="${kind}"]`)];
  const target = same[same.indexOf(event.target) + step];
  if (!target) return;
  event.preventDefault();
  target.focus();
}
