// Entry point: starts the parts of the page, and handles global keys.

import { may, nameOfToken, refreshAccess } from "./access.js";
import { isUnfinished, openForm, startAdding } from "./adding.js";
import { currentView, refreshAddress, startAddress } from "./address.js";
import { refreshDefinition } from "./api.js";
import { CellEditing } from "./cells.js";
import { startChart } from "./chart.js";
import { showChosen } from "./columns.js";
import { startConnection } from "./connection.js";
import { startDefining } from "./defining.js";
import { byId, inStorage } from "./elements.js";
import { startExporting } from "./exporting.js";
import { isImporting, startImporting } from "./importing.js";
import * as list from "./list.js";
import { fillFilters, startFilters } from "./filters.js";
import { connectLive, startLive } from "./live.js";
import { requestOverview, stopOverview } from "./overview.js";
import { startRecent } from "./recent.js";
import { editRobot, isRecordChanged, startRecord } from "./record.js";
import { MANY, ONE, TITLE, aOne, definition, onDefined } from "./robot.js";
import { fillSearch, startSearch } from "./search.js";
import { startSorting } from "./sorting.js";
import { showStart, startStart } from "./start.js";
import { startToken, token } from "./token.js";
import { isUndoing, undoLast } from "./undo.js";
import { isSameFilter, isSameList } from "./view.js";
import { startViews } from "./views.js";

/** Whether the first view was shown. */
let isStarted = false;

const SHORTCUTS_KEY = "robots-shortcuts";

/** Elements in which keys have a meaning of their own. */
const TYPED = "input:not([type=checkbox], [type=radio]), textarea, select";

function showView(view, before, isFromOutside, isRedefined) {
  if (isRedefined || (isFromOutside && !isSameFilter(view, before))) {
    fillSearch(view);
    fillFilters(view);
  }
  if (isStarted && !isRedefined && isSameList(view, before)) {
    list.arrange(view);
    showChosen();
    if (view.by !== before.by) requestOverview(view, list.showTotal);
    return undefined;
  }
  stopOverview();
  list.open(view, isRedefined);
}

function changed(what, hasRobots) {
  if (what !== "grown") requestOverview(currentView(), list.showTotal, what === "followed");
  showStart(!hasRobots);
}

/** The keys can be switched off, since they may disturb users of speech input. */
function startShortcuts() {
  const choice = byId("shortcuts");
  choice.checked = inStorage(() => localStorage.getItem(SHORTCUTS_KEY)) !== "off";
  choice.addEventListener("change", () => {
    inStorage(() => localStorage.setItem(SHORTCUTS_KEY, choice.checked ? "on" : "off"));
  });
  addEventListener("keydown", (event) => {
    if (event.target.matches(TYPED) || byId("help").open) return;
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    const isFree = choice.checked && !event.target.closest("td");
    const isPlain = isFree && !event.ctrlKey && !event.metaKey && !event.altKey;
    const key = isPlain && byId("query").checkVisibility() && event.key;
    if (key === "/") {
      byId("query").focus();
      byId("query").select();
    }
    if (key === "a" && may("write")) openForm();
    if (["/", "a"].includes(key) || (isUndo && undoLast())) event.preventDefault();
  });
}

function startHelp() {
  const tools = byId("tools-open");
  tools.addEventListener("click", () => (tools.ariaExpanded = String(tools.ariaExpanded !== "true")));
  addEventListener("click", ({ target }) => {
    if (!target.closest("#tools-open, #export")) tools.ariaExpanded = "false";
  });
  byId("help-open").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
}

/** Reads what the token permits, and the definition if only clients with a token may know it. */
async function learn() {
  // The first rows do not wait for this.
  refreshAccess();
  connectLive();
  // Without a response, the list shows the error.
  if (definition.revision === null && token()) await refreshDefinition().catch(() => {});
}

// The list is loaded from its start, so that an old scroll position is wrong.
history.scrollRestoration = "manual";
addEventListener("beforeunload", (event) => {
  const isTyped = CellEditing.isAnyChanged || isRecordChanged() || isUnfinished();
  if (isTyped || isImporting() || isUndoing()) event.preventDefault();
});

startToken({ prepare: learn, changed: list.reopen, nameOf: nameOfToken, left: () => location.reload() });
startConnection();
startRecent();
startAdding();
startImporting();
startExporting();
startHelp();
startShortcuts();
startSearch();
startFilters();
startStart();
startChart();
startSorting();
startViews();
startDefining();
list.startList({ changed, edit: editRobot });
startLive();
await learn();
startAddress(showView);
startRecord();
onDefined(() => {
  for (const noun of document.querySelectorAll(".noun-one")) noun.textContent = ONE;
  for (const noun of document.querySelectorAll(".noun-a")) noun.textContent = aOne();
  for (const noun of document.querySelectorAll(".noun-many")) noun.textContent = MANY;
  byId("robots-heading").textContent = MANY.charAt(0).toUpperCase() + MANY.slice(1);
  byId("title").textContent = TITLE;
  if (isStarted) refreshAddress();
  isStarted = true;
});
