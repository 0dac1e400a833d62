// The search: runs while typing, and is kept in the address for bookmarks, reload and history.

import { byId } from "./elements.js";
import { open } from "./list.js";

/** Milliseconds after a key until the search runs. */
const PAUSE = 150;

let timer;
let shown;

/** The search text in the address. */
function queryInAddress() {
  return new URLSearchParams(location.search).get("q") ?? "";
}

/** Starts the search, which loads the list. */
export function startSearch() {
  const box = byId("query");
  box.value = queryInAddress();
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  });
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    search();
  });
  // Links within the page cause this event, too, but do not change the search.
  addEventListener("popstate", () => {
    if (queryInAddress() === shown) return;
    box.value = queryInAddress();
    run(box.value);
  });
  run(box.value);
}

function search() {
  clearTimeout(timer);
  const query = byId("query").value;
  const before = queryInAddress();
  if (query === before) return;
  const address = new URL(location.href);
  if (query === "") address.searchParams.delete("q");
  else address.searchParams.set("q", query);
  // Going back leaves the search at once, not letter by letter.
  if (before === "" || query === "") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  run(query);
}

function run(query) {
  shown = query;
  document.title = query === "" ? "Robot Catalogue" : `${query} · Robot Catalogue`;
  open(query);
}
