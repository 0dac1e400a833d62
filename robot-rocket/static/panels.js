// Panels above the list, each opened and closed by a button.

import { byId, show } from "./elements.js";

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
  byId(id).addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) close();
  });
  return open;
}

/** Shows or hides a panel, and leaves the focus. */
export function showPanel(id, isShown) {
  show(byId(id), isShown);
  byId(`${id}-open`).setAttribute("aria-expanded", String(isShown));
}
