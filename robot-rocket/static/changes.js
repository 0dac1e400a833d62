// Changes of one or several robots, each by a request of its own, unless another user has changed the robot meanwhile.

import { get, remove, replace } from "./api.js";

/** The maximum number of requests at a time. The service stores concurrent changes together. */
const CONCURRENT = 8;

/** Deletes robots, and returns their outcomes. `progress` is called with the number of requests that were answered. */
export function erasedAll(robots, progress = () => {}) {
  return outcomesOf(robots, remove, progress);
}

/** Changes some values of robots, and returns their outcomes. */
export function changedAll(robots, values, progress) {
  return outcomesOf(robots, (robot) => replace(robot, { ...robot, ...values }), progress);
}

/** Why a robot was not changed. `verb` is what would have been done with it. */
export function reasonOf({ current, error }, verb) {
  if (!current) return "was deleted by another user.";
  if (error.status === 412) return `was not ${verb}: another user has just changed it. Look, and try again.`;
  const words = error.isTransient ? [`Whether it was ${verb} is unknown. Try again.`] : [];
  return `was not ${verb}. ${[...error.messages, ...words].join(" ")}`;
}

/** The outcomes of some robots. After an error that the others would have, too, they are not tried. */
async function outcomesOf(robots, action, progress) {
  const waiting = [...robots];
  const outcomes = new Map();
  const work = async () => {
    while (waiting.length > 0) {
      const robot = waiting.shift();
      const outcome = await outcomeOf(robot, action);
      progress(outcomes.set(robot, outcome).size);
      if (outcome.error?.needsToken || outcome.error?.isTransient) waiting.length = 0;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  return robots.flatMap((robot) => outcomes.get(robot) ?? []);
}

/** The outcome of an action: the robot, the robot as it is stored now (undefined if it is not), and the error, if any. */
async function outcomeOf(robot, action) {
  try {
    return { robot, current: await action(robot) };
  } catch (error) {
    if (error.status === 404) return { robot, error };
    // Without an answer, the robot that was read is the last one that is known.
    const current = error.status === 412 ? await get(robot.id).catch(() => robot) : robot;
    return { robot, current, error };
  }
}
