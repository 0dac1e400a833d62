// Entry point: starts the parts of the page, and handles global keys.

import { isUnfinished, startAdding } from "./adding.js";
import { changeView, currentView, startAddress } from "./address.js";
import { undoLast } from "./announcements.js";
import { startConnection } from "./connection.js";
import { byId } from "./elements.js";
import { showExport, startExporting } from "./exporting.js";
import { isImporting, startImporting } from "./importing.js";
import { hasChanges, open, reopen, showTotal, startList } from "./list.js";
import { requestOverview, stopOverview } from "./overview.js";
import { fillSearch, startSearch } from "./search.js";
import { showStart } from "./start.js";
import { startToken } from "./token.js";

const SHORTCUTS_KEY = "robots-shortcuts";

/** Elements in which keys have a meaning of their own. */
const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select";

function showView(view, isFromOutside) {
  if (isFromOutside) fillSearch(view);
  stopOverview();
  showExport(view);
  open(view);
}

function changed(what, hasRobots) {
  if (what !== "grown") requestOverview(currentView(), showTotal);
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
    if (event.target.matches(TYPED) || byId("help").open) return;
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
  if (hasChanges() || isUnfinished() || isImporting()) event.preventDefault();
});

startToken(reopen);
startConnection();
startAdding();
startImporting(reopen);
startExporting();
startHelp();
startShortcuts();
startSearch();
startList(changed, (sort) => changeView({ sort }));
startAddress(showView);
