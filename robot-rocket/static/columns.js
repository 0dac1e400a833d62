// The columns of the table: which are shown, in which order, and how wide. What the user has chosen is a part of the
// view; otherwise, fields without a value in the first page of all have no column, and contents decide about the widths.

import { changeView, currentView } from "./address.js";
import { announce } from "./announcements.js";
import { button, byId, element, inStorage } from "./elements.js";
import { startMenu } from "./panels.js";
import { MEMBERS, OWN, member, onDefined } from "./robot.js";
import { filterOf, isFiltered } from "./view.js";

/** The limits of widths in pixels, those of names, which may have a quarter of a wide window, and the step of a key. */
const [MIN, MAX, MIN_NAME, MAX_NAME, STEP] = [56, 288, 176, 320, 16];

/** The width of the column of boxes. */
const BOXES = 44;

/** The greatest widths of the columns on paper, where texts have several lines: of names, and of others. The rules that
    hide columns for which a page of A4 has no room. */
const [NAME_ON_PAPER, OTHER_ON_PAPER] = [224, 128];
const onPaper = new CSSStyleSheet();

const DENSITY = "robots-density";

/** The keys of members that had a value in a first page, and the widths that their contents need. */
let filled = new Set();
let needed = {};

let changed;

/** The keys in the menu, which stay at their places while it is open, shown or not. */
let listed = [];

/** What a column can show. The name is the first one. */
const all = () => [member("name"), ...MEMBERS.filter(({ key }) => key !== "name"), { key: "id", title: "Id", input: "digits" }];

function isUsual({ key, input }) {
  if (key === "id") return OWN.length === 0;
  return key === "name" || (input !== "long" && (filled.size === 0 || filled.has(key)));
}

/** The chosen columns: keys and widths; undefined if none were chosen. */
function chosen() {
  const { columns } = currentView();
  if (columns === "") return undefined;
  const pairs = columns.split(",").map((column) => column.split(":"));
  return [...pairs.filter(([key]) => key === "name"), ...pairs.filter(([key]) => key !== "name")];
}

/** The members with a column, and the id, in their order. */
export function shownColumns() {
  const keys = chosen()?.map(([key]) => key);
  if (!keys) return all().filter(isUsual);
  return [...new Set(["name", ...keys])].map((key) => all().find((one) => one.key === key));
}

/** The classes of the cells of a column. */
export const kindOfCell = ({ key, isOwn, input }) => `${isOwn ? "of-own" : `of-${key}`} is-${input}`;

/** Starts the menu. `onChanged` is called when other columns are to be shown. */
export function startColumns(onChanged) {
  changed = onChanged;
  document.adoptedStyleSheets.push(onPaper);
  startMenu(byId("columns"));
  byId("columns").addEventListener("toggle", () => {
    listed = [];
    fill();
  });
  byId("scroller").addEventListener("scroll", markCut, { passive: true });
  for (const id of ["scroller", "table"]) new ResizeObserver(markCut).observe(byId(id));
  setDensity(inStorage(() => localStorage.getItem(DENSITY)) ?? "compact");
  let known = [];
  onDefined(() => {
    // A new field has a column before it has values.
    for (const { key } of MEMBERS) if (filled.size > 0 && !known.includes(key)) filled.add(key);
    known = MEMBERS.map(({ key }) => key);
    needed = {};
    fill();
  });
}

/** Marks the sides where columns are covered by those that stay in view. */
function markCut() {
  const { classList, scrollLeft, scrollWidth, clientWidth } = byId("scroller");
  classList.toggle("cut-left", scrollLeft > 0);
  classList.toggle("cut-right", scrollLeft + clientWidth < scrollWidth - 1);
}

/** Takes note of the robots of a first page, and of the fields by which they are sorted and filtered. Returns whether
    these have no column yet. Robots that were searched do not show which fields are empty. */
export function noteValues(robots) {
  const view = currentView();
  const before = filled.size;
  if (before === 0 && isFiltered(view)) return false;
  const names = [view.sort.replace("-", ""), ...filterOf(view).map(([name]) => name)];
  const used = names.map((name) => (member(name) ? name : name.replace(/_[a-z]+$/, "")));
  for (const { key } of MEMBERS) if (used.includes(key) || robots.some((robot) => robot[key] !== "")) filled.add(key);
  return filled.size > before;
}

/** Gives each column its width: the chosen one, or what its contents need, which never becomes less, so that the table
    does not jump. */
export function layOut() {
  const table = byId("table");
  const headings = [...byId("headings").querySelectorAll("th[data-key]")];
  if (headings.length === 0 || !headings[0].checkVisibility()) return;
  table.querySelector("colgroup")?.remove();
  table.classList.add("measured");
  for (const { dataset, offsetWidth } of headings) {
    const [min, max] = dataset.key === "name" ? [MIN_NAME, Math.max(MAX_NAME, innerWidth / 4)] : [MIN, MAX];
    needed[dataset.key] = Math.min(max, Math.max(min, needed[dataset.key] ?? 0, offsetWidth + 1));
  }
  table.classList.remove("measured");
  const fixed = Object.fromEntries(chosen() ?? []);
  const widths = headings.map(({ dataset }) => Number(fixed[dataset.key] ?? needed[dataset.key]));
  const papers = widths.map((width, at) => Math.min(width, at === 0 ? NAME_ON_PAPER : OTHER_ON_PAPER));
  table.prepend(element("colgroup", {}, ...[BOXES, ...widths, ""].map((width, at) => column(width, papers[at - 1]))));
  table.style.setProperty("--width", `${BOXES + widths.reduce((sum, width) => sum + width, 0)}px`);
  fitOnPaper(papers);
  byId("columns-count").textContent = `${headings.length} of ${all().length}`;
}

