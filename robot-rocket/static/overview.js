// The numbers of robots, by the service: the total of the list, and the chart. They are requested
// after the rows, because counting a million robots takes longer than reading a page of them.

import { summary } from "./api.js";
import { drawChart, hideChart } from "./chart.js";
import { EVERYTHING, filterWithText, isFiltered } from "./view.js";

/** Milliseconds until the numbers are requested, since the user may go on typing. */
const PAUSE = 200;

let calls = new AbortController();
let timer;

/** The view that is shown. */
let shown;

/** The numbers that are known: of the current filter, as a text, and of the whole catalogue. */
let known = {};

/** Requests the numbers for a view, and shows them. `showTotal` is called with the number of its
    robots, or undefined. The same view again means that robots may have changed. */
export function requestOverview(view, showTotal) {
  stopOverview();
  if (view === shown) known = {};
  shown = view;
  // Another order of the same robots.
  if (known.filter === filterOf(view)) return showTotal(known.numbers.count);
  timer = setTimeout(() => load(view, showTotal), PAUSE);
}

/** Aborts requests that are overtaken by another view. */
export function stopOverview() {
  clearTimeout(timer);
  calls.abort();
}

function filterOf(view) {
  return JSON.stringify(filterWithText(view));
}

async function load(view, showTotal) {
  calls = new AbortController();
  const { signal } = calls;
  try {
    const numbers = await summary(view, signal);
    const whole = isFiltered(view) ? known.whole : numbers;
    showTotal(numbers.count);
    known = {
      whole: whole ?? (await summary(EVERYTHING, signal)),
      numbers,
      filter: filterOf(view),
    };
    drawChart(known.whole, numbers);
  } catch {
    if (signal.aborted) return;
    // The list shows the error.
    showTotal(undefined);
    hideChart();
  }
}
