// Announcements for screen readers, and what happened last, at the foot of the page.

import { button, byId, element, onEscape, shownName, spokenName } from "./elements.js";

let pending;

/** Announces a text to screen readers, even if it is the same as the last one. */
export function announce(text) {
  const said = byId("said");
  said.textContent = "";
  clearTimeout(pending);
  pending = setTimeout(() => (said.textContent = text), 60);
}

/** Shows what happened last: texts, elements and robots, and the buttons of `actions`. */
export function showLast(parts, actions = []) {
  const shown = parts.map((part) => (part.id ? shownName(part.name) : part));
  const text = element("p", {}, ...shown);
  const dismissing = button("✕", end, { class: "quiet", "aria-label": "Dismiss" });
  const offer = element("div", { class: "offer" }, text, ...actions, dismissing);
  onEscape(offer, end);
  byId("undo").replaceChildren(offer);

  function end() {
    const hadFocus = offer.contains(document.activeElement);
    offer.remove();
    if (hadFocus) byId("robots").focus({ preventScroll: true });
  }
}

/** Shows a message about a robot that may be out of view. */
export function notice(robot, words) {
  showLast([robot, words]);
  announce(`${spokenName(robot.name)}${words}`);
}
