// Menus that close when the user leaves them.

import { byId } from "./elements.js";

/** Starts a menu, an element `details`. */
export function startMenu(id) {
  byId(id).addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeMenu(id);
  });
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
