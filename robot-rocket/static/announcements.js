// What is said to those who do not see it, and what can be undone for a while.

import { byId, element, shownName, spokenName } from "./elements.js";

/** How long a deletion can be undone, while nobody points at the offer. */
const OFFER_MILLISECONDS = 10_000;

/** The most offers at a time; the oldest one goes. */
const OFFERS = 4;

let pending;

/** Has screen readers say a text, also where it is the one that they said last. */
export function say(text) {
  const said = byId("said");
  said.textContent = "";
  clearTimeout(pending);
  pending = setTimeout(() => (said.textContent = text), 60);
}

/** Shows words at the edge of the window for a while, longer where somebody is at them. */
function float(...words) {
  const floats = byId("undo");
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

  floats.append(shown);
  while (floats.children.length > OFFERS) floats.firstChild.remove();
  wait();
  return { shown, text, stay };
}

/** Tells what became of a robot that is not in sight. */
export function notice(robot, words) {
  float(shownName(robot.name), words);
  say(`${spokenName(robot.name)}${words}`);
}

/** Offers to undo the deletion of a robot. */
export function offerUndo(robot, undo) {
  const { shown, text, stay } = float("Deleted ", shownName(robot.name));
  const button = element("button", { type: "button", class: "main", onclick: take }, "Undo");
  text.after(button);
  say(`Deleted ${spokenName(robot.name)}. Control Z brings it back.`);

  /** The offer stays until the robot is back, so that a failure can be told and tried again. */
  async function take() {
    stay();
    button.disabled = true;
    try {
      await undo();
      shown.remove();
    } catch (error) {
      const reason = ` is not back. ${error.messages.join(" ")}`;
      text.replaceChildren(shownName(robot.name), reason);
      say(`${spokenName(robot.name)}${reason}`);
      button.disabled = false;
      button.focus();
    }
  }
}

/** Takes the newest offer, if there is one. */
export function undoLast() {
  const button = byId("undo").querySelector(".offer:last-child .main:not(:disabled)");
  button?.click();
  return Boolean(button);
}
