// Outages: shows that the server does not answer or is too busy, and retries until it answers.

import { announce } from "./announcements.js";
import { probe } from "./api.js";
import { button, byId, element, show } from "./elements.js";
import { hide } from "./panels.js";

const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

/** Milliseconds after an outage from which on another one starts with the shortest pause. Before,
    the probe may succeed while the retried actions fail: they would be repeated every second. */
const QUIET = 30_000;

/** Actions to run when the server answers. */
const waiting = new Set();

let pause = SHORTEST_PAUSE;
let timer;

/** When the last outage ended. */
let ended = -Infinity;

let isTrying = false;

/** Shows a transient error, and runs an action when the server answers again. */
export function whenBack(error, action) {
  waiting.add(action);
  if (byId("trouble").hidden) {
    if (performance.now() - ended > QUIET) pause = SHORTEST_PAUSE;
    const why = error.status === 503 ? ["The server is busy; trying again."] : error.messages;
    const words = [...why, "What you typed stays here."].join(" ");
    byId("trouble").replaceChildren(element("p", {}, words), button("Try again", attempt));
    show(byId("trouble"));
    retryLater();
  }
}

function retryLater() {
  clearTimeout(timer);
  timer = setTimeout(attempt, pause);
  pause = Math.min(pause * 2, LONGEST_PAUSE);
}

async function attempt() {
  if (isTrying) return;
  isTrying = true;
  try {
    await probe();
  } catch (error) {
    // Other errors are answers, too.
    if (error.isTransient) return retryLater();
  } finally {
    isTrying = false;
  }
  endOutage();
}

function endOutage() {
  clearTimeout(timer);
  ended = performance.now();
  hide(byId("trouble"));
  announce("The server answers again.");
  const actions = [...waiting];
  waiting.clear();
  for (const action of actions) action();
}

/** Retries immediately when the browser is online again. */
export function startConnection() {
  addEventListener("online", () => byId("trouble").hidden || attempt());
}
