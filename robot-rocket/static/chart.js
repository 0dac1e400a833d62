// Bar chart of the number of robots by years and type. A click on a bar filters by its years.

import { button, byId, drawn, element, show } from "./elements.js";
import { MANY, TYPES, colorOf } from "./robot.js";
import { filterBy } from "./filters.js";

/** The maximum number of bins and gaps. */
const MAX_BINS = 16;

/** The maximum number of consecutive bins without robots. */
const MAX_EMPTY = 3;

/** What is shown instead of more of them. */
const GAP = { label: "⋯", counts: new Map() };

/** The years that the service can store. */
const [MIN_YEAR, MAX_YEAR] = [-(2n ** 63n), 2n ** 63n - 1n];

/** The sizes of the chart and of a character. */
const [WIDTH, HEIGHT, BASE, TOP, CHARACTER] = [360, 190, 160, 22, 7];

/** Years with more characters are shown as powers of ten. */
const MAX_DIGITS = 6;

const SCIENTIFIC = new Intl.NumberFormat("en", { notation: "scientific", maximumSignificantDigits: 3 });

/** Numbers above bars, which have little room. The table has the exact ones. */
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 });

/** The summaries that were received last. */
let summaries;

/** Whether the last summary had a year. */
let hasYears = false;

/** Starts the chart, folded on narrow screens, where it is above the list. */
export function startChart() {
  byId("chart").open = false;
  byId("scope").addEventListener("change", draw);
}

/** Shows an empty chart before the first numbers arrive: the list beside it would move under the pointer
    later. */
export function reserveChart() {
  if (hasYears) return;
  for (const id of ["figure", "numbers"]) byId(id).replaceChildren();
  for (const id of ["scope", "no-bars"]) show(byId(id), false);
  for (const id of ["bars", "picture"]) show(byId(id));
}

/** Draws the chart of two summaries: of the whole catalogue, and of the robots of the filter, which
    are the same if there is none. */
export function drawChart(whole, filtered) {
  summaries = { whole, filtered };
  hasYears = whole.groups.some(({ decade }) => decade !== undefined);
  show(byId("picture"), hasYears);
  show(byId("scope"), filtered !== whole);
  draw();
}

/** Hides the chart, because an outdated one would be wrong. */
export function hideChart() {
  show(byId("picture"), false);
}

function draw() {
  const { count, groups } = byId("of-all").checked ? summaries.whole : summaries.filtered;
  show(byId("no-bars"), count === 0);
  show(byId("bars"), count > 0);
  if (count === 0) return;
  const bins = binsOf(groups);
  byId("figure").replaceChildren(picture(bins), key());
  byId("numbers").replaceChildren(...table(bins));
}

/** The bins in order, each with its years, the label of its axis, and counts by type. Their step is the smallest one
    with which they are few enough, so that years from -10^18 to 10^18 have room. */
export function binsOf(groups) {
  const known = groups.filter(({ decade }) => decade !== undefined);
  const none = groups.filter(({ decade }) => decade === undefined);
  let bins;
  for (let at = 0; !bins; at++) bins = binned(known, stepAt(at));
  if (none.length > 0) bins.push(GAP, { years: "no year", label: "no year", counts: countsOf(none) });
  return bins;
}

/** The steps are 10 years, as the service counts, 20, 50, 100, 200, … */
function stepAt(at) {
  return [10n, 20n, 50n][at % 3] * 10n ** BigInt(Math.floor(at / 3));
}

/** The bins of a step from the first one with robots to the last one; undefined if they are too many. */
function binned(groups, step) {
  const filled = new Map();
  for (const group of groups) {
    const start = group.decade - (((group.decade % step) + step) % step);
    if (!filled.has(start)) filled.set(start, []);
    filled.get(start).push(group);
    if (filled.size > MAX_BINS) return undefined;
  }
  const starts = [...filled.keys()].sort((one, other) => (one < other ? -1 : 1));
  const bins = starts.flatMap((start, index) => {
    const before = index === 0 ? start : starts[index - 1] + step;
    const bin = binAt(start, step, filled.get(start));
    const empty = Number((start - before) / step);
    if (empty > MAX_EMPTY) return [GAP, bin];
    const binAfter = (_, at) => binAt(before + step * BigInt(at), step, []);
    return [...Array.from({ length: empty }, binAfter), bin];
  });
  return bins.length > MAX_BINS ? undefined : bins;
}

function binAt(start, step, groups) {
  const end = start + step - 1n;
  const from = start < MIN_YEAR ? MIN_YEAR : start;
  const to = end > MAX_YEAR ? MAX_YEAR : end;
  const text = String(start);
  const label = text.length > MAX_DIGITS ? SCIENTIFIC.format(start) : text;
  const years = `${from}${start < 0n ? " to " : "–"}${to}`;
  return { years, label, counts: countsOf(groups), choose: () => filterBy("year", { year_from: String(from), year_to: String(to) }) };
}

