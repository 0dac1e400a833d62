// The server is away, or too busy: the page says so, and asks again and again until it answers.

import { say } from "./announcements.js";
import { probe } from "./api.js";
import { byId, element, show } from "./elements.js";

const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

/** What is done when the server answers. */
const waiting = new Set();

let pause = SHORTEST_PAUSE;
let timer;
let isTrying = false;

/** Tells of an error that passes, and does something when it has. */
export function whenBack(error, action) {
  waiting.add(action);
  if (byId("trouble").hidden) {
    pause = SHORTEST_PAUSE;
    tell(error);
    later();
  }
}

function tell(error) {
  const words = [...error.messages, "What you typed stays here."].join(" ");
  const button = element("button", { type: "button", onclick: attempt }, "Try again");
  byId("trouble").replaceChildren(element("p", {}, words), button);
  show(byId("trouble"));
}

function later() {
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
    // Whoever refuses is there.
    if (error.isPassing) return later();
  } finally {
    isTrying = false;
  }
  over();
}

function over() {
  clearTimeout(timer);
  const hadFocus = byId("trouble").contains(document.activeElement);
  show(byId("trouble"), false);
  if (hadFocus) byId("robots").focus({ preventScroll: true });
  say("The server answers again.");
  const actions = [...waiting];
  waiting.clear();
  for (const action of actions) action();
}

/** Tries at once when the browser is connected again. */
export function startConnection() {
  addEventListener("online", () => byId("trouble").hidden || attempt());
}
