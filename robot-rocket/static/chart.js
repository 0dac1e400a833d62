// The chart, a strip above the list: the numbers of robots by a field. A click on a bar filters by its values.

import { changeView, currentView } from "./address.js";
import { binsOf, dateBins, drawable, total, valueBars } from "./bins.js";
import { button, byId, element, show } from "./elements.js";
import { filterBy } from "./filters.js";
import { MANY, MEMBERS, ONE, OWN, TYPES, colorOf, member, onDefined } from "./robot.js";
import { NO_CHART } from "./view.js";

/** The number of bars that share the width, even if there are fewer. */
const MIN_BARS = 8;

/** Numbers above bars, which have little room: from `EXACT` on, only the table has the exact ones. */
const EXACT = 10_000;
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
    const options = countable().map(({ key, title }) => element("option", { value: key }, title));
    byId("chart-by").replaceChildren(...options);
    show(byId("chart-open"), options.length > 0);
  });
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
  byId("no-bars").textContent = hint;
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
  byId("no-bars").textContent = bars.length === 0 ? `No ${ONE} matches the filter.` : "";
  show(byId("numbers-open"), bars.length > 0);
  byId("figure").replaceChildren(...(bars.length > 0 ? [picture(drawable(bars), key)] : []));
  byId("key").replaceChildren(...(key === "year" ? legend() : []));
  byId("numbers").replaceChildren(...(bars.length > 0 ? table(bars, key) : []));
}

/** The bars of a field. The style sheet makes them as wide as there is room. */
function picture(bars, key) {
  const label = `Bar chart of the number of ${MANY} by ${member(key).title.toLowerCase()}. A table with the numbers follows.`;
  const most = Math.max(...bars.map(({ counts }) => total(counts)));
  const shown = element("div", { class: "bars", role: "img", "aria-label": label }, ...bars.map((bar) => barOf(bar, key, most)));
  shown.style.setProperty("--bars", Math.max(bars.length, MIN_BARS));
  return shown;
}

function barOf({ title, label, isWord, counts, conditions }, key, most) {
  const choices = choicesOf(key);
  const sum = total(counts);
  const parts = seriesOf([{ counts }], choices).filter((series) => counts.has(series)).map((series) => {
    const color = choices.length > 0 ? colorOf(choices, series) : series === "" && !conditions ? "" : "choice-1";
    const part = element("div", { class: `part ${color}${key === "year" ? " marked" : ""}` });
    part.style.setProperty("--share", counts.get(series) / most);
    return part;
  });
  // A number is where its bin starts, and a gap is marked above the axis.
  const place = !title ? "gap" : isWord || label === title ? "" : "edge";
  const children = [element("div", { class: `decade ${place}` }, label), ...parts];
  if (sum === 0) return element("div", {}, ...children);
  children.push(element("div", { class: "total" }, sum < EXACT ? sum.toLocaleString("en") : COMPACT.format(sum)));
  const attributes = { title: `${title}: ${sum.toLocaleString("en")}`, class: conditions ? "bin" : "" };
  const bar = element("div", attributes, ...children);
  if (conditions) bar.addEventListener("click", () => filterBy(key, conditions));
  return bar;
}

/** The values that divide the bars of a field. */
const choicesOf = (key) => (key === "year" ? TYPES : member(key).choices);

function seriesOf(bars, choices) {
  return [...new Set([...choices, ...bars.flatMap(({ counts }) => [...counts.keys()])])];
}

/** The types that have a color, and the others. */
function legend() {
  const colored = TYPES.filter((type) => colorOf(TYPES, type));
  const items = [...colored, ...(colored.length < TYPES.length ? ["others"] : [])];
  return items.map((type) => element("li", {}, element("span", { class: `part marked ${colorOf(TYPES, type)}` }), type));
}

function table(bars, key) {
  const filled = bars.filter(({ counts }) => counts.size > 0);
  const series = key === "year" && TYPES.length > 0 ? seriesOf(filled, TYPES) : [];
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
