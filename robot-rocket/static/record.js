// The record of one robot, at `#/robots/17`: all its members, to read and to edit, and its history. It is a panel beside the
// list. A deleted robot is shown as it was, and can be restored.

import { action } from "./action.js";
import { announce, showLast } from "./announcements.js";
import { get } from "./api.js";
import { onChanges } from "./changes.js";
import { Editing, hasDraft } from "./editing.js";
import { button, byId, element, hasFocus, show, shownName } from "./elements.js";
import { History } from "./history.js";
import { eraseRobot, focusRobot, neighbour, reopen, showSaved } from "./list.js";
import { closePanels } from "./panels.js";
import { MANY, MEMBERS, ONE, TITLE, onDefined } from "./robot.js";
import { addressOf, valueOf } from "./row.js";

/** The id of the robot that is shown, if any; the robot as soon as it was read, and null if it is deleted. */
let shownId, shown;

let editing, history;

/** The id of the robot that is to be edited when it is there. */
let editedId;

/** The title of the document without a record. */
let listTitle = "";

/** Starts listening. */
export function startRecord() {
  addEventListener("hashchange", () => follow());
  addEventListener("keydown", ({ key, target, defaultPrevented }) => {
    const isOthers = defaultPrevented || document.querySelector("dialog[open]") || (target.id === "query" && target.value);
    if (key === "Escape" && shownId && !isOthers) leave();
  });
  onDefined(() => {
    if (editing) editing.redefine();
    else rereadRecord();
  });
  onChanges((changes) => {
    const change = changes.findLast(({ id }) => id === shownId);
    if (change) take(change.robot);
  });
  follow();
}

/** Shows a robot, to edit it. */
export function editRobot({ id }) {
  editedId = id;
  if (id === shownId && shown) return edit();
  location.hash = addressOf({ id });
}

/** Reads the robot again, since changes were missed. */
export function rereadRecord() {
  if (shownId) load(shownId);
}

/** Whether something was typed and not saved. */
export function isRecordChanged() {
  return editing?.isChanged === true;
}

/** Shows the robot in the address, or the list alone. */
function follow() {
  const id = /^#\/robots\/([1-9]\d*)$/.exec(location.hash)?.[1];
  if (id === shownId) return;
  if (isRecordChanged()) {
    location.hash = addressOf({ id: shownId });
    editedId = undefined;
    showLast(["Save or cancel the changes first."]);
    announce("Save or cancel the changes first.");
    return;
  }
  if (shownId === undefined) listTitle = document.title;
  const left = shownId;
  [shownId, shown, editing] = [id, undefined, undefined];
  history = id && new History(id);
  show(byId("record"), id !== undefined);
  byId("record").replaceChildren();
  markOpen();
  if (id !== undefined) {
    closePanels();
    return load(id);
  }
  document.title = listTitle;
  focusRobot(left);
}

/** Marks the row of the robot that is shown. */
function markOpen() {
  for (const row of byId("table").querySelectorAll("tr.open")) row.classList.remove("open");
  byId("table").querySelector(`tr[data-id="${shownId}"]`)?.classList.add("open");
}

/** Closes the panel. */
function leave() {
  window.history.replaceState(null, "", location.pathname + location.search);
  follow();
}

/** Shows another robot instead, at the same place in the history of the browser. */
function go(id) {
  if (id) location.replace(addressOf({ id }));
}

const load = action({
  async perform(id) {
    const isMissing = (error) => {
      if (error.status !== 404) throw error;
      return null;
    };
    const robot = await get(id).catch(isMissing);
    if (id === shownId) take(robot, true);
  },
  failed: ({ messages }) => editing || draw(messages.join(" "), []),
  back: (id) => load(id),
  isWanted: (id) => id === shownId,
  key: (id) => id,
});

/** Takes a version of the robot, or null if it is deleted. What is being typed stays. */
function take(robot, isOpened = false) {
  const isSameRevision = robot && shown?.revision === robot.revision;
  // The own changes are reported again.
  if (isSameRevision && !isOpened) return;
  shown = robot;
  history.load();
  if (editing) return robot && editing.renew(robot);
  if (robot) document.title = `${robot.name} · ${TITLE}`;
  if (robot && (editedId === shownId || (isOpened && hasDraft(shownId)))) return edit();
  if (robot) showRobot(robot);
  else showDeleted();
}

/** Shows the panel with a heading, parts and buttons. The focus stays at its place in the panel, or moves to the heading. */
function draw(title, parts, actions = []) {
  const record = byId("record");
  const { activeElement } = document;
  const isFocused = record.childElementCount === 0 || hasFocus(record);
  const heading = element("h2", { id: "robot-heading", tabindex: "-1" }, title);
  const step = (words, sign, by) => {
    const to = neighbour(shownId, by);
    return button(sign, () => go(neighbour(shownId, by)), { class: "quiet", "aria-label": words, disabled: !to });
  };
  const close = button("✕", leave, { class: "quiet", "aria-label": `Close, all ${MANY}` });
  const steps = [step("Previous", "‹", -1), step("Next", "›", 1)];
  const head = element("div", { class: "head" }, ...steps, element("span", { class: "space" }), ...actions, close);
  record.replaceChildren(head, heading, ...parts);
  markOpen();
  if (!isFocused) return;
  const isSame = (each) => !each.disabled && activeElement.matches(".head button") && each.textContent === activeElement.textContent;
  const same = activeElement.isConnected && record.contains(activeElement) ? activeElement : [...head.children].find(isSame);
  (same ?? heading).focus();
}

function showRobot(robot) {
  const actions = [
    button("Edit", edit, { class: "quiet", "data-needs": "write" }),
    button("Delete", () => eraseRobot(shown), { class: "quiet", "data-needs": "write" }),
  ];
  draw(shownName(robot.name), [valuesOf(robot), history.element], actions);
}

/** The members of a robot and their values. */
function valuesOf(robot) {
  const valueIn = (member) =>
    robot[member.key] === "" ? element("span", { class: "hint" }, "–") : valueOf(member, robot[member.key]);
  const rows = MEMBERS.filter(({ key }) => key !== "name").flatMap((member) => [
    element("dt", {}, member.title),
    element("dd", { "data-member": member.key }, valueIn(member)),
  ]);
  return element("dl", {}, ...rows, element("dt", {}, "Id"), element("dd", {}, robot.id));
}

/** Shows a deleted robot as it was, if that is known. */
async function showDeleted() {
  const id = shownId;
  const last = await history.last();
  if (id !== shownId || shown) return;
  const gone = element("p", { class: "error" }, `This ${ONE} is deleted. It was:`);
  const restoring = button("Restore", () => history.restoreLast(), { class: "main", "data-needs": "write" });
  if (last) draw(shownName(last.name), [gone, valuesOf(last), history.element], [restoring]);
  else draw(`Nothing has the id ${id}`, [element("p", {}, "It may have been deleted long ago.")]);
}

function edit() {
  editedId = undefined;
  closePanels();
  if (editing || !shown) return;
  editing = new Editing(shown, {
    saved: (robot) => {
      shown = robot;
      history.load();
      showSaved(robot);
    },
    end: (robot) => {
      editing = undefined;
      if (shown === null) showDeleted();
      else showRobot(Number(shown.revision) >= Number(robot.revision) ? shown : robot);
    },
    giveUp: () => {
      editing = undefined;
      reopen();
      leave();
    },
  });
  draw(shownName(shown.name), [editing.element, history.element]);
  editing.start();
}
