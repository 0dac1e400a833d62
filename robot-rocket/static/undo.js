// What this tab has changed, and how changes are undone: at the foot of the page, the last one.

import { action } from "./action.js";
import { announce, showLast } from "./announcements.js";
import { changesAfter, current, get, historyOf, remove, revertBetween, revertTo } from "./api.js";
import { noteOwn, numberOf, reportChanges } from "./changes.js";
import { button, buttons, byId, element, spokenName, withSeconds } from "./elements.js";
import { inLabels, inNumber, isSame } from "./robot.js";

/** The number of pages of changes that the service surely undoes at once. */
const PAGES = 9;

/** The maximum number of robots that a message names. */
const NAMED = 5;

/** The maximum number of robots whose change is undone without a question. */
const UNASKED = 100;

/** The changes, the last one first: `words` are texts and names; `id` with the revision before (`to`, if there was the
    robot) and after (`from`, if there is); or the positions `after` and `until`. */
let entries = [];

/** Shows a change that the user has made, and offers to undo it: `words` are texts and robots. */
export function did(words, how) {
  const named = words.map((part) => (part.id ? { id: part.id, name: part.name } : part));
  const entry = { words: named, ...how };
  entries = [entry, ...entries];
  if (entry.until) noteOwn(entry);
  showLast([...named, "."], [undoing(entry)]);
}

const textOf = ({ words }) => words.map((part) => (part.id ? spokenName(part.name) : part)).join("");

/** A button that undoes a change of so many robots. It asks first if they are many. */
export function undoing(entry, count = 1) {
  const attributes = { class: "quiet", "aria-label": `Undo: ${textOf(entry)}` };
  if (count <= UNASKED) return button("Undo", () => undo(entry), attributes);
  const ask = () => {
    const confirmed = button("Undo", () => {
      keep();
      undo(entry);
    }, attributes);
    place.replaceChildren(`Undo this for ${inNumber(count)}?`, buttons(confirmed, button("Keep it", keep)));
    confirmed.focus();
  };
  const asking = button("Undo…", ask, attributes);
  const keep = () => {
    place.replaceChildren(asking);
    asking.focus();
  };
  const place = element("div", {}, asking);
  return place;
}

/** Undoes the last change, if there is one. */
export function undoLast() {
  if (entries.length > 0) undo(entries[0]);
  return entries.length > 0;
}

/** The number of changes that are being undone. */
let running = 0;

export const isUndoing = () => running > 0;

const undo = action({
  async perform(entry) {
    if (!byId("undo").querySelector(".offer p")) showLast([""]);
    const end = withSeconds(byId("undo").querySelector(".offer p"), "Undoing…");
    running++;
    const words = await (entry.until ? undoAll(entry) : undoOne(entry)).finally(() => {
      end();
      running--;
    });
    if (words.isLeft) return tell(words);
    entries = entries.flatMap((other) => (other === entry ? (words.rest ?? []) : other));
    tell(words, words.rest ? [undoing(words.rest)] : []);
  },
  failed(error, entry) {
    showLast([`Not undone: ${textOf(entry)}. ${reasonOf(error)}`], [undoing(entry)]);
    announce(byId("undo").textContent);
  },
  key: (entry) => entry,
});

function reasonOf({ isUnknown, messages }) {
  const unknown = isUnknown ? "It may be undone: look before you try again. " : "";
  return unknown + messages.map((message) => inLabels(message)).join(" ");
}

function tell(words, actions) {
  showLast(words, actions);
  announce(words.map((part) => (part.id ? spokenName(part.name) : part)).join(""));
  // The button that was used is gone.
  if (document.activeElement === document.body) byId("undo").querySelector("button").focus();
}

/** Undoes the change of one robot, unless it has other changes after it. */
async function undoOne({ id, to, from, words }) {
  const missing = (error) => {
    if (error.status !== 404) throw error;
  };
  const now = await get(id).catch(missing);
  const robot = words.find((part) => part.id) ?? { id, name: id };
  if (now?.revision !== from && !(await isAsAt(from, id, now))) {
    const how = now ? "was changed since. Its history can restore each version." : "was deleted since.";
    return Object.assign([robot, ` ${how}`], { isLeft: true });
  }
  if (to === undefined) {
    await remove(now);
    reportChanges([{ id, robot: null }]);
    return ["Deleted ", robot, " again."];
  }
  const restored = await revertTo(id, to, now?.revision);
  reportChanges([{ id, robot: restored, revision: restored.revision }]);
  return [restored, from ? " is as it was." : " was restored."];
}

/** Whether a robot has the values of one of its versions: what has followed was undone. */
async function isAsAt(revision, id, now) {
  const { changes } = now ? await historyOf(id) : { changes: [] };
  const then = changes.find((change) => change.revision === revision)?.robot;
  return then && isSame(then, now);
}

/** Undoes the changes between two positions. Robots that have others after them stay as they are. */
async function undoAll(entry) {
  const { count, left, changes, rest, why } = await revertBetween(entry).catch((error) => {
    if (error.status !== 413) throw error;
    return undoParts(entry);
  });
  if (changes) noteOwn(changes);
  if (changes) await reportSince(changes.after).catch(() => {});
  const none = "Nothing was undone: all values are as they were before, or their fields were removed.";
  const isNone = count === "0" && left.length === 0;
  const undone = Object.assign([isNone ? none : `Undone for ${inNumber(Number(count))}.`], { rest });
  if (rest) undone.push(` Not undone for the others. ${why}`);
  const verb = left.length === 1 ? "stays as it is" : "stay as they are";
  if (left.length > 0) undone.push(` ${inNumber(left.length)} changed since ${verb}`, ...(await namesOf(left)));
  return undone;
}

/** The first names of some robots, as far as they exist. */
async function namesOf(some) {
  const named = await current(some.slice(0, NAMED)).catch(() => []);
  const names = named.flatMap((robot, index) => [index > 0 ? ", " : ": ", robot]);
  return [...names, some.length > named.length ? ` and ${some.length - named.length} more.` : "."];
}

/** Undoes more changes than the service undoes at once: in parts, the last one first. If one fails, `rest` has the changes
    that are not undone. */
async function undoParts(entry) {
  const starts = [entry.after];
  const isLater = (position) => numberOf(position) >= numberOf(entry.until);
  for (let [page, next, isLast] = [1, entry.after]; !isLast && !isLater(next); page++) {
    ({ next, isLast } = await changesAfter(next, true));
    if (page % PAGES === 0 && !isLater(next)) starts.push(next);
  }
  const all = { count: 0, left: [], changes: undefined };
  let { until } = entry;
  for (const after of starts.reverse()) {
    try {
      const { count, left, changes } = await revertBetween({ ...entry, after, until });
      all.count += Number(count);
      all.left.push(...left);
      all.changes ??= changes;
      // Later parts begin after all of the changes.
      if (count !== "0" || left.length > 0) until = after;
    } catch (error) {
      if (all.count === 0) throw error;
      return { ...all, rest: { ...entry, until }, why: reasonOf(error) };
    }
  }
  return all;
}

/** Reports what has changed after a position. */
export async function reportSince(position) {
  const { changes, next, isLast } = await changesAfter(position);
  reportChanges(changes);
  if (!isLast) await reportSince(next);
}
