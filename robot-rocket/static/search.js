// The search: what is typed is looked for at once, and stands in the address, for bookmarks, for
// a reload and for going back.

import { byId } from "./elements.js";
import { open } from "./list.js";

/** Waited for after a key, so that a word is one search. */
const PAUSE = 150;

let timer;
let shown;

/** What the address says is looked for. */
function ofAddress() {
  return new URLSearchParams(location.search).get("q") ?? "";
}

/** Starts the search, and with it the list. */
export function startSearch() {
  const box = byId("query");
  box.value = ofAddress();
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  });
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    look();
  });
  // A link within the page counts as going somewhere, too, and changes nothing here.
  addEventListener("popstate", () => {
    if (ofAddress() === shown) return;
    box.value = ofAddress();
    run(box.value);
  });
  run(box.value);
}

function look() {
  clearTimeout(timer);
  const query = byId("query").value;
  const before = ofAddress();
  if (query === before) return;
  const address = new URL(location.href);
  if (query === "") address.searchParams.delete("q");
  else address.searchParams.set("q", query);
  // Going back leads out of a search, and not through each of its letters.
  if (before === "" || query === "") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  run(query);
}

function run(query) {
  shown = query;
  document.title = query === "" ? "Robot Catalogue" : `${query} · Robot Catalogue`;
  open(query);
}
