// The chart, a strip above the list: the numbers of robots by a field. A click on a bar filters by its values.

import { changeView, currentView } from "./address.js";
import { binsOf, dateBins, total, valueBars } from "./bins.js";
import { button, byId, drawn, element, show } from "./elements.js";
import { filterBy } from "./filters.js";
import { MANY, MEMBERS, ONE, OWN, TYPES, colorOf, member, onDefined } from "./robot.js";
import { NO_CHART } from "./view.js";

/** The height of the chart, where the bars begin and end, the width of a character, and of the widest bar. */
const [HEIGHT, BASE, TOP, CHARACTER, WIDEST] = [132, 110, 18, 7, 64];

/** Numbers above bars, which have little room. The table has the exact ones. */
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 });

/** The field and the bars that were received last: of the whole catalogue, and of the filter. */
let drawing;

/** The fields that can be counted. */
const countable = () => MEMBERS.filter(({ key, input }) => key !== "name" && input !== "long");

/** The key of the field of the chart; undefined if the chart is folded. */
export function chartField({ by }) {
  if (by === NO_CHART) return undefined;
  const usual = OWN.length === 0 ? member("year")?.key : undefined;
  return by || usual;
}

/** Starts the chart. */
export function startChart() {
  byId("chart-open").addEventListener("click", () => {
    const isOpen = chartField(currentView()) !== undefined;
    const [first] = [member("year"), member("type"), ...countable()].filter(Boolean);
    changeView({ by: isOpen ? NO_CHART : first?.key ?? "" });
  });
  byId("chart-by").addEventListener("change", () => changeView({ by: byId("chart-by").value }));
  byId("scope").addEventListener("change", draw);
  onDefined(() => {
    const options = countable().map(({ key, title }) => element("option", { value: key }, title.toLowerCase()));
    byId("chart-by").replaceChildren(...options);
    show(byId("chart-open"), options.length > 0);
  });
  new ResizeObserver(() => byId("figure").firstChild && draw()).observe(byId("picture"));
}

/** Shows the strip of a view, empty until its numbers arrive, so that the list does not move later. */
export function reserveChart(view) {
  const key = chartField(view);
  show(byId("picture"), key !== undefined);
  byId("chart-open").ariaExpanded = String(key !== undefined);
  byId("chart-by").value = key;
  if (key !== drawing?.key) emptyChart("");
}

/** Draws the bars of a field: of the whole catalogue, and of the robots of the filter, which are the same if there is
    none. */
export function drawChart(key, whole, filtered) {
  drawing = { key, whole, filtered };
  show(byId("scope"), filtered !== whole);
  draw();
}

/** Shows a hint instead of numbers: outdated ones would be wrong. */
export function emptyChart(hint = "The numbers could not be read.") {
  drawing = undefined;
  for (const id of ["figure", "numbers"]) byId(id).replaceChildren();
  showHint(hint);
}

function showHint(text) {
  byId("no-bars").textContent = text;
  show(byId("no-bars"), text !== "");
}

/** The bars of a response of the service about a field. */
export function barsOf(key, { groups, count }) {
  if (key === "year") return binsOf(groups);
  return member(key).input === "date" ? dateBins(key, groups) : valueBars(key, groups, count);
}

function draw() {
  if (!drawing) return;
  const { key, whole, filtered } = drawing;
  const isAll = byId("of-all").checked && !byId("scope").hidden;
  const bars = isAll ? whole : filtered;
  showHint(bars.length === 0 ? `No ${ONE} matches the filter.` : "");
  show(byId("numbers-open"), bars.length > 0);
  const choices = key === "year" ? TYPES : member(key).choices;
  byId("figure").replaceChildren(...(bars.length > 0 ? [picture(bars, key, choices)] : []));
  byId("key").replaceChildren(...(key === "year" ? legend() : []));
  byId("numbers").replaceChildren(...(bars.length > 0 ? table(bars, key) : []));
}

