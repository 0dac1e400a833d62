// Changes of robots, by the user or by others, which parts of the page follow.

const followers = [];

/** Calls a follower with each list of changes, and with whether others made them. A change has the `id` of a robot, and the
    `robot` after it, or null if it was deleted. */
export function onChanges(follower) {
  followers.push(follower);
}

/** Reports changes to all followers. */
export function reportChanges(changes, isOfOthers = false) {
  for (const follower of followers) follower(changes, isOfOthers);
}