function column(width, paper) {
  const made = element("col");
  if (width) made.style.setProperty("width", `${width}px`);
  made.style.setProperty("--paper", `${paper}px`);
  return made;
}

/** Hides the columns that do not fit on paper. */
function fitOnPaper(papers) {
  let sum = 0;
  const ends = papers.map((paper) => (sum += paper));
  const rules = Object.entries({ portrait: 700, landscape: 1030 }).map(([orientation, width]) => {
    const fitting = ends.filter((end) => end <= width).length;
    const note = fitting < ends.length ? `#count::after { content: attr(data-printed) ", ${fitting} of ${ends.length} columns" }` : "";
    return `@media print and (orientation: ${orientation}) { #table :is(th, td, col):nth-child(n+${fitting + 2}) { display: none } ${note} }`;
  });
  onPaper.replaceSync(rules.join(""));
}

/** Chooses columns: their keys, and the widths of some. */
function choose(keys, widths = Object.fromEntries(chosen() ?? [])) {
  const columns = keys.map((key) => (widths[key] ? `${key}:${widths[key]}` : key)).join(",");
  changeView({ columns });
}

const keysNow = () => shownColumns().map(({ key }) => key);

/** Moves a column to the place of another one. */
export function moveColumn(key, other) {
  const keys = keysNow();
  if (key === "name" || other === undefined || other === "name" || key === other) return;
  const [from, to] = [keys.indexOf(key), keys.indexOf(other)];
  keys.splice(to, 0, ...keys.splice(from, 1));
  choose(keys);
  announce(`${titleOf(key)}: column ${to + 1} of ${keys.length}`);
}

/** The column before (-1) or after (1) one. */
export const columnBeside = (key, step) => keysNow()[keysNow().indexOf(key) + step];

/** Makes a column wider or narrower, by steps or pixels. */
export function resizeColumn(key, { steps = 0, pixels = 0, isDone = true }) {
  const table = byId("table");
  const at = keysNow().indexOf(key) + 1;
  const col = table.querySelectorAll("col")[at];
  if (!col) return;
  const before = Number.parseFloat(col.style.width);
  const width = Math.max(MIN, Math.round(before + steps * STEP + pixels));
  col.style.setProperty("width", `${width}px`);
  const sum = Number.parseFloat(table.style.getPropertyValue("--width")) + width - before;
  table.style.setProperty("--width", `${sum}px`);
  if (isDone) choose(keysNow(), { ...Object.fromEntries(chosen() ?? []), [key]: width });
}

const titleOf = (key) => all().find((one) => one.key === key).title;

/** Fills the menu, while it is open. */
function fill() {
  const menu = byId("columns-menu");
  const focused = document.activeElement?.dataset.of;
  if (!byId("columns").open) return menu.replaceChildren();
  const shown = keysNow();
  const keys = [...new Set([...shown, ...all().map(({ key }) => key)])];
  const isSameOrder = String(listed.filter((key) => shown.includes(key))) === String(shown);
  if (listed.length !== keys.length || !isSameOrder) listed = keys;
  const items = listed.map((key) => item(all().find((one) => one.key === key), shown));
  const density = ["compact", "comfortable"].map((value) => {
    const box = element("input", { type: "radio", name: "density", checked: document.documentElement.dataset.density === value });
    box.addEventListener("change", () => setDensity(value, true));
    return element("label", { class: "choice" }, box, value);
  });
  const usual = button("Usual columns", () => changeView({ columns: "" }), { "data-of": "usual", disabled: !chosen() });
  menu.replaceChildren(
    element("ul", { id: "columns-list" }, ...items),
    element("fieldset", { class: "buttons" }, element("legend", { class: "unseen" }, "Rows"), ...density),
    usual,
  );
  if (focused) menu.querySelector(`[data-of="${focused}"]`)?.focus();
}

function item({ key, title }, shown) {
  const isShown = shown.includes(key);
  const isName = key === "name";
  const box = element("input", { type: "checkbox", value: key, checked: isShown, disabled: isName, "data-of": key });
  box.addEventListener("change", () => {
    const before = keysNow();
    choose(listed.filter((other) => (other === key ? box.checked : before.includes(other))));
  });
  const move = (sign, words, step) => {
    const other = isShown && !isName ? columnBeside(key, step) : undefined;
    const attributes = { class: "quiet", "aria-label": `Move ${title} ${words}`, "data-of": `${key}${step}` };
    const isDisabled = other === undefined || other === "name";
    return button(sign, () => moveColumn(key, other), { ...attributes, disabled: isDisabled });
  };
  return element("li", {}, element("label", { class: "choice" }, box, title), move("↑", "to the left", -1), move("↓", "to the right", 1));
}

/** Shows the chosen columns, because the view has others. */
export function showChosen() {
  changed();
  fill();
}

function setDensity(value, isChosen) {
  document.documentElement.dataset.density = value;
  if (!isChosen) return;
  inStorage(() => localStorage.setItem(DENSITY, value));
  changed();
}
