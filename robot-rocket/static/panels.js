// Panels that a button opens and closes, and menus that close when the user leaves them.

import { byId, onEscape, show } from "./elements.js";

/** The ids of the panels that were started. Of those at the side, one is open at a time. */
const started = [];

/** Starts the panel with this id, whose buttons are `ID-open` and `ID-close`. Escape closes it, too, and calls `givenUp`.
    `opened` is called when it was opened, and returns the element to focus. Returns the function that opens it. */
export function startPanel(id, opened, givenUp) {
  started.push(id);
  const open = () => {
    if (byId(id).matches(".panel")) closePanels();
    showPanel(id, true);
    opened().focus();
  };
  const close = () => {
    showPanel(id, false);
    // In a narrow window, the button is in a menu.
    [byId(`${id}-open`), byId("tools-open")].find((button) => button.checkVisibility())?.focus();
  };
  byId(`${id}-open`).addEventListener("click", () => (byId(id).hidden ? open() : close()));
  byId(`${id}-close`).addEventListener("click", close);
  onEscape(byId(id), () => {
    givenUp?.();
    close();
  });
  return open;
}

/** Closes the panels at the side. */
export function closePanels() {
  for (const id of started) if (byId(id).matches(".panel")) showPanel(id, false);
}

/** Shows or hides a panel, and leaves the focus. */
export function showPanel(id, isShown) {
  show(byId(id), isShown);
  byId(`${id}-open`).setAttribute("aria-expanded", String(isShown));
}

/** Hides an element. If it had the focus, the list gets it. */
export function hide(shown) {
  const hadFocus = shown.contains(document.activeElement);
  show(shown, false);
  if (hadFocus) byId("robots").focus({ preventScroll: true });
}

/** Starts a menu, an element `details`. */
export function startMenu(menu) {
  onEscape(menu, () => closeMenu(menu));
}

// A click elsewhere closes the menus.
addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
}, true);

/** Closes a menu, and moves the focus to its title. */
export function closeMenu(menu) {
  menu.open = false;
  menu.querySelector("summary").focus();
}
