// The menu that exports the robots of the current filter to a file.

import { announce } from "./announcements.js";
import { byId, element } from "./elements.js";
import { closeMenu, startMenu } from "./menus.js";
import { kept, requestToken } from "./token.js";
import { download, exportAddress } from "./transfer.js";

/** The formats of the service: a title, the name of the file and the parameters. */
const FORMATS = [
  ["CSV", "robots.csv", [["format", "csv"]]],
  ["CSV for spreadsheets", "robots.csv", [["format", "csv"], ["spreadsheet", "true"]]],
  ["JSON", "robots.json", [["format", "json"]]],
  ["NDJSON", "robots.ndjson", [["format", "ndjson"]]],
];

/** The link of each format. */
const links = FORMATS.map(([title, name]) => {
  return element("a", { download: name, onclick: (event) => start(event, name) }, title);
});

let isBusy = false;

/** Fills the menu. */
export function startExporting() {
  byId("exports").append(...links.map((link) => element("li", {}, link)));
  startMenu("export");
}

/** Offers the robots of a view. */
export function showExport(view) {
  links.forEach((link, index) => (link.href = exportAddress(view, FORMATS[index][2])));
}

/** Without a token, the browser follows the link. */
function start(event, name) {
  const address = event.currentTarget.getAttribute("href");
  closeMenu("export");
  if (!kept()) return;
  event.preventDefault();
  receive(address, name);
}

async function receive(address, name) {
  if (isBusy) return;
  isBusy = true;
  showState("Exporting…");
  try {
    const isSaved = await download(address, name, (bytes) => {
      showState(`Exporting… ${(bytes / 1e6).toFixed(1)} MB`);
    });
    showState("");
    if (isSaved) announce(`Exported ${name}.`);
  } catch (error) {
    showState("");
    if (error.needsToken) return requestToken(error, () => receive(address, name));
    showState(`The file is not complete. ${error.messages.join(" ")}`);
    announce(byId("export-state").textContent);
  } finally {
    isBusy = false;
  }
}

function showState(text) {
  byId("export-state").textContent = text;
}
