// The robots that are selected in the list, and the bar with what can be done with all of them.

import { action } from "./action.js";
import { currentView } from "./address.js";
import { announce } from "./announcements.js";
import { LIMIT, START, changeAll, current, find, removeAll } from "./api.js";
import { reportChanges } from "./changes.js";
import { byId, element, onSubmit, problems, show, shownName, spokenName } from "./elements.js";
import { Field } from "./fields.js";
import { showPanel, startPanel } from "./panels.js";
import { MANY, MEMBERS, ONE, inLabels, inNumber, member, onDefined } from "./robot.js";
import { did, reportSince } from "./undo.js";

/** The maximum number of robots that are selected: so many changes are undone at once. */
const MOST = 10_000;

/** The selected robots by their ids, as they were read last. */
const selected = new Map();

/** The robot of each check box. */
const robots = new WeakMap();

/** The check box that was clicked last, where a range starts. */
let anchor;

/** The check box of all robots in the document. */
export const allBox = element("input", {
  type: "checkbox",
  "aria-label": "Select all on this page",
  onclick: () => select(boxes(), allBox.checked),
});

/** The input of the value for all. */
let field;

let listeners;

/** Starts the bar. Of `notified`, `reload` is called if robots may have changed, `focus` returns the element to focus
    when no robot is selected, and `hasMore` returns whether the list has more robots than a number. */
export function startSelection(notified) {
  listeners = notified;
  startPanel("changing", () => byId("changing-member"), chooseNothing);
  startPanel("erasing", () => byId("erasing").querySelector("button"));
  byId("selection-clear").addEventListener("click", () => {
    clearSelection();
    listeners.focus().focus({ preventScroll: true });
  });
  byId("selection-all").addEventListener("click", selectList);
  byId("changing-member").addEventListener("change", showField);
  onSubmit(byId("changing"), change);
  onSubmit(byId("erasing"), () => run("deleted", removeAll));
  byId("table").addEventListener("keydown", (event) => {
    if (event.target.dataset.action !== "select" || selected.size === 0) return;
    const isFor = { Delete: "erasing-open", Enter: "changing-open" }[event.key];
    if (!isFor) return;
    event.preventDefault();
    byId(isFor).focus();
  });
  onDefined(() => {
    // A value that no two robots have cannot be set for several.
    const options = MEMBERS.filter(({ isUnique }) => !isUnique);
    const shown = options.map(({ key, title }) => element("option", { value: key, selected: key === field?.key }, title));
    byId("changing-member").replaceChildren(element("option", { value: "" }, "Choose…"), ...shown);
    show(byId("changing-open"), options.length > 0);
    if (options.length > 0) showField();
    else showPanel("changing", false);
  });
}

/** The check box of a robot. */
export function selectBox(robot) {
  const box = element("input", {
    type: "checkbox",
    "data-action": "select",
    "aria-label": `Select ${spokenName(robot.name)}`,
    checked: selected.has(robot.id),
    onclick: (event) => {
      const shown = boxes();
      const [from, to] = [shown.indexOf(anchor), shown.indexOf(box)].sort((one, other) => one - other);
      const isRange = event.shiftKey && from !== -1;
      anchor = box;
      select(isRange ? shown.slice(from, to + 1) : [box], box.checked);
    },
  });
  robots.set(box, robot);
  if (selected.has(robot.id)) selected.set(robot.id, robot);
  return box;
}

/** Shows how many robots are selected. */
export function showSelection() {
  const { size } = selected;
  show(byId("selection"), size > 0 || byId("selection-result").childElementCount > 0);
  byId("selection-count").textContent = `${inNumber(size)} selected`;
  show(byId("selection-actions"), size > 0);
  if (size === 0) for (const id of ["changing", "erasing"]) showPanel(id, false);
  byId("changing").querySelector("[type=submit]").textContent = `Change ${inNumber(size)}`;
  byId("erasing-words").textContent = `Delete ${inNumber(size)}?`;
  byId("erasing").querySelector("[type=submit]").textContent = `Delete ${inNumber(size)}`;
  const shown = boxes();
  const checked = shown.filter((box) => box.checked).length;
  allBox.checked = checked > 0 && checked === shown.length;
  allBox.indeterminate = checked > 0 && checked < shown.length;
  show(byId("selection-all"), allBox.checked && size < MOST && listeners.hasMore(size));
}

