// The numbers of robots, by the service: the total of the list, and the chart. They are requested
// after the rows, because counting a million robots takes longer than reading a page of them.

import { summary } from "./api.js";
import { drawChart, hideChart } from "./chart.js";
import { EVERYTHING, isFiltered } from "./view.js";

/** Milliseconds until the numbers are requested, since the user may go on typing. */
const PAUSE = 200;

let calls = new AbortController();
let timer;

/** Requests the numbers for a view, and shows them. `showTotal` is called with the number of its
    robots, or undefined. */
export function requestOverview(view, showTotal) {
  stopOverview();
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
    const whole = isFiltered(view) ? await summary(EVERYTHING, signal) : numbers;
    drawChart(whole, numbers);
  } catch {
    if (signal.aborted) return;
    // The list shows the error.
    showTotal(undefined);
    hideChart();
  }
}
