// Panels that a button opens and closes, and menus that close when the user leaves them.

import { byId, onEscape, show } from "./elements.js";

/** Starts the panel with this id, whose buttons are `ID-open` and `ID-close`. Escape closes it, too. `opened` is called
    when it was opened, and returns the element to focus. Returns the function that opens it. */
export function startPanel(id, opened) {
  const open = () => {
    showPanel(id, true);
    opened().focus();
  };
  const close = () => {
    showPanel(id, false);
    byId(`${id}-open`).focus();
  };
  byId(`${id}-open`).addEventListener("click", () => (byId(id).hidden ? open() : close()));
  byId(`${id}-close`).addEventListener("click", close);
  onEscape(byId(id), close);
  return open;
}

/** Shows or hides a panel, and leaves the focus. */
export function showPanel(id, isShown) {
  show(byId(id), isShown);
  byId(`${id}-open`).setAttribute("aria-expanded", String(isShown));
}

/** Starts a menu, an element `details`. */
export function startMenu(id) {
  onEscape(byId(id), () => closeMenu(id));
  addEventListener("click", (event) => {
    // An element may have been replaced by its own click.
    if (event.target.isConnected && !byId(id).contains(event.target)) byId(id).open = false;
  });
}

/** Closes a menu, and moves the focus to its title. */
export function closeMenu(id) {
  byId(id).open = false;
  byId(id).querySelector("summary").focus();
}