function countsOf(groups) {
  const counts = new Map();
  for (const { type, count } of groups) counts.set(type, (counts.get(type) ?? 0) + count);
  return counts;
}

function sum(counts) {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function picture(bins) {
  const most = Math.max(...bins.map(({ counts }) => sum(counts)));
  const step = WIDTH / bins.length;
  const label = `Bar chart of the number of ${MANY} by year. A table with the numbers follows.`;
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  const totals = bins.map(({ counts }) => COMPACT.format(sum(counts)));
  const hasRoom = totals.every((total) => total.length * CHARACTER <= step);
  svg.append(patterns());
  bins.forEach((bin, index) => svg.append(barOf(bin, index * step, step, most, hasRoom)));
  svg.append(drawn("path", { class: "axis", d: `M0 ${BASE + 0.5}H${WIDTH}` }), ...labels(bins, step));
  return svg;
}

/** The labels that have room: a year is where its bin starts, and a gap is marked above the axis. */
function labels(bins, step) {
  let end = -WIDTH;
  return bins.flatMap((bin, index) => {
    const { label, choose } = bin;
    const middle = (index + (choose ? 0 : 0.5)) * step;
    const half = (label.length * CHARACTER) / 2;
    if (bin === GAP) return drawn("text", { x: middle, y: BASE - 5, class: "decade" }, label);
    if (middle - half < end) return [];
    end = middle + half + 2 * CHARACTER;
    return drawn("text", { x: middle, y: BASE + 17, class: "decade" }, label);
  });
}

/** Patterns, so that types differ not only by color. */
function patterns() {
  const pattern = (id, size, ...shapes) =>
    drawn("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, ...shapes);
  const ground = (color) => drawn("rect", { class: `fill ${color}`, width: 8, height: 8 });
  const marks = [
    [],
    [drawn("path", { class: "stripes", d: "M-1 1l2-2M0 6l6-6M5 7l2-2" })],
    [drawn("circle", { class: "dot", cx: 3, cy: 3, r: 1.2 })],
  ];
  const patterns = TYPES.map((type, index) => {
    const color = colorOf(TYPES, type);
    const shapes = marks[index % marks.length].map((shape) => shape.cloneNode());
    return pattern(`of-${color}`, 6, ground(color), ...shapes);
  });
  return drawn("defs", {}, ...patterns);
}

function barOf({ years, counts, choose }, x, step, most, hasRoom) {
  const total = sum(counts);
  if (total === 0) return "";
  const bar = drawn("g", { class: "bin" }, drawn("title", {}, `${years}: ${total.toLocaleString("en")}`));
  if (choose) bar.addEventListener("click", choose);
  bar.append(drawn("rect", { class: "target", x, y: 0, width: step, height: BASE }));
  const width = Math.min(step * 0.8, 44);
  let y = BASE;
  for (const type of typesIn([counts])) {
    const height = ((BASE - TOP) * (counts.get(type) ?? 0)) / most;
    if (height === 0) continue;
    y -= height;
    const place = { x: x + (step - width) / 2, y, width, height };
    bar.append(drawn("rect", { class: `bar ${colorOf(TYPES, type)}`, ...place }));
  }
  const text = { x: x + step / 2, y: y - 5, class: "total" };
  if (hasRoom) bar.append(drawn("text", text, COMPACT.format(total)));
  return bar;
}

function typesIn(all) {
  return [...new Set([...TYPES, ...all.flatMap((counts) => [...counts.keys()])])];
}

function key() {
  const entry = (type) => {
    const square = drawn("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    square.append(drawn("rect", { class: `bar ${colorOf(TYPES, type)}`, width: 14, height: 14, rx: 3 }));
    return element("li", {}, square, type);
  };
  return element("ul", { class: "key" }, ...TYPES.map(entry));
}

function table(bins) {
  const filled = bins.filter(({ counts }) => counts.size > 0);
  const types = typesIn(filled.map(({ counts }) => counts));
  const heading = (text, scope) => element("th", { scope }, text);
  const head = ["Years", ...types, "all"].map((text) => heading(text, "col"));
  const rows = filled.map(({ years, counts, choose }) => {
    const numbers = [...types.map((type) => counts.get(type) ?? 0), sum(counts)];
    const cells = numbers.map((number) => element("td", {}, number.toLocaleString("en")));
    const name = choose ? button(years, choose, { class: "quiet" }) : years;
    return element("tr", {}, heading(name, "row"), ...cells);
  });
  const caption = element("caption", { class: "unseen" }, "Robots by years and type");
  return [caption, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)];
}
