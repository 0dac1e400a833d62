// Rows of the list: of a shown and of an edited robot.

import { button, element, shownName, spokenName } from "./elements.js";
import { shownColumns } from "./columns.js";
import { inWords } from "./kinds.js";
import { OWN, colorOf } from "./robot.js";
import { selectBox } from "./selection.js";

function cell(kind, ...children) {
  return element("td", { role: "cell", class: kind }, ...children);
}

/** The cell of a built-in member, for each kind of input. */
const CELLS = {
  text: (kind, value) => cell(kind, shownName(value)),
  choice: (kind, value, choices) => (value === "" ? cell(kind) : cell(kind, mark(value, choices))),
  digits: (kind, value) => cell(value.length > 9 ? `${kind} long` : kind, value),
};

function cellOf(member, robot) {
  const { key, input, choices, isOwn } = member;
  if (!isOwn) {
    const shown = CELLS[input](`of-${key}`, robot[key], choices);
    // With own members, a robot has a page of its own.
    const link = key === "name" && OWN.length > 0 && element("a", { href: addressOf(robot) });
    if (link) link.append(...shown.childNodes);
    if (link) shown.append(link);
    return shown;
  }
  const shown = cell(`of-own is-${input}`, valueOf(member, robot[key]));
  shown.dataset.title = member.title;
  return shown;
}

/** The place of a robot's own page in the address. */
export function addressOf({ id }) {
  return `#/robots/${id}`;
}

/** A value as an element: a built-in choice has its color, and an address of the web is a link. */
export function valueOf({ input, choices, isOwn }, value) {
  if (input === "choice" && !isOwn) return mark(value, choices);
  const words = element("bdi", { class: "value", dir: "auto" }, inWords(input, value));
  const isLink = input === "uri" && /^https?:/i.test(value) && URL.canParse(value);
  return isLink ? element("a", { href: value, rel: "noreferrer", target: "_blank" }, words) : words;
}

/** A choice with its color. */
export function mark(value, choices) {
  return element("span", { class: `mark ${colorOf(choices, value)}` }, value);
}

/** The row of a robot, with a button for each action: its title, and what it does with the robot and its row. */
export function shownRow(robot, actions) {
  const row = element("tr", { role: "row" });
  const actionButtons = Object.entries(actions).map(([action, [title, perform]]) => {
    const label = `${title} ${spokenName(robot.name)}`;
    const attributes = { class: "quiet", "data-action": action, "aria-label": label };
    return button(title, () => perform(robot, row), attributes);
  });
  row.append(
    cell("of-select", selectBox(robot)),
    cell(robot.id.length > 7 ? "of-id long" : "of-id", robot.id),
    ...shownColumns().map((column) => cellOf(column, robot)),
    cell("of-actions", ...actionButtons),
  );
  return row;
}

/** The row in which a robot is edited. */
export function editedRow(robot, fields, actions) {
  const columns = shownColumns().length + 3;
  return element(
    "tr",
    { role: "row", class: "edited", "aria-label": `Editing ${spokenName(robot.name)}` },
    element("td", { role: "cell", colspan: columns, "aria-colspan": columns }, editor(fields, actions)),
  );
}

/** The fields and buttons with which a robot is edited. */
export function editor(fields, { save, cancel }) {
  const shown = [button("Save", save, { class: "main" }), button("Cancel", cancel)];
  const kind = OWN.length > 0 ? "editor many" : "editor";
  const boxes = fields.all.map((field) => field.element);
  const ending = element("div", { class: "of-actions buttons" }, ...shown);
  return element("div", { class: kind }, fields.general, ...boxes, ending);
}

/** The button of an action in a row. */
export function buttonOf(row, action) {
  return row?.querySelector(`[data-action="${action}"]`);
}
