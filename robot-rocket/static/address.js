// The current view, kept in the address of the page for bookmarks, reload and history.

import { TITLE } from "./robot.js";
import { EVERYTHING, TYPED, addressWith, isSameView, viewIn } from "./view.js";

let shown = EVERYTHING;
let notifyShown = () => {};

/** Shows the view in the address. `show` is called with each new view and the one before it, with whether the inputs
    may have another one, such as after going back in the history, and with whether only the definition has changed. */
export function startAddress(show) {
  notifyShown = show;
  // Links within the page cause this event, too, but do not change the view.
  addEventListener("popstate", () => {
    if (!isSameView(viewIn(location.search), shown)) run(viewIn(location.search), true);
  });
  run(viewIn(location.search), true);
}

/** Shows the view in the address again, because the definition has changed. */
export function refreshAddress() {
  run(viewIn(location.search), true, true);
}

/** Shows the view in the query of an address, as if the user had gone there. */
export function openAddress(search) {
  changeView(viewIn(search));
}

/** The current view. */
export function currentView() {
  return shown;
}

/** Changes some members of the current view. `isInput` says that the inputs have them already. */
export function changeView(members, isInput = false) {
  const view = { ...shown, ...members };
  if (isSameView(view, shown)) return;
  const isTyped = (key) => shown[key] !== view[key] && shown[key] !== "" && view[key] !== "";
  const isTyping = ["q", ...TYPED].some(isTyped);
  const address = addressWith(view, location.href);
  // Going back leaves a typed text at once, not letter by letter.
  if (isTyping) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  run(view, !isInput);
}

function run(view, isFromOutside, isRedefined = false) {
  const before = shown;
  shown = view;
  document.title = view.q === "" ? TITLE : `${view.q} · ${TITLE}`;
  notifyShown(view, before, isFromOutside, isRedefined);
}
