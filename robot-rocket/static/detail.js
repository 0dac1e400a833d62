// The page of one robot, at `#/robots/17`: all its members, to read and to edit.

import { announce } from "./announcements.js";
import { get } from "./api.js";
import { whenBack } from "./connection.js";
import { Editing } from "./editing.js";
import { byId, element, show, shownName, spokenName } from "./elements.js";
import { MANY, MEMBERS, TITLE, onDefined } from "./robot.js";
import { addressOf, editor, mark, valueOf } from "./row.js";
import { requestToken } from "./token.js";

let listeners;

/** The id of the robot that is shown, if any, and the robot as soon as it was read. */
let shownId;
let shown;

let editing;

/** The id of the robot that is to be edited when it is there. */
let editedId;

/** What is restored when the user leaves. */
let before = { title: "", scroll: 0, isOpenedHere: false };

/** Starts listening. `saved` is called with a robot that was saved, `left` with the id of a robot
    whose page the user leaves, and `reload` if others may have changed. */
export function startDetail(all) {
  listeners = all;
  addEventListener("hashchange", () => follow(true));
  byId("robot").addEventListener("keydown", (event) => {
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
  show(byId("robot"), id !== undefined);
  byId("robot").replaceChildren();
  if (id !== undefined) return load(id);
  document.title = before.title;
  scrollTo(0, before.scroll);
  listeners.left(left);
}

/** Shows the list again. */
function leave() {
  if (before.isOpenedHere) return history.back();
  history.replaceState(null, "", location.pathname + location.search);
  follow(false);
}

async function load(id) {
  try {
    const robot = await get(id);
    if (id !== shownId) return;
    showRobot(robot);
  } catch (error) {
    if (id !== shownId) return;
    if (error.needsToken) return requestToken(error, () => load(id));
    showMissing(error.messages.join(" "));
    if (error.isTransient) whenBack(error, () => load(id));
  }
}

function showMissing(text) {
  const heading = element("h2", { id: "robot-heading", tabindex: "-1" }, text);
  byId("robot").replaceChildren(heading, element("div", { class: "buttons" }, back()));
  heading.focus();
}

function back() {
  return element("button", { type: "button", onclick: leave }, `All ${MANY}`);
}

function showRobot(robot) {
  shown = robot;
  editing = undefined;
  document.title = `${robot.name} · ${TITLE}`;
  const heading = element("h2", { id: "robot-heading", tabindex: "-1" }, shownName(robot.name));
  const button = element("button", { type: "button", class: "main", onclick: edit }, "Edit");
  const buttons = element("div", { class: "buttons" }, button, back());
  const rows = MEMBERS.filter(({ key }) => key !== "name").flatMap((member) => [
    element("dt", {}, member.title),
    element("dd", { "data-member": member.key }, valueIn(robot, member)),
  ]);
  const id = [element("dt", {}, "Id"), element("dd", {}, robot.id)];
  byId("robot").replaceChildren(heading, element("dl", {}, ...id, ...rows), buttons);
  if (editedId === robot.id) edit();
  else heading.focus();
  editedId = undefined;
}

function valueIn(robot, { key, input, choices, isOwn }) {
  const value = robot[key];
  if (value === "") return element("span", { class: "hint" }, "–");
  return input === "choice" && !isOwn ? mark(value, choices) : valueOf(input, value);
}

function edit() {
  const finish = { end, giveUp, addAgain };
  editing = new Editing(shown, finish, (robot, fields, actions) => {
    const name = `Editing ${spokenName(robot.name)}`;
    const shownEditor = element("div", {}, editor(fields, actions));
    return element("div", { role: "group", "aria-label": name }, shownEditor);
  });
  byId("robot").replaceChildren(byId("robot").firstChild, editing.row);
  editing.start();
}

function end(robot, isSaved) {
  showRobot(robot);
  if (!isSaved) return;
  listeners.saved(robot);
  announce(`Saved ${spokenName(robot.name)}.`);
}

/** The robot was deleted by another user. */
function giveUp() {
  editing = undefined;
  listeners.reload();
  leave();
}

/** The robot was added again, with another id. */
function addAgain(robot) {
  editing = undefined;
  listeners.reload();
  location.replace(addressOf(robot));
}
