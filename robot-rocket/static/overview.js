// The numbers of robots, by the service: the total of the list, and the chart. They are requested
// after the rows, because counting a million robots takes longer than reading a page of them.

import { summary } from "./api.js";
import { drawChart, hideChart } from "./chart.js";
import { EVERYTHING, isFiltered } from "./view.js";

/** Milliseconds until the numbers are requested, since the user may go on typing. */
const PAUSE = 200;

/** Milliseconds for which the numbers of the whole catalogue are kept, for other filters. */
const KEPT = 10_000;

let calls = new AbortController();
let timer;

/** The numbers of the whole catalogue, and when they were received. */
let whole = { numbers: undefined, time: -Infinity };

/** The view whose numbers were requested last. */
let shown;

/** Requests the numbers for a view, and shows them. `showTotal` is called with the number of its
    robots, or undefined. The same view again means that robots may have changed. */
export function requestOverview(view, showTotal) {
  stopOverview();
  if (view === shown) whole.time = -Infinity;
  shown = view;
  timer = setTimeout(() => load(view, showTotal), PAUSE);
}

/** Aborts requests that are overtaken by another view. */
export function stopOverview() {
  clearTimeout(timer);
  calls.abort();
}

async function load(view, showTotal) {
  calls = new AbortController();
  const { signal } = calls;
  try {
    const numbers = await summary(view, signal);
    showTotal(numbers.count);
    drawChart(isFiltered(view) ? await wholeCatalogue(signal) : numbers, numbers);
  } catch {
    if (signal.aborted) return;
    // The list shows the error.
    showTotal(undefined);
    hideChart();
  }
}

async function wholeCatalogue(signal) {
  if (performance.now() - whole.time > KEPT) {
    const numbers = await summary(EVERYTHING, signal);
    whole = { numbers, time: performance.now() };
  }
  return whole.numbers;
}
