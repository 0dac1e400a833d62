// Entry point: starts the parts of the page, and handles global keys.

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

/** The key can be switched off, since it may disturb users of speech input. */
function startShortcuts() {
  const choice = byId("shortcuts");
  try {
    choice.checked = localStorage.getItem(SHORTCUTS_KEY) !== "off";
    choice.addEventListener("change", () => {
      localStorage.setItem(SHORTCUTS_KEY, choice.checked ? "on" : "off");
    });
  } catch {
    // Without storage, the choice is kept until the page is reloaded.
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

// The list is loaded from its start, so that an old scroll position is wrong.
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