/** Selects the robots of the list, also those that are not shown, as far as they can be changed together. */
const selectList = action({
  async perform() {
    let end = START;
    const found = [];
    while (end && found.length < MOST) {
      const page = await find(currentView(), end, LIMIT);
      found.push(...page.robots);
      ({ end } = page);
    }
    for (const robot of found) selected.set(robot.id, robot);
    for (const box of boxes()) box.checked = selected.has(robots.get(box).id);
    showSelection();
    byId("selection-count").focus();
    const words = end ? `The first ${inNumber(found.length)} are selected: no more are changed at a time.` : byId("selection-count").textContent;
    announce(words);
    if (end) byId("selection-result").replaceChildren(words);
  },
  failed: ({ messages }) => showOutcome("The list was not selected.", messages.map((message) => [message])),
});

/** Selects no robot. */
export function clearSelection() {
  selected.clear();
  for (const box of boxes()) box.checked = false;
  chooseNothing();
  byId("selection-result").replaceChildren();
  showSelection();
}

/** No longer selects a robot, which was changed or deleted. */
export function deselect(id) {
  if (selected.delete(id)) showSelection();
}

function boxes() {
  return [...byId("table").querySelectorAll("[data-action=select]")];
}

function select(some, isSelected) {
  for (const box of some) {
    const robot = robots.get(box);
    box.checked = isSelected;
    if (isSelected) selected.set(robot.id, robot);
    else selected.delete(robot.id);
  }
  byId("selection-result").replaceChildren();
  showSelection();
  announce(byId("selection-count").textContent);
}

function chooseNothing() {
  byId("changing-member").value = "";
  showField();
}

/** Shows the input of the chosen field. What was typed for the same field stays, and the focus. */
function showField() {
  const { value: key } = byId("changing-member");
  if (key === "") {
    field = undefined;
    return byId("changing-value").replaceChildren();
  }
  const before = field?.key === key ? field : undefined;
  const hadFocus = before?.box === document.activeElement;
  field = new Field(member(key), "", "shown", before?.isChanged ? before.value : undefined);
  byId("changing-value").replaceChildren(field.element);
  if (hadFocus) field.box.focus();
}

function change() {
  if (!field) return byId("changing-member").focus();
  const { key, title, isRequired } = member(field.key);
  if (isRequired && field.value === "") {
    field.setError(`${title} is required.`);
    return field.box.focus();
  }
  const values = { [key]: field.value };
  run("changed", (some) => changeAll(some, values));
}

/** Does something with all selected robots that were confirmed, or with none if other users have changed some. */
const run = action({
  input: (verb, change) => [verb, change, [...selected.values()]],
  async perform(verb, change, some) {
    const words = `No ${ONE} was ${verb}.`;
    if (some.length > MOST) return showOutcome(words, [[`Select at most ${inNumber(MOST)}.`]]);
    const { changed, now } = await refresh(some);
    if (changed.length > 0) return showOutcome(`${words} Look, and try again.`, changed);
    const { ids, changes, error } = await change(now);
    const left = some.filter(({ id }) => !ids.includes(id));
    clearSelection();
    const done = `${verb === "deleted" ? "Deleted" : "Changed"} ${inNumber(ids.length)}`;
    if (changes) did([done], changes);
    if (verb === "deleted") reportChanges(ids.map((id) => ({ id, robot: null })));
    else if (changes) await reportSince(changes.after).catch(listeners.reload);
    const kept = left.length > 0 ? (await refresh(left)).changed : [];
    showOutcome(`${done}.`, error ? [...kept, ["The others may not be changed. ", ...error.messages]] : kept);
  },
  failed({ isUnknown, messages, keys }, verb) {
    const words = isUnknown ? `Whether the ${MANY} were ${verb} is unknown.` : `No ${ONE} was ${verb}.`;
    showOutcome(words, messages.map((message, index) => [inLabels(message, keys?.[index])]));
  },
  back: (verb, change, some) => refresh(some).catch(listeners.reload),
});

/** Shows robots as they are stored now. Returns them, and what other users have changed. */
async function refresh(some) {
  const now = await current(some);
  const found = new Map(now.map((robot) => [robot.id, robot]));
  const others = some.filter(({ id, revision }) => found.get(id)?.revision !== revision);
  for (const { id } of others) {
    if (!found.has(id)) selected.delete(id);
    else if (selected.has(id)) selected.set(id, found.get(id));
  }
  if (others.length > 0) reportChanges(others.map(({ id }) => ({ id, robot: found.get(id) ?? null })));
  const changed = others.map((robot) => [shownName(robot.name), ` was ${found.has(robot.id) ? "changed" : "deleted"} by another user.`]);
  return { changed, now };
}

function showOutcome(words, messages = []) {
  for (const id of ["changing", "erasing"]) showPanel(id, false);
  const items = messages.map((message) => element("li", {}, ...message));
  const parts = items.length > 0 ? [element("h3", {}, words), problems(items)] : [];
  byId("selection-result").replaceChildren(...parts);
  showSelection();
  (items.length > 0 ? byId("selection-count") : listeners.focus()).focus({ preventScroll: true });
  announce(words);
}
