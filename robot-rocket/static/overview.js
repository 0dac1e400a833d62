// The numbers of robots, by the service: the total of the list, and the chart. They are requested
// after the rows, because counting a million robots takes longer than reading a page of them.

import { START, countsBy, find, summary } from "./api.js";
import { MAX_VALUES, numberRanges, rangeBars } from "./bins.js";
import { barsOf, chartField, drawChart, emptyChart, reserveChart } from "./chart.js";
import { byId } from "./elements.js";
import { KINDS } from "./kinds.js";
import { member } from "./robot.js";
import { EVERYTHING, NONE, isFiltered } from "./view.js";

/** Milliseconds until the numbers are requested, since the user may go on typing. */
const PAUSE = 200;

/** Milliseconds after which numbers are requested again if robots have changed meanwhile, or after a failure. */
const [INTERVAL, RETRY] = [1000, 5000];

/** Milliseconds for which the numbers of the whole catalogue are kept, for other filters. */
const KEPT = 10_000;

let calls = new AbortController();
let timer;

/** Whether numbers are requested, or will be; and whether robots have changed since. */
let [isBusy, isOutdated] = [false, false];

/** The bars of the whole catalogue, of which field, and when they were received. */
let whole = { key: undefined, bars: undefined, time: -Infinity };

/** The view whose numbers were requested last. */
let shown;

/** Requests the numbers for a view, and shows them. `showTotal` is called with the number of its
    robots, or undefined. The same view again means that robots may have changed. Changes of others abort no requests: if
    others change robots all the time, there would be no numbers. */
export function requestOverview(view, showTotal, isOfOthers = false) {
  isOutdated = true;
  if (isOfOthers && isBusy) return;
  stopOverview();
  reserveChart(view);
  if (view === shown) whole.time = -Infinity;
  shown = view;
  loadLater(PAUSE, view, showTotal);
}

/** Aborts requests that are overtaken by another view. */
export function stopOverview() {
  clearTimeout(timer);
  calls.abort();
  isBusy = false;
}

function loadLater(pause, ...given) {
  isBusy = true;
  timer = setTimeout(() => load(...given), pause);
}

async function load(view, showTotal) {
  calls = new AbortController();
  const { signal } = calls;
  let [count, pause] = [undefined, INTERVAL];
  isOutdated = false;
  try {
    const numbers = await summary(view, signal);
    count = numbers.count;
    showTotal(count);
    const key = chartField(view);
    const bars = key === "year" ? barsOf(key, numbers) : key && (await barsFor(key, view, signal));
    if (key) redraw(key, isFiltered(view) ? await wholeCatalogue(key, signal) : bars, bars);
  } catch (error) {
    if (signal.aborted) return;
    // The list shows the error.
    if (count === undefined) showTotal(undefined);
    emptyChart();
    pause = RETRY;
    if (error.isTransient) isOutdated = true;
  }
  isBusy = false;
  if (!isOutdated) return;
  whole.time = -Infinity;
  loadLater(pause, view, showTotal);
}

/** Draws the chart. A button of its table keeps the focus. */
function redraw(...given) {
  const focused = document.activeElement.closest("#numbers button")?.textContent;
  drawChart(...given);
  const buttons = [...byId("numbers").querySelectorAll("button")];
  if (focused) buttons.find(({ textContent }) => textContent === focused)?.focus();
}

async function wholeCatalogue(key, signal) {
  if (key !== whole.key || performance.now() - whole.time > KEPT) {
    const bars = await barsFor(key, EVERYTHING, signal);
    whole = { key, bars, time: performance.now() };
  }
  return whole.bars;
}

async function barsFor(key, view, signal) {
  if (key === "year") return barsOf(key, await summary(view, signal));
  const { input } = member(key);
  if (["digits", "number"].includes(input)) return numberBars(key, view, signal);
  // Texts may have very many values.
  const limit = ["text", "uri"].includes(input) ? MAX_VALUES : undefined;
  return barsOf(key, await countsBy(key, view, limit, signal));
}

/** The bars of a number: the service counts the robots of each range. */
async function numberBars(key, view, signal) {
  const [from, to] = [`${key}_from`, `${key}_to`];
  const isBetween = (one, other) => one === "" || other === "" || KINDS[member(key).input].compare(one, other) <= 0;
  const countOf = async (conditions) => (await summary({ ...view, ...conditions }, signal)).count;
  if (view[key] === NONE) return rangeBars(key, [], await countOf({}));
  const ends = [key, `-${key}`].map((sort) => find({ ...view, sort }, START, 1, signal));
  const [least, greatest] = (await Promise.all(ends)).map(({ robots }) => Number(robots[0]?.[key] || NaN));
  const hasRange = view[from] !== "" || view[to] !== "";
  const none = hasRange ? 0 : await countOf({ [key]: NONE });
  if (Number.isNaN(least)) return rangeBars(key, [], none);
  const ranges = numberRanges(least, greatest, member(key).input === "digits");
  const counted = ranges.map(async (range) => {
    const first = isBetween(view[from], String(range.from)) ? String(range.from) : view[from];
    const last = view[to] !== "" && isBetween(view[to], String(range.to)) ? view[to] : String(range.to);
    return { ...range, count: isBetween(first, last) ? await countOf({ [from]: first, [to]: last }) : 0 };
  });
  return rangeBars(key, await Promise.all(counted), none);
}
