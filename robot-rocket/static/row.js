// Rows of the list: of a shown and of an edited robot.

import { element, shownName, spokenName } from "./elements.js";
import { MEMBERS, colorOf } from "./robot.js";

/** The number of columns: the id, the members and the actions. */
const COLUMNS = MEMBERS.length + 2;

function cell(kind, ...children) {
  return element("td", { role: "cell", class: kind }, ...children);
}

function button(action, title, name, listener) {
  const attributes = {
    type: "button",
    class: "quiet",
    "data-action": action,
    "aria-label": `${title} ${spokenName(name)}`,
    onclick: listener,
  };
  return element("button", attributes, title);
}

/** The cell of a value, for each kind of input. */
const CELLS = {
  text: (kind, value) => cell(kind, shownName(value)),
  choice: (kind, value, choices) => cell(kind, mark(value, choices)),
  digits: (kind, value) => cell(value.length > 9 ? `${kind} long` : kind, value),
};

/** A choice with its color. */
export function mark(value, choices) {
  return element("span", { class: `mark ${colorOf(choices, value)}` }, value);
}

/** The row of a robot, with the actions of its buttons. */
export function shownRow(robot, { edit, remove }) {
  const row = element("tr", { role: "row" });
  row.append(
    cell(robot.id.length > 7 ? "of-id long" : "of-id", robot.id),
    ...MEMBERS.map(({ key, input, choices }) => CELLS[input](`of-${key}`, robot[key], choices)),
    cell(
      "of-actions",
      button("edit", "Edit", robot.name, () => edit(robot, row)),
      button("delete", "Delete", robot.name, () => remove(robot)),
    ),
  );
  return row;
}

/** The row in which a robot is edited. */
export function editedRow(robot, fields, { save, cancel }) {
  const saving = element("button", { type: "button", class: "main", onclick: save }, "Save");
  const leaving = element("button", { type: "button", onclick: cancel }, "Cancel");
  const boxes = fields.all.map((field) => field.element);
  const buttons = element("div", { class: "of-actions buttons" }, saving, leaving);
  const editor = element("div", { class: "editor" }, fields.general, ...boxes, buttons);
  const row = element(
    "tr",
    { role: "row", class: "edited", "aria-label": `Editing ${spokenName(robot.name)}` },
    element("td", { role: "cell", colspan: COLUMNS, "aria-colspan": COLUMNS }, editor),
  );
  row.addEventListener("keydown", (event) => {
    const isInBox = fields.all.some((field) => field.box === event.target);
    if (event.key === "Escape") {
      event.preventDefault();
      cancel();
    } else if (event.key === "Enter" && isInBox && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      save();
    }
  });
  return row;
}

/** The button of an action in a row. */
export function buttonOf(row, action) {
  return row?.querySelector(`[data-action="${action}"]`);
}
