// The headings of the list, by which it is sorted, and its columns are moved and made wider; and the menu of orders.

import { changeView, currentView } from "./address.js";
import { columnBeside, kindOfCell, moveColumn, resizeColumn, shownColumns } from "./columns.js";
import { button, byId, element, unseen } from "./elements.js";
import { closeMenu, startMenu } from "./panels.js";
import { SORT_KEYS, member, onDefined } from "./robot.js";
import { allBox } from "./selection.js";
import { EVERYTHING } from "./view.js";

/** How the service orders texts. */
const ORDER = "Texts are ordered by code points: capital letters first, then small ones, then letters such as é.";

/** The row of headings. */
export function headings() {
  return element(
    "tr",
    { role: "row", "aria-rowindex": "1" },
    heading("of-select", {}, allBox),
    ...shownColumns().map(columnHeading),
    heading("of-actions", {}, unseen("Actions")),
  );
}

function heading(kind, attributes, ...children) {
  return element("th", { role: "columnheader", scope: "col", class: kind, ...attributes }, ...children);
}

function columnHeading(column) {
  const { key, title } = column;
  const isSortable = SORT_KEYS.includes(key);
  const attributes = { class: "quiet", title, "aria-describedby": "heading-keys", "aria-disabled": isSortable ? undefined : "true" };
  const shown = button(title, () => isSortable && sortBy(key), attributes);
  const made = heading(kindOfCell(column), { "data-key": key, draggable: String(key !== "name") }, shown, grip(key));
  made.addEventListener("keydown", (event) => press(event, key));
  made.addEventListener("dragstart", ({ dataTransfer }) => dataTransfer.setData("text/x-column", key));
  made.addEventListener("dragover", (event) => event.dataTransfer.types.includes("text/x-column") && event.preventDefault());
  made.addEventListener("drop", (event) => {
    event.preventDefault();
    moveColumn(event.dataTransfer.getData("text/x-column"), key);
  });
  return made;
}

/** With Alt, the arrow keys move a column; with Shift, they change its width. */
function press(event, key) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.altKey === event.shiftKey) return;
  event.preventDefault();
  event.stopPropagation();
  if (event.altKey) moveColumn(key, columnBeside(key, step));
  else resizeColumn(key, { steps: step });
  byId("headings").querySelector(`[data-key="${key}"] button`)?.focus();
}

/** The edge of a heading, which the pointer moves. */
function grip(key) {
  const edge = element("span", { class: "grip", "aria-hidden": "true" });
  edge.addEventListener("pointerdown", (down) => {
    down.preventDefault();
    edge.setPointerCapture(down.pointerId);
    let last = down.clientX;
    edge.onpointermove = ({ clientX }) => {
      resizeColumn(key, { pixels: clientX - last, isDone: false });
      last = clientX;
    };
    edge.onpointerup = () => {
      edge.onpointermove = null;
      resizeColumn(key, {});
    };
  });
  return edge;
}

/** The first click sorts upwards, the next one the other way. */
function sortBy(key) {
  changeView({ sort: currentView().sort === key ? `-${key}` : key });
}

/** Starts the menu of orders. */
export function startSorting() {
  startMenu(byId("order"));
  onDefined(fill);
}

function fill() {
  const items = SORT_KEYS.map((key) => {
    const choose = () => {
      closeMenu(byId("order"));
      sortBy(key);
    };
    return element("li", {}, button(titleOf(key), choose, { "data-key": key }));
  });
  byId("order-menu").replaceChildren(element("ul", {}, ...items), element("p", { class: "hint" }, ORDER));
}

const titleOf = (key) => member(key)?.title ?? "Id";

/** Marks the order of the list. */
export function markOrder(sort) {
  for (const column of byId("headings").querySelectorAll("[data-key]")) {
    if (keyOf(sort) === column.dataset.key) column.setAttribute("aria-sort", directionOf(sort));
    else column.removeAttribute("aria-sort");
  }
  const sign = sort.startsWith("-") ? "↓" : "↑";
  for (const one of byId("order-menu").querySelectorAll("[data-key]")) {
    const isOrder = one.dataset.key === keyOf(sort);
    one.textContent = `${titleOf(one.dataset.key)}${isOrder ? ` ${sign}` : ""}`;
    one.ariaCurrent = isOrder ? "true" : null;
  }
  byId("order-now").textContent = `${titleOf(keyOf(sort))} ${sign}`;
}

/** The order for screen readers; empty for the usual one. */
export function orderInWords(sort) {
  return sort === EVERYTHING.sort ? "" : `, sorted by ${titleOf(keyOf(sort))}, ${directionOf(sort)}`;
}

function keyOf(sort) {
  return sort.replace(/^-/, "");
}

function directionOf(sort) {
  return sort.startsWith("-") ? "descending" : "ascending";
}
