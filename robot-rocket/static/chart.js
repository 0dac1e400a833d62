// Bar chart of the number of robots by decade and type.

import { byId, drawn, element, show } from "./elements.js";
import { TYPES, colorOf } from "./robot.js";

/** The maximum number of decades with a bar of their own. */
const MAX_DECADES = 10;

const [WIDTH, HEIGHT, BASE, TOP] = [360, 190, 160, 22];

/** Numbers above bars, which have little room. The table has the exact ones. */
const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 });

/** Whether the chart shows the whole catalogue although the list is filtered. */
let isOfAll = false;

/** Draws the chart of two summaries: of the whole catalogue, and of the robots of the filter, which
    are the same if there is none. */
export function drawChart(whole, filtered) {
  show(byId("picture"), whole.groups.some(({ decade }) => decade !== undefined));
  const isChoice = filtered !== whole;
  const { count, groups } = isChoice && !isOfAll ? filtered : whole;
  const parts = isChoice ? [choice(whole, filtered)] : [];
  if (count === 0) parts.push(element("p", { class: "hint" }, "No robot matches the filter."));
  else parts.push(...figureOf(barsOf(groups)));
  const title = element("h2", { id: "picture-heading" }, "By decade and type");
  // Folded on narrow screens, where the chart is above the list.
  const hasRoom = matchMedia("(min-width: 62rem)").matches;
  const focused = document.activeElement.id;
  byId("picture").replaceChildren(folding("whole", hasRoom, title, ...parts));
  if (["of-filter", "of-all"].includes(focused)) byId(focused)?.focus();
}

/** Hides the chart, because an outdated one would be wrong. */
export function hideChart() {
  show(byId("picture"), false);
}

/** The choice between the robots of the filter and all robots. */
function choice(whole, filtered) {
  const option = (id, isChosen, title) => {
    const onchange = () => {
      isOfAll = id === "of-all";
      drawChart(whole, filtered);
    };
    const box = element("input", { type: "radio", name: "scope", id, checked: isChosen, onchange });
    return element("label", { class: "chip" }, box, element("span", {}, title));
  };
  return element(
    "fieldset",
    { class: "scope" },
    element("legend", { class: "unseen" }, "Robots in the chart"),
    option("of-filter", !isOfAll, "This filter"),
    option("of-all", isOfAll, "Whole catalogue"),
  );
}

function figureOf(bars) {
  const numbers = folding("numbers", false, "Numbers", table(bars));
  return [element("figure", {}, picture(bars), key()), numbers];
}

/** The bars in order, each with a label and counts by type. Decades outside the span with the most
    robots share one bar on each side, since years reach from 0 to more than 10^18. */
function barsOf(groups) {
  const counts = new Map();
  for (const { type, decade, count } of groups) {
    if (!counts.has(decade)) counts.set(decade, new Map());
    counts.get(decade).set(type, count);
  }
  const known = [...counts.keys()].filter((decade) => decade !== undefined);
  const decades = known.sort((one, other) => (one < other ? -1 : 1));
  const first = densest(decades, (decade) => sum(counts.get(decade)));
  const last = decades.findLast((decade) => decade < first + BigInt(MAX_DECADES));
  const bars = [];
  for (let decade = first; decade <= last; decade++) {
    bars.push({ label: `${decade}0s`, counts: counts.get(decade) ?? new Map() });
  }
  const merged = (chosen) => mergedOf(chosen.map((decade) => counts.get(decade)));
  const early = decades.filter((decade) => decade < first);
  const late = decades.filter((decade) => decade > last);
  if (early.length > 0) bars.unshift({ label: "older", counts: merged(early) });
  if (late.length > 0) bars.push({ label: "newer", counts: merged(late) });
  const none = counts.get(undefined);
  if (none) bars.push({ label: "no year", counts: none });
  return bars;
}

/** The first decade of the span with the most robots. */
function densest(decades, countOf) {
  let [best, most, count, from] = [decades[0], 0, 0, 0];
  for (const decade of decades) {
    count += countOf(decade);
    for (; decades[from] <= decade - BigInt(MAX_DECADES); from++) count -= countOf(decades[from]);
    if (count > most) [best, most] = [decades[from], count];
  }
  return best;
}

function sum(counts) {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function mergedOf(several) {
  const merged = new Map();
  for (const [type, count] of several.flatMap((counts) => [...counts])) {
    merged.set(type, (merged.get(type) ?? 0) + count);
  }
  return merged;
}

/** A foldable part, which keeps its state when the chart is drawn again. */
function folding(kind, isOpen, title, ...parts) {
  const before = byId("picture").querySelector(`details.${kind}`);
  const summary = element("summary", {}, title);
  return element("details", { class: kind, open: before?.open ?? isOpen }, summary, ...parts);
}

function picture(bars) {
  const most = Math.max(...bars.map(({ counts }) => sum(counts)));
  const step = WIDTH / bars.length;
  const label = "Bar chart of the number of robots by decade. A table with the numbers follows.";
  const svg = drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  svg.append(patterns());
  bars.forEach((bar, index) => svg.append(...barOf(bar, index * step, step, most, bars.length)));
  svg.append(drawn("path", { class: "axis", d: `M0 ${BASE + 0.5}H${WIDTH}` }));
  return svg;
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

function barOf({ label, counts }, x, step, most, number) {
  const width = Math.min(step * 0.72, 44);
  const left = x + (step - width) / 2;
  const total = sum(counts);
  const parts = [];
  let y = BASE;
  for (const type of typesIn([counts])) {
    const height = ((BASE - TOP) * (counts.get(type) ?? 0)) / most;
    if (height === 0) continue;
    y -= height;
    parts.push(drawn("rect", { class: `bar ${colorOf(TYPES, type)}`, x: left, y, width, height }));
  }
  const middle = x + step / 2;
  if (total > 0) parts.push(drawn("text", { x: middle, y: y - 5, class: "total" }, COMPACT.format(total)));
  const short = number > 8 ? label.replace(/^\d+(\d\d)s$/, "’$1") : label;
  parts.push(drawn("text", { x: middle, y: BASE + 17, class: "decade" }, shortened(short)));
  return parts;
}

/** Shortens the label of a decade with many digits. */
function shortened(label) {
  return label.length > 8 ? `…${label.slice(-6)}` : label;
}

function typesIn(bars) {
  return [...new Set([...TYPES, ...bars.flatMap((counts) => [...counts.keys()])])];
}

function key() {
  const entry = (type) => {
    const square = drawn("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
    square.append(drawn("rect", { class: `bar ${colorOf(TYPES, type)}`, width: 14, height: 14, rx: 3 }));
    return element("li", {}, square, type);
  };
  return element("ul", { class: "key" }, ...TYPES.map(entry));
}

function table(bars) {
  const types = typesIn(bars.map(({ counts }) => counts));
  const heading = (text, scope) => element("th", { scope }, text);
  const head = ["Decade", ...types, "all"].map((text) => heading(text, "col"));
  const rows = bars.map(({ label, counts }) => {
    const numbers = [...types.map((type) => counts.get(type) ?? 0), sum(counts)];
    const cells = numbers.map((number) => element("td", {}, number.toLocaleString("en")));
    return element("tr", {}, heading(label, "row"), ...cells);
  });
  const caption = element("caption", { class: "unseen" }, "Robots by decade and type");
  const parts = [element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)];
  return element("table", {}, caption, ...parts);
}
