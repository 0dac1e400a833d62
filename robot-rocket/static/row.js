// Rows of the list, and values as elements.

import { kindOfCell, shownColumns } from "./columns.js";
import { button, element, shownName, spokenName } from "./elements.js";
import { inWords } from "./kinds.js";
import { colorOf, member } from "./robot.js";
import { selectBox } from "./selection.js";

/** The number of values that a card on a narrow screen has below the name: first those that are searched. */
const IN_CARD = 3;

function cell(kind, ...children) {
  return element("td", { role: "gridcell", class: kind }, ...children);
}

/** The cell of a member, or of the id. */
export function cellOf(column, robot) {
  const { key, title } = column;
  const shown = cell(kindOfCell(column));
  shown.tabIndex = -1;
  shown.dataset.key = key;
  shown.dataset.title = title;
  if (key === "name") shown.append(element("a", { href: addressOf(robot) }, shownName(robot.name)));
  else if (["text", "long", "uri", "choice"].includes(column.input)) shown.append(...(robot[key] ? [valueOf(column, robot[key])] : []));
  else shown.textContent = inWords(column.input, robot[key]);
  return shown;
}

/** The place of a robot's own page in the address. */
export function addressOf({ id }) {
  return `#/robots/${id}`;
}

/** A value as an element: a choice has its color, and an address of the web is a link. */
export function valueOf({ input, choices }, value) {
  if (input === "choice") return mark(value, choices);
  const words = element("bdi", { class: "value", dir: "auto" }, inWords(input, value));
  const isLink = input === "uri" && /^https?:/i.test(value) && URL.canParse(value);
  return isLink ? element("a", { href: value, rel: "noopener noreferrer", target: "_blank" }, words) : words;
}

/** A choice with its color, if there are few. */
export function mark(value, choices) {
  return element("bdi", { class: `mark ${colorOf(choices, value)}` }, value);
}

/** A table of values before and after a change, which can be scrolled. A field may be new. */
export function valuesTable(values) {
  const rows = values.map(({ name, field, before, after }) => {
    const { title, input } = member(field) ?? { title: field, input: "text" };
    const words = (value) => (["", null].includes(value) ? element("i", {}, "none") : shownName(inWords(input, String(value))));
    const cells = [title, words(before), words(after)];
    const head = element("th", { scope: "row" }, shownName(name));
    return element("tr", {}, head, ...cells.map((one) => element("td", {}, one)));
  });
  const heads = [member("name").title, "Field", "Before", "After"].map((head) => element("th", { scope: "col" }, head));
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
  return element("div", { class: "changes", tabindex: "0", role: "group", "aria-label": "Changes" }, table);
}

/** The row of a robot, with a button for each action: its title, and what it does with the robot and its row. */
export function shownRow(robot, actions) {
  const row = element("tr", { role: "row" });
  row.dataset.id = robot.id;
  const actionButtons = Object.entries(actions).map(([action, [title, perform]]) => {
    const label = `${title} ${spokenName(robot.name)}`;
    const attributes = { class: "quiet", "data-action": action, "aria-label": label };
    return button(title, () => perform(robot, row), attributes);
  });
  const cells = shownColumns().map((column) => cellOf(column, robot));
  const values = cells.slice(1).filter((one) => one.textContent !== "");
  const isSearched = ({ dataset }) => Number(member(dataset.key)?.isSearched ?? false);
  const ranked = values.toSorted((one, other) => isSearched(other) - isSearched(one));
  for (const one of ranked.slice(IN_CARD)) one.classList.add("rest");
  row.append(cell("of-select", selectBox(robot)), ...cells, cell("of-actions", ...actionButtons));
  return row;
}
