// The cells of the list: moving among them by the arrow keys, choosing a rectangle of them, and copying it.

import { may } from "./access.js";
import { announce } from "./announcements.js";
import { CellEditing } from "./cells.js";
import { byId } from "./elements.js";
import { cellsOf, paste } from "./pasting.js";
import { member } from "./robot.js";
import { shownColumns } from "./columns.js";

/** Steps of keys: rows and cells. */
const STEPS = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Keys that scroll the list if nothing has the focus: parts of its height. */
const SCROLLS = { PageDown: 0.9, PageUp: -0.9, Home: -Infinity, End: Infinity };

let listeners;

/** The first cell of the rectangle; the other corner has the focus. */
let anchor;

/** Starts listening. Of `notified`, `robotOf` returns the robot of a row, and `stored` is called with each stored one. */
export function startGrid(notified) {
  listeners = notified;
  CellEditing.listeners = { ...notified, moved: (cell, step) => cell.isConnected && focusCell(cellFrom(cell, step) ?? cell) };
  const table = byId("table");
  table.addEventListener("keydown", press);
  table.addEventListener("dblclick", ({ target }) => edit(target.closest("td")));
  table.addEventListener("mousedown", pick);
  table.addEventListener("focusin", ({ target }) => target.matches(".chosen") || choose());
  addEventListener("copy", copy);
  addEventListener("paste", (event) => {
    if (!document.activeElement.matches("#table td[data-key]") || !may("write")) return;
    event.preventDefault();
    pasteAt(document.activeElement, event.clipboardData.getData("text/plain"));
  });
  addEventListener("keydown", scroll);
}

function scroll(event) {
  const isFree = [document.body, byId("robots")].includes(event.target);
  const part = SCROLLS[event.key];
  if (!isFree || part === undefined || event.defaultPrevented) return;
  const { scrollTop, scrollHeight, clientHeight } = byId("scroller");
  byId("scroller").scrollTop = Math.max(0, Math.min(scrollHeight, scrollTop + part * clientHeight));
  event.preventDefault();
}

const rowsNow = () => [...byId("table").querySelectorAll("tbody tr")];

/** The cell that is some rows and cells from another one. */
function cellFrom(cell, [down, right]) {
  const rows = down === 0 ? [] : rowsNow();
  const row = down === 0 ? cell.parentElement : rows[rows.indexOf(cell.parentElement) + down];
  return row?.cells[cell.cellIndex + right];
}

/** Moves the focus to a cell, or to the same control in it. */
function focusCell(cell, action) {
  if (!cell) return;
  const control = cell.dataset.key ? cell : (cell.querySelector(`[data-action="${action}"]`) ?? cell.querySelector("input, button"));
  control?.focus();
}

function press(event) {
  const { key, target, shiftKey } = event;
  const cell = target.closest("td");
  if (!cell || cell.classList.contains("editing")) return;
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
  if (STEPS[key] && isPlain) move(event, cell, STEPS[key]);
  else if (target === cell && ["Enter", "F2"].includes(key) && isPlain && !shiftKey) {
    event.preventDefault();
    edit(cell);
  } else if (target === cell && key === "Escape" && byId("table").querySelector(".chosen")) {
    event.preventDefault();
    choose();
  } else if (target === cell && ["Delete", "Backspace"].includes(key) && isPlain && may("write")) {
    event.preventDefault();
    if (cell.matches(".chosen")) pasteAt(cell, "");
    else edit(cell)?.empty();
  } else if (target === cell && [...key].length === 1 && (isPlain || event.getModifierState("AltGraph"))) {
    // The character is typed into the input, instead of its value.
    edit(cell);
  }
}

function move(event, cell, step) {
  const { target, shiftKey } = event;
  const inner = [...cell.querySelectorAll("button")];
  const next = inner[inner.indexOf(target) + step[1]];
  event.preventDefault();
  if (step[0] === 0 && target !== cell && next && next !== target) return next.focus();
  const to = cellFrom(cell, step);
  if (!to) return undefined;
  if (shiftKey && target === cell && to.dataset.key) {
    choose(cornerOf(cell), to);
    return to.focus();
  }
  choose();
  return focusCell(to, target.dataset.action);
}

/** The pointer chooses cells: with Shift, or while it moves over them. */
function pick(event) {
  const cell = event.target.closest("td[data-key]");
  if (!cell || cell.classList.contains("editing") || event.button !== 0) return;
  const { activeElement } = document;
  const from = event.shiftKey && activeElement.matches("#table td[data-key]") ? cornerOf(activeElement) : cell;
  choose(from, cell);
  if (event.shiftKey) {
    event.preventDefault();
    cell.focus();
  }
  const over = ({ target }) => {
    const to = target.closest("td[data-key]");
    if (!to || to === cell) return;
    getSelection().removeAllRanges();
    choose(from, to);
    to.focus({ preventScroll: true });
  };
  byId("table").addEventListener("mouseover", over);
  addEventListener("mouseup", () => byId("table").removeEventListener("mouseover", over), { once: true });
}

/** The other corner of the rectangle that ends at a cell. */
const cornerOf = (cell) => (cell.matches(".chosen") && anchor?.isConnected ? anchor : cell);

/** Marks the cells between two corners; none without them. */
function choose(from, to) {
  for (const cell of byId("table").querySelectorAll(".chosen")) {
    cell.classList.remove("chosen");
    cell.removeAttribute("aria-selected");
  }
  anchor = from;
  if (!from || from === to) return;
  const cells = between(from, to).flat();
  for (const cell of cells) {
    cell.classList.add("chosen");
    cell.ariaSelected = "true";
  }
  announce(`${cells.length} cells selected`);
}

/** The rows of cells between two corners. */
function between(from, to) {
  const rows = rowsNow();
  const order = (one, other) => one - other;
  const [top, bottom] = [from, to].map((cell) => rows.indexOf(cell.parentElement)).sort(order);
  const [left, right] = [from.cellIndex, to.cellIndex].sort(order);
  return rows.slice(top, bottom + 1).map((row) => [...row.cells].slice(left, right + 1));
}

/** Copies the values of the chosen cells as a table: separated by tabs and lines. */
function copy(event) {
  const cell = document.activeElement;
  if (!cell.matches("#table td[data-key]") || !getSelection().isCollapsed) return;
  const rows = between(cornerOf(cell), cell);
  const quoted = (text) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const valueOf = ({ dataset, parentElement }) => quoted(listeners.robotOf(parentElement)[dataset.key]);
  event.clipboardData.setData("text/plain", rows.map((cells) => cells.map(valueOf).join("\t")).join("\n"));
  event.preventDefault();
  announce(`${rows.flat().length} cells copied`);
}

function pasteAt(cell, text) {
  const chosen = between(cornerOf(cell), cell);
  const [[start]] = chosen;
  const rows = rowsNow();
  const keys = shownColumns().map(({ key }) => key);
  const robots = rows.slice(rows.indexOf(start.parentElement)).map((row) => listeners.robotOf(row));
  const table = cellsOf(text);
  // One value is for all chosen cells.
  const isOne = table.length === 1 && table[0].length === 1;
  const values = isOne ? chosen.map((cells) => cells.map(() => table[0][0])) : table;
  paste(values, robots, keys.slice(keys.indexOf(start.dataset.key)), () => focusCell(start));
}

/** Opens the input of a cell. */
function edit(cell) {
  if (!member(cell?.dataset.key) || !may("write") || cell.classList.contains("editing")) return undefined;
  choose();
  const editing = new CellEditing(cell, listeners.robotOf(cell.parentElement));
  editing.start();
  return editing;
}