function picture(bars, key, choices) {
  const width = Math.max(byId("figure").clientWidth, 240);
  const most = Math.max(...bars.map(({ counts }) => total(counts)));
  const step = width / Math.max(bars.length, 8);
  const label = `Bar chart of the number of ${MANY} by ${member(key).title.toLowerCase()}. A table with the numbers follows.`;
  const svg = drawn("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": label });
  const totals = bars.map(({ counts }) => COMPACT.format(total(counts)));
  const hasRoom = totals.every((each) => each.length * CHARACTER <= step);
  bars.forEach((bar, index) => svg.append(barOf(bar, index * step, { step, most, hasRoom, key, choices })));
  svg.append(drawn("path", { class: "axis", d: `M0 ${BASE + 0.5}H${width}` }), ...labels(bars, step));
  return svg;
}

/** The labels that have room: a number is where its bin starts, a word below its bar, and a gap is marked above the axis. */
function labels(bars, step) {
  let end = -Infinity;
  const most = Math.max(2, Math.floor(step / CHARACTER) - 1);
  return bars.flatMap((bar, index) => {
    const isCentred = bar.isWord || !bar.title || bar.label === bar.title;
    const text = bar.isWord && bar.label.length > most ? `${bar.label.slice(0, most - 1)}…` : bar.label;
    const half = (text.length * CHARACTER) / 2;
    const middle = Math.max((index + (isCentred ? 0.5 : 0)) * step, half);
    if (!bar.title) return drawn("text", { x: middle, y: BASE - 5, class: "decade" }, text);
    if (middle - half < end) return [];
    end = middle + half + CHARACTER;
    return drawn("text", { x: middle, y: BASE + 16, class: "decade" }, text);
  });
}

function barOf({ title, counts, conditions }, x, { step, most, hasRoom, key, choices }) {
  const sum = total(counts);
  if (sum === 0) return "";
  const bar = drawn("g", { class: conditions ? "bin" : "" }, drawn("title", {}, `${title}: ${sum.toLocaleString("en")}`));
  if (conditions) bar.addEventListener("click", () => filterBy(key, conditions));
  bar.append(drawn("rect", { class: "target", x, y: 0, width: step, height: BASE }));
  const width = Math.min(step * 0.8, WIDEST);
  let y = BASE;
  for (const series of seriesOf([{ counts }], choices)) {
    const height = ((BASE - TOP) * (counts.get(series) ?? 0)) / most;
    if (height === 0) continue;
    y -= height;
    const place = { x: x + (step - width) / 2, y, width, height };
    const color = choices.length > 0 ? colorOf(choices, series) : series === "" && !conditions ? "" : "choice-1";
    bar.append(drawn("rect", { class: `bar ${color}${key === "year" ? " marked" : ""}`, ...place }));
  }
  const place = { x: x + step / 2, y: y - 5, class: "total" };
  if (hasRoom) bar.append(drawn("text", place, COMPACT.format(sum)));
  return bar;
}

function seriesOf(bars, choices) {
  return [...new Set([...choices, ...bars.flatMap(({ counts }) => [...counts.keys()])])];
}

/** The types that have a color, and the others. */
function legend() {
  const colored = TYPES.filter((type) => colorOf(TYPES, type));
  return [...colored, ...(colored.length < TYPES.length ? ["others"] : [])].map(keyOf);
}

function keyOf(type) {
  const square = drawn("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
  square.append(drawn("rect", { class: `bar marked ${colorOf(TYPES, type)}`, width: 14, height: 14, rx: 3 }));
  return element("li", {}, square, type);
}

function table(bars, key) {
  const filled = bars.filter(({ counts }) => counts.size > 0);
  const series = key === "year" ? seriesOf(filled, TYPES) : [];
  const heading = (text, scope) => element("th", { scope }, text);
  const field = member(key).title;
  const head = [field, ...series, "all"].map((text) => heading(text, "col"));
  const rows = filled.map(({ title, counts, conditions }) => {
    const numbers = [...series.map((each) => counts.get(each) ?? 0), total(counts)];
    const cells = numbers.map((number) => element("td", {}, number.toLocaleString("en")));
    const name = conditions ? button(title, () => filterBy(key, conditions), { class: "quiet" }) : title;
    return element("tr", {}, heading(name, "row"), ...cells);
  });
  const caption = element("caption", { class: "unseen" }, `${MANY} by ${field}`);
  return [caption, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)];
}
