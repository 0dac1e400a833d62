// The page of the catalogue: starts its parts, and knows the keys that work everywhere.

import { isUnfinished, startAdding } from "./adding.js";
import { undoLast } from "./announcements.js";
import { redraw } from "./chart.js";
import { startConnection } from "./connection.js";
import { byId } from "./elements.js";
import { hasChanges, reopen, startList } from "./list.js";
import { startSearch } from "./search.js";
import { showStart } from "./start.js";
import { startToken } from "./token.js";

const SHORTCUTS_KEY = "robots-shortcuts";

function changed(what, hasRobots) {
  if (what !== "grown") redraw();
  showStart(!hasRobots);
}

/** The key may be in somebody's way, who speaks to the computer, say; it can be switched off. */
function startShortcuts() {
  const choice = byId("shortcuts");
  try {
    choice.checked = localStorage.getItem(SHORTCUTS_KEY) !== "off";
    choice.addEventListener("change", () => {
      localStorage.setItem(SHORTCUTS_KEY, choice.checked ? "on" : "off");
    });
  } catch {
    // Where a browser keeps nothing for the page, the choice lasts as long as the page does.
  }
  addEventListener("keydown", (event) => {
    if (event.target.matches("input, textarea, select") || byId("help").open) return;
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    const isSearch = event.key === "/" && choice.checked && !event.ctrlKey && !event.metaKey;
    if (isSearch) {
      byId("query").focus();
      byId("query").select();
    }
    if (isSearch || (isUndo && undoLast())) event.preventDefault();
  });
}

function startHelp() {
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
}

// The list is loaded anew, so that a place in it from before would be another one.
history.scrollRestoration = "manual";
addEventListener("beforeunload", (event) => {
  if (hasChanges() || isUnfinished()) event.preventDefault();
});

startToken(reopen);
startConnection();
startAdding();
startHelp();
startShortcuts();
startList(changed);
startSearch();
