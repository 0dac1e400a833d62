// Announcements for screen readers, and offers to undo a deletion.

import { byId, element, shownName, spokenName } from "./elements.js";

/** How long an offer is shown, unless it has the pointer or the focus. */
const OFFER_MILLISECONDS = 10_000;

/** The maximum number of offers; the oldest one is removed. */
const MAX_OFFERS = 4;

let pending;

/** Announces a text to screen readers, even if it is the same as the last one. */
export function announce(text) {
  const said = byId("said");
  said.textContent = "";
  clearTimeout(pending);
  pending = setTimeout(() => (said.textContent = text), 60);
}

/** Shows a message at the edge of the window for a while, longer if it has the pointer or focus. */
function showMessage(...words) {
  const messages = byId("undo");
  const attributes = { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: end };
  const text = element("p", {}, ...words);
  const shown = element("div", { class: "offer" }, text, element("button", attributes, "✕"));
  let timer;

  const stay = () => clearTimeout(timer);
  const wait = () => {
    stay();
    timer = setTimeout(end, OFFER_MILLISECONDS);
  };
  for (const event of ["mouseenter", "focusin"]) shown.addEventListener(event, stay);
  for (const event of ["mouseleave", "focusout"]) shown.addEventListener(event, wait);
  shown.addEventListener("keydown", (event) => event.key === "Escape" && end());

  function end() {
    stay();
    const hadFocus = shown.contains(document.activeElement);
    shown.remove();
    if (hadFocus) byId("robots").focus({ preventScroll: true });
  }

  messages.append(shown);
  while (messages.children.length > MAX_OFFERS) messages.firstChild.remove();
  wait();
  return { shown, text, stay };
}

/** Shows a message about a robot that may be out of view. */
export function notice(robot, words) {
  showMessage(shownName(robot.name), words);
  announce(`${spokenName(robot.name)}${words}`);
}

/** Offers to undo the deletion of a robot. */
export function offerUndo(robot, undo) {
  const { shown, text, stay } = showMessage("Deleted ", shownName(robot.name));
  const button = element("button", { type: "button", class: "main", onclick: take }, "Undo");
  text.after(button);
  announce(`Deleted ${spokenName(robot.name)}. Control Z restores it.`);

  /** The offer stays until the robot is restored, so that a failure can be shown and retried. */
  async function take() {
    stay();
    button.disabled = true;
    try {
      await undo();
      shown.remove();
    } catch (error) {
      const reason = ` is not back. ${error.messages.join(" ")}`;
      text.replaceChildren(shownName(robot.name), reason);
      announce(`${spokenName(robot.name)}${reason}`);
      button.disabled = false;
      button.focus();
    }
  }
}

/** Accepts the newest offer, if there is one. */
export function undoLast() {
  const button = byId("undo").querySelector(".offer:last-child .main:not(:disabled)");
  button?.click();
  return Boolean(button);
}
