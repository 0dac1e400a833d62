// What was changed last in the catalogue, by everybody: a panel with changes that can be undone.

import { handleError } from "./action.js";
import { changesAfter } from "./api.js";
import { onChanges } from "./changes.js";
import { button, byId, element, redraw, shownName } from "./elements.js";
import { changedValue } from "./history.js";
import { startPanel } from "./panels.js";
import { differing, inNumber } from "./robot.js";
import { addressOf } from "./row.js";
import { authorAndTime } from "./times.js";
import { undoing } from "./undo.js";

/** The number of changes that are read first. More, and the panel opens later. */
const FIRST = 300;

/** How many times as many are read when the user wants earlier ones, or the first ones are parts of one change. */
const FACTOR = 4;

/** The number of changes up to which the beginning of a large change is looked for. */
const MOST = 100_000;

/** The number of changes as people see them from which on no others are read before the user wants that. */
const FEW = 5;

/** Milliseconds between changes of a user that are shown, and undone, as one: those of an import, or of a selection. */
const PAUSE = 1000;

/** The maximum number of robots of a group that are named. */
const NAMED = 3;

/** The maximum number of fields of a group whose values are shown. */
const FIELDS = 5;

let count = FIRST;

/** The changes, the latest first; whether there may be earlier ones; and what a position begins with. */
let changes = [];
let hasEarlier = false;
let identity = "";

/** The read that is under way, and whether another one has to follow. */
let reading;
let isOld = false;

/** Starts the panel. */
export function startRecent() {
  startPanel("recent", () => {
    count = FIRST;
    byId("recent-day").value = "";
    refresh();
    return byId("recent-heading");
  });
  byId("recent-day").addEventListener("change", refresh);
  byId("recent-by").addEventListener("change", show);
  onChanges(() => byId("recent").hidden || refresh());
}

/** Reads and shows the changes, once more if there are others meanwhile. */
async function refresh() {
  isOld = true;
  if (reading) return;
  const failed = ({ status, messages }) => {
    byId("recent-changes").replaceChildren();
    byId("recent-words").textContent = status === 501 ? "This catalogue keeps no history." : messages.join(" ");
  };
  while (isOld && !byId("recent").hidden) {
    isOld = false;
    byId("recent-words").textContent ||= "Reading…";
    reading = read().catch((error) => handleError(error, { again: refresh, failed, back: refresh }));
    await reading;
  }
  reading = undefined;
}

async function read() {
  const found = [];
  const day = byId("recent-day").value;
  const [start, end] = day ? ["00:00", "24:00"].map((time) => new Date(`${day}T${time}`)) : [];
  let [after, isLast] = [start?.toISOString() ?? `last-${count}`, false];
  while (!isLast && found.length < MOST) {
    const page = await changesAfter(after, true);
    const ofDay = end ? page.changes.filter(({ at }) => new Date(at) < end) : page.changes;
    found.push(...ofDay.map(shortened));
    [after, isLast] = [page.next, page.isLast || ofDay.length < page.changes.length];
  }
  const [now, revision] = after.split("-");
  found.reverse();
  const isShown = byId("recent-changes").hasChildNodes() && found.length === changes.length && found[0]?.revision === changes[0]?.revision;
  [identity, changes] = [now, found];
  hasEarlier = !start && BigInt(revision) > count && found.length >= count;
  const parts = groups(changes);
  if (hasEarlier && count < MOST && (parts.length < FEW || parts.at(-1).length > count / 2)) {
    if (count === FIRST) draw(parts);
    count *= FACTOR;
    return read();
  }
  if (!isShown || count > FIRST) show();
  else byId("recent-words").textContent = "";
}

/** A change, with the name of the robot and the fields of which it has changed the values, without the others. */
function shortened({ robot, before, ...change }) {
  const members = robot && before ? differing(before, robot) : [];
  const values = members.map((member) => ({ member, was: before[member.key], is: robot[member.key] }));
  return { ...change, name: (robot ?? before)?.name, values };
}

/** Shows the changes of the chosen author. */
function show() {
  const by = byId("recent-by");
  const valueOf = (change) => (change.by === null ? "" : `=${change.by}`);
  const options = new Map([["*", "everybody"], ...changes.map((change) => [valueOf(change), change.by ?? "unknown"])]);
  const chosen = options.has(by.value) ? by.value : "*";
  by.replaceChildren(...[...options].map(([value, text]) => element("option", { value, selected: value === chosen }, text)));
  draw(groups(chosen === "*" ? changes : changes.filter((change) => valueOf(change) === chosen)));
}

