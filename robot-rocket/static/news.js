// Robots that others have added, which wait until the user wants to see them.

import { button, byId } from "./elements.js";

/** The maximum number of robots that are kept. More, and the list is read again to show them. */
const KEPT = 100;

/** The robots by their ids. */
const expected = new Map();

let listener;

/** Starts the button, which calls `show`. */
export function startNews(show) {
  listener = show;
}

/** Lets a robot wait. */
export function expectRobot(robot) {
  expected.set(robot.id, expected.size < KEPT ? robot : undefined);
  draw();
}

/** A robot is shown or deleted; without an id, all are. */
export function forgetExpected(id) {
  if (id === undefined) expected.clear();
  else if (!expected.delete(id)) return;
  draw();
}

/** The robots that wait; undefined if they are too many. */
export function expectedRobots() {
  const robots = [...expected.values()];
  return robots.includes(undefined) ? undefined : robots;
}

function draw() {
  const { size } = expected;
  byId("news").replaceChildren(...(size > 0 ? [button(`${size.toLocaleString("en")} new: show`, listener)] : []));
}
