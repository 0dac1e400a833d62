// Pasting a table into cells of the list: a preview, and one request that changes all robots or none.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { upload } from "./api.js";
import { button, buttons, element, problems, spokenName } from "./elements.js";
import { KINDS } from "./kinds.js";
import { MANY, bodyOf, inLabels, inNumber, member } from "./robot.js";
import { valuesTable } from "./row.js";
import { did, reportSince } from "./undo.js";

/** The maximum number of changes that the preview lists. */
const SHOWN = 200;

/** The rows of a table that is separated by tabs and lines; values with these are quoted. */
export function cellsOf(text) {
  const value = /("(?:[^"]|"")*"|[^\t\r\n]*)(\t|\r\n|\n|\r|$)/gy;
  const rows = [[]];
  for (const [, cell, end] of text.replace(/(\r\n|\n|\r)$/, "").matchAll(value)) {
    rows.at(-1).push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "") break;
    if (end !== "\t") rows.push([]);
  }
  return rows;
}

/** A pasted text as a value of a member: choices and truth by their words. */
function valueOf({ input }, text) {
  const trimmed = text.trim();
  if (input === "boolean") return { yes: "true", no: "false" }[trimmed.toLowerCase()] ?? trimmed.toLowerCase();
  return ["text", "long"].includes(input) ? text : trimmed;
}

/** Shows what a table changes in the values of some robots, and does it if the user agrees. Then `done` is called. */
export function paste(table, robots, keys, done) {
  const changes = table.slice(0, robots.length).flatMap((cells, index) => {
    const robot = robots[index];
    return cells.slice(0, keys.length).flatMap((cell, at) => {
      const field = member(keys[at]);
      const value = field && KINDS[field.input].stored(valueOf(field, cell));
      return field && value !== robot[field.key] ? [{ robot, field, value }] : [];
    });
  });
  const left = table.length - robots.length;
  const wide = Math.max(...table.map((cells) => cells.length)) - keys.length;
  const notes = [
    ...(left > 0 ? [`${left.toLocaleString("en")} rows are left out: the list shows no more ${MANY} below.`] : []),
    ...(wide > 0 ? [`${wide.toLocaleString("en")} columns are left out: the table has no more to the right.`] : []),
  ];
  if (changes.length === 0) return announce(["Nothing would change.", ...notes].join(" "));
  return preview(changes, notes, done);
}

/** The changes as a file of records with the ids and revisions of their robots. */
function fileOf(changes) {
  const values = new Map();
  for (const { robot, field, value } of changes) values.set(robot, { ...values.get(robot), [field.key]: value });
  const records = [...values].map(([{ id, revision }, changed]) => `{"id":"${id}","revision":${revision},${bodyOf(changed).slice(1)}`);
  return new Blob([`[${records.join(",")}]`]);
}

/** A message of the service about a record, for people. */
function inPlainWords(message, changes) {
  const [, number, text] = /^(?:record (\d+): )?([^]*)$/.exec(message);
  const robot = [...new Set(changes.map((change) => change.robot))][number - 1];
  if (!robot) return text;
  const name = spokenName(robot.name);
  if (text.includes(" was changed since")) return `${name} was changed by another user. Close this, look, and paste again.`;
  return `${name}: ${inLabels(text)}`;
}

const send = (changes, isDry) => upload(fileOf(changes), { format: "json", match: "id", atomic: true, ...(isDry && { dry_run: true }) });

function preview(changes, notes, done) {
  const robots = new Set(changes.map(({ robot }) => robot)).size;
  const title = `Change ${changes.length.toLocaleString("en")} ${changes.length === 1 ? "value" : "values"} of ${inNumber(robots)}?`;
  const table = valuesTable(changes.slice(0, SHOWN).map(({ robot, field, value }) => {
    return { name: robot.name, field: field.key, before: robot[field.key], after: value };
  }));
  const more = changes.length > SHOWN ? [`… and ${(changes.length - SHOWN).toLocaleString("en")} more.`] : [];
  const hints = [...more, ...notes].map((note) => element("p", { class: "hint" }, note));
  const errors = element("div", { role: "alert" });
  const storing = button("Change", () => store(changes), { class: "main" });
  const ending = buttons(storing, button("Cancel", () => dialog.close()));
  const heading = element("h2", { id: "paste-heading" }, title);
  const dialog = element("dialog", { id: "paste", "aria-labelledby": "paste-heading" }, heading, table, ...hints, errors, ending);
  const refuse = ({ messages, isUnknown }) => {
    const items = messages.map((message) => element("li", {}, inPlainWords(message, changes)));
    const words = isUnknown ? "Whether these values were stored is unknown." : "These values cannot be stored. Nothing was changed.";
    errors.replaceChildren(element("h3", {}, words), problems(items));
  };
  const store = action({
    async perform() {
      const { changes: positions } = await send(changes, false);
      dialog.close();
      did(["Changed ", inNumber(robots)], positions);
      announce(`Changed ${inNumber(robots)}.`);
      await reportSince(positions.after).catch(() => {});
    },
    failed: refuse,
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    done();
  });
  document.body.append(dialog);
  dialog.showModal();
  storing.focus();
  // Violations are shown before the user decides.
  send(changes, true).catch((error) => {
    if (!dialog.isConnected || error.isTransient) return;
    refuse(error);
    storing.disabled = true;
    ending.lastChild.focus();
  });
}
