// The page of one robot, at `#/robots/17`: all its members, to read and to edit.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { get } from "./api.js";
import { Editing } from "./editing.js";
import { button, buttons, byId, element, show, shownName, spokenName } from "./elements.js";
import { focusRobot, reopen, showSaved } from "./list.js";
import { MANY, MEMBERS, TITLE, onDefined } from "./robot.js";
import { addressOf, editor, valueOf } from "./row.js";

/** The id of the robot that is shown, if any, and the robot as soon as it was read. */
let shownId;
let shown;

let editing;

/** The id of the robot that is to be edited when it is there. */
let editedId;

/** What is restored when the user leaves. */
let before = { title: "", scroll: 0, isOpenedHere: false };

/** Starts listening. */
export function startDetail() {
  addEventListener("hashchange", () => follow(true));
  byId("record").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !editing) leave();
  });
  onDefined(() => shown && !editing && load(shown.id));
  follow(false);
}

/** Shows the page of a robot, to edit it. */
export function editOnOwnPage(robot) {
  editedId = robot.id;
  location.hash = addressOf(robot);
}

/** Whether something was typed and not saved. */
export function isDetailChanged() {
  return editing?.isChanged === true;
}

/** Shows the robot in the address, or the list. */
function follow(isOpenedHere) {
  const id = /^#\/robots\/([1-9]\d*)$/.exec(location.hash)?.[1];
  if (id === shownId) return;
  if (isDetailChanged()) {
    location.hash = addressOf(shown);
    announce("Save or cancel the changes first.");
    return;
  }
  if (shownId === undefined) before = { title: document.title, scroll: scrollY, isOpenedHere };
  const left = shownId;
  [shownId, shown, editing] = [id, undefined, undefined];
  document.body.classList.toggle("single", id !== undefined);
  show(byId("record"), id !== undefined);
  byId("record").replaceChildren();
  if (id !== undefined) return load(id);
  document.title = before.title;
  scrollTo(0, before.scroll);
  focusRobot(left);
}

/** Shows the list again. */
function leave() {
  if (before.isOpenedHere) return history.back();
  history.replaceState(null, "", location.pathname + location.search);
  follow(false);
}

const load = action({
  async perform(id) {
    const robot = await get(id);
    if (id === shownId) showRobot(robot);
  },
  failed: showMissing,
  back: (id) => load(id),
  isWanted: (id) => id === shownId,
  key: (id) => id,
});

function showMissing({ messages }) {
  showPage(messages.join(" "), [], []);
}

/** Shows a page with a heading, parts, and buttons before the one that leaves it. */
function showPage(title, parts, actions) {
  const heading = element("h2", { id: "robot-heading", tabindex: "-1" }, title);
  byId("record").replaceChildren(heading, ...parts, buttons(...actions, button(`All ${MANY}`, leave)));
  heading.focus();
}

function showRobot(robot) {
  shown = robot;
  editing = undefined;
  document.title = `${robot.name} · ${TITLE}`;
  const valueIn = (member) =>
    robot[member.key] === "" ? element("span", { class: "hint" }, "–") : valueOf(member, robot[member.key]);
  const rows = MEMBERS.filter(({ key }) => key !== "name").flatMap((member) => [
    element("dt", {}, member.title),
    element("dd", { "data-member": member.key }, valueIn(member)),
  ]);
  const id = [element("dt", {}, "Id"), element("dd", {}, robot.id)];
  const actions = [button("Edit", edit, { class: "main" })];
  showPage(shownName(robot.name), [element("dl", {}, ...id, ...rows)], actions);
  if (editedId === robot.id) edit();
  editedId = undefined;
}

function edit() {
  const finish = { end, giveUp, addAgain };
  editing = new Editing(shown, finish, (robot, fields, actions) => {
    const name = `Editing ${spokenName(robot.name)}`;
    const shownEditor = element("div", {}, editor(fields, actions));
    return element("div", { role: "group", "aria-label": name }, shownEditor);
  });
  byId("record").replaceChildren(byId("record").firstChild, editing.row);
  editing.start();
}

function end(robot, isSaved) {
  showRobot(robot);
  if (isSaved) showSaved(robot);
}

/** The robot was deleted by another user. */
function giveUp() {
  editing = undefined;
  reopen();
  leave();
}

/** The robot was added again, with another id. */
function addAgain(robot) {
  editing = undefined;
  reopen();
  location.replace(addressOf(robot));
}
