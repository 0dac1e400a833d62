// Rows of the list: of a shown and of an edited robot.

import { element, shownName, spokenName } from "./elements.js";

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

/** The row of a robot, with the actions of its buttons. */
export function shownRow(robot, { edit, remove }) {
  const row = element("tr", { role: "row" });
  row.append(
    cell("of-name", shownName(robot.name)),
    cell("of-type", element("span", { class: `type ${robot.type}` }, robot.type)),
    cell(robot.year.length > 9 ? "of-year long" : "of-year", robot.year),
    cell(
      "of-actions",
      button("edit", "Edit", robot.name, () => edit(robot, row)),
      button("delete", "Delete", robot.name, () => remove(robot, row)),
    ),
  );
  return row;
}

/** The row in which a robot is edited. */
export function editedRow(robot, fields, { save, cancel }) {
  const saving = element("button", { type: "button", class: "main", onclick: save }, "Save");
  const leaving = element("button", { type: "button", onclick: cancel }, "Cancel");
  const row = element(
    "tr",
    { role: "row", class: "edited", "aria-label": `Editing ${spokenName(robot.name)}` },
    cell("of-name", fields.general, fields.name.element),
    cell("of-type", fields.type.element),
    cell("of-year", fields.year.element),
    cell("of-actions", saving, leaving),
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