/** The changes of a user one shortly after the other, of different robots, the latest first. */
function groups(some) {
  const all = [];
  let ids;
  for (const change of some.toReversed()) {
    const last = all.at(-1)?.at(-1);
    const isSame = last && last.by === change.by && Date.parse(change.at) - Date.parse(last.at) <= PAUSE && !ids.has(change.id);
    if (isSame) all.at(-1).push(change);
    else all.push([change]);
    ids = isSame ? ids.add(change.id) : new Set([change.id]);
  }
  return all.map((group) => group.reverse()).reverse();
}

function draw(all) {
  byId("recent-words").textContent = all.length === 0 ? "Nothing was changed, or it is not kept any more." : "";
  const items = all.map((group, index) => item(group, hasEarlier && index === all.length - 1));
  const more = hasEarlier ? [button("Earlier changes", earlier)] : [];
  const labelOf = (control) => control.ariaLabel ?? control.textContent;
  const hadFocus = redraw(byId("recent-changes"), labelOf, element("ol", {}, ...items), ...more);
  if (hadFocus && document.activeElement === document.body) byId("recent-heading").focus();
}

function earlier() {
  count *= FACTOR;
  refresh();
}

/** A group of changes. If it may have begun earlier, it cannot be undone as a whole. */
function item(group, isPart) {
  const [latest, first] = [group[0], group.at(-1)];
  const parts = [...authorAndTime(latest), element("div", {}, ...words(group, linkTo)), ...changedValues(group)];
  if (!isPart) {
    const between = { after: `${identity}-${BigInt(first.revision) - 1n}`, until: `${identity}-${latest.revision}` };
    const named = ({ id, name }) => ({ id, name });
    const entry = { words: words(group, named), ...between, by: latest.by };
    parts.push(undoing(entry, group.length));
  } else if (group.length > 1) {
    parts.push(element("div", { class: "hint" }, "Earlier changes may belong to it."));
  }
  return element("li", {}, ...parts);
}

/** The values that changes of robots have changed: of each field, the first one, and how many others there are. */
function changedValues(group) {
  const changed = group.filter(({ action }) => action === "changed");
  const fields = new Map();
  for (const value of changed.flatMap(({ values }) => values)) {
    if (!fields.has(value.member)) fields.set(value.member, []);
    fields.get(value.member).push(value);
  }
  const lines = [...fields].slice(0, FIELDS).map(([member, values]) => {
    const [was, is] = ["was", "is"].map((when) => new Set(values.map((value) => value[when])));
    const of = values.length === group.length ? "" : ` (${inNumber(values.length)})`;
    const [from, to] = ["was", "is"].map((when) => ({ [member.key]: values[0][when] }));
    const isFromMany = is.size === 1 && was.size > 1;
    const line = changedValue(member, isFromMany ? undefined : from, to);
    if (isFromMany) line.append(` from ${was.size.toLocaleString("en")} values`);
    if (is.size > 1) line.append(`, and ${(is.size - 1).toLocaleString("en")} other new values`);
    line.append(of);
    return line;
  });
  if (fields.size > FIELDS) lines.push(element("div", {}, `and ${fields.size - FIELDS} other fields`));
  if (changed.length > 0 && fields.size === 0) lines.push(element("div", { class: "hint" }, "Perhaps values of a removed field: to get them back, add it again with the same name, and undo this."));
  return lines;
}

/** What happened, with some of the robots. */
function words(group, named) {
  const kinds = ["added", "restored", "changed", "deleted"].map((verb) => [verb, group.filter(({ action }) => action === verb).length]);
  const said = kinds.filter(([, count]) => count > 0).map(([verb, count]) => (group.length === 1 ? verb : `${verb} ${inNumber(count)}`)).join(", ");
  const some = group.slice(0, NAMED).flatMap((change, index) => [index > 0 ? ", " : " ", named(change)]);
  const more = group.length > NAMED ? ", …" : "";
  return [said.charAt(0).toUpperCase() + said.slice(1) + (group.length === 1 ? "" : ":"), ...some, more];
}

const linkTo = (change) => element("a", { href: addressOf(change) }, shownName(change.name));
