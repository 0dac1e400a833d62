// The menu that exports what the list shows to a file: the robots, in their order, with the shown columns.

import { action } from "./action.js";
import { currentView } from "./address.js";
import { announce } from "./announcements.js";
import { NoResponse, ROBOTS, exportFrom, orNoResponse } from "./api.js";
import { shownColumns } from "./columns.js";
import { byId, element } from "./elements.js";
import { closeMenu, startMenu } from "./panels.js";
import { token } from "./token.js";
import { filterOf } from "./view.js";

/** The formats of the service: a title, the name of the file and the parameters. */
const FORMATS = [
  ["CSV", "robots.csv", [["format", "csv"]]],
  ["CSV for spreadsheets", "robots.csv", [["format", "csv"], ["spreadsheet", "true"]]],
  ["JSON", "robots.json", [["format", "json"]]],
  ["NDJSON", "robots.ndjson", [["format", "ndjson"]]],
  ["Excel", "robots.xlsx", [["format", "xlsx"]]],
];

/** A file on the user's machine cannot be written. */
class FileError extends Error {
  constructor(cause) {
    super(cause.message, { cause });
    this.messages = [`It cannot be written: ${cause.message} Choose another place.`];
  }
}

/** Milliseconds until the browser has surely started to save a file. */
const SAVING = 60_000;

/** The link of each format. */
const links = FORMATS.map(([title, name]) => {
  return element("a", { download: name, onclick: (event) => start(event, name) }, title);
});

/** Exports all fields, with ids and revisions, so that the file can be changed and imported again. */
const all = element("input", { id: "export-all", type: "checkbox" });

/** Fills the menu. */
export function startExporting() {
  const choice = element("label", { class: "choice" }, all, "All fields, with ids");
  byId("exports").append(...links.map((link) => element("li", {}, link)), element("li", {}, choice));
  startMenu(byId("export"));
  byId("export").addEventListener("toggle", offer);
  all.addEventListener("change", offer);
}

/** Offers what is shown now. */
function offer() {
  const { sort, ...view } = currentView();
  const fields = all.checked ? "*" : shownColumns().map(({ key }) => key).join(",");
  links.forEach((link, index) => {
    const parameters = [...FORMATS[index][2], ...filterOf(view), ["sort", sort], ["fields", fields]];
    link.href = `${ROBOTS}/export?${new URLSearchParams(parameters)}`;
  });
}

/** Without a token, the browser follows the link. */
function start(event, name) {
  const address = event.currentTarget.getAttribute("href");
  closeMenu(byId("export"));
  if (!token()) return;
  event.preventDefault();
  receive(address, name);
}

const receive = action({
  async perform(address, name) {
    showState("Exporting…");
    const progress = (bytes) => showState(`Exporting… ${(bytes / 1e6).toFixed(1)} MB`);
    const isSaved = await download(address, name, progress).finally(() => showState(""));
    if (isSaved) announce(`Exported ${name}.`);
  },
  failed({ messages }) {
    showState(`The file is not complete. ${messages.join(" ")}`);
    announce(byId("export-state").textContent);
  },
});

function showState(text) {
  byId("export-state").textContent = text;
}

/** Saves a file of the service under a name, for which a link has no token to send. Returns whether
    the user has chosen a place for it. */
async function download(address, name, progress) {
  const file = await chosenFile(name);
  if (file === null) return false;
  const { body } = await exportFrom(address);
  const bytes = received(body, progress);
  if (file) await written(bytes, file);
  else save(await orNoResponse(new Response(bytes).blob()), name);
  return true;
}

/** The bytes of a response. `progress` is called with their number so far. An error while they are received is NoResponse. */
function received(body, progress) {
  const reader = body.getReader();
  let count = 0;
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await orNoResponse(reader.read());
      if (done) return controller.close();
      progress((count += value.length));
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Writes bytes to a file. */
async function written(bytes, file) {
  try {
    await bytes.pipeTo(await file.createWritable());
  } catch (error) {
    if (error instanceof NoResponse) throw error;
    if (!bytes.locked) await bytes.cancel(error);
    throw new FileError(error);
  }
}

/** The file that the user chooses, to which the browser can write while it receives. Undefined if
    the browser cannot do that, null if the user chooses none. */
async function chosenFile(name) {
  try {
    return await window.showSaveFilePicker?.({ suggestedName: name });
  } catch (error) {
    if (error.name === "AbortError") return null;
    return undefined;
  }
}

/** Other browsers save a whole blob, which they may keep on disk. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVING);
}
