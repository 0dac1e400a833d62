// Changes of robots, by the user or by others, which parts of the page follow.

const followers = [];

/** The positions before and after own changes of many robots, which others seem to have made when they are followed. */
const own = [];

/** Own changes whose positions are not known yet. */
let storing = Promise.resolve();

/** Notes own changes of many robots between two positions. */
export const noteOwn = (changes) => own.push(changes);

/** Returns a promise of own changes, which `ownStored` waits for. */
export function storingOwn(promise) {
  storing = promise.catch(() => {});
  return promise;
}

/** Waits until own changes that are under way are noted. */
export const ownStored = () => storing;

/** The number of the last change before a position. */
export const numberOf = (position) => BigInt(position.split("-").at(-1));

function isOwn({ revision }) {
  return own.some(({ after, until }) => numberOf(after) < BigInt(revision) && BigInt(revision) <= numberOf(until));
}

/** Calls a follower with each list of changes, and with whether others made them. A change has the `id` of a robot, and the
    `robot` after it, or null if it was deleted. */
export function onChanges(follower) {
  followers.push(follower);
}

/** Reports changes to all followers. */
export function reportChanges(changes, isOfOthers = false) {
  const news = isOfOthers ? changes.filter((change) => !isOwn(change)) : changes;
  for (const follower of followers) follower(news, isOfOthers);
}
