// Announcements for screen readers, and offers to undo a deletion.

import { button, byId, element, isTyping, onEscape, shownName, spokenName } from "./elements.js";

/** How long an offer is shown, unless it has the pointer or the focus. */
const OFFER_MILLISECONDS = 10_000;

/** The maximum number of offers, not counting pending ones; the oldest one is removed. */
const MAX_OFFERS = 4;

let pending;

/** Announces a text to screen readers, even if it is the same as the last one. */
export function announce(text) {
  const said = byId("said");
  said.textContent = "";
  clearTimeout(pending);
  pending = setTimeout(() => (said.textContent = text), 60);
}

/** Whether the user has accepted an offer, and the server has not answered yet. */
function isPending(offer) {
  return offer.querySelector(".main:disabled") !== null;
}

/** Shows a message at the edge of the window for a while, longer if it has the pointer or focus. */
function showMessage(...words) {
  const messages = byId("undo");
  const text = element("p", {}, ...words);
  const dismissing = button("✕", end, { class: "quiet", "aria-label": "Dismiss" });
  const shown = element("div", { class: "offer" }, text, dismissing);
  let timer;

  const stay = () => clearTimeout(timer);
  const wait = () => {
    stay();
    if (!isPending(shown)) timer = setTimeout(end, OFFER_MILLISECONDS);
  };
  for (const event of ["mouseenter", "focusin"]) shown.addEventListener(event, stay);
  for (const event of ["mouseleave", "focusout"]) shown.addEventListener(event, wait);
  onEscape(shown, end);

  function end() {
    if (isPending(shown)) return;
    stay();
    const hadFocus = shown.contains(document.activeElement);
    shown.remove();
    if (hadFocus) byId("robots").focus({ preventScroll: true });
  }

  const others = [...messages.children].filter((offer) => !isPending(offer));
  for (const offer of others.slice(0, 1 - MAX_OFFERS)) offer.remove();
  messages.append(shown);
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
  const undoing = button("Undo", take, { class: "main" });
  text.after(undoing);
  announce(`Deleted ${spokenName(robot.name)}. Control Z restores it.`);

  /** The offer stays until the robot is restored, so that a failure can be shown and retried. */
  async function take() {
    stay();
    undoing.disabled = true;
    try {
      await undo();
      shown.remove();
    } catch (error) {
      const reason = ` ${error.isTransient ? "may not be" : "is not"} back. ${error.messages.join(" ")}`;
      text.replaceChildren(shownName(robot.name), reason);
      announce(`${spokenName(robot.name)}${reason}`);
      undoing.disabled = false;
      if (!isTyping()) undoing.focus();
    }
  }
}

/** Accepts the newest offer, if there is one. */
export function undoLast() {
  const button = [...byId("undo").querySelectorAll(".offer .main:not(:disabled)")].at(-1);
  button?.click();
  return Boolean(button);
}
