// The import of a file that the user chooses or drops on the page.

import { announce } from "./announcements.js";
import { ApiError, NoAnswer, ROBOTS, commonHeaders, parsed } from "./api.js";
import { byId, element, problems, show } from "./elements.js";
import { showPanel, startPanel } from "./panels.js";
import { MEMBERS, OWN, onDefined } from "./robot.js";
import { requestToken } from "./token.js";

/** The format of a file by the end of its name. */
const FORMATS = { csv: "csv", json: "json", ndjson: "ndjson", jsonl: "ndjson" };

/** What the service counts, in the order in which it is shown. */
const COUNTS = [
  ["added", "added"],
  ["replaced", "replaced"],
  ["skipped", "skipped"],
  ["failed", "failed"],
  ["not_tried", "not tried"],
];

/** Replaces what the service says to programmers about names that are taken. */
const ADVICE = "For names that are taken, choose above what to do, and import the file again.";

/** The import that runs; undefined if none does. */
let calls;

let notifyImported;

/** Starts listening. `imported` is called after robots were stored. */
export function startImporting(imported) {
  notifyImported = imported;
  startPanel("importing", () => byId("file"));
  byId("import").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  byId("file").addEventListener("change", () => showError(""));
  byId("import-stop").addEventListener("click", () => calls?.abort());
  startDropping();
  onDefined(showColumns);
}

function showColumns() {
  const keys = MEMBERS.map(({ key }) => key);
  const listed = `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}`;
  byId("import-columns").textContent = listed;
  const replaced = OWN.length > 0 ? "its other values" : "type and year";
  byId("import-replaced").textContent = `replace ${replaced}`;
}

/** Whether an import runs. */
export function isImporting() {
  return calls !== undefined;
}

/** A file can be dropped anywhere, since the browser would otherwise leave the page to show it. */
function startDropping() {
  const ofFiles = (listener) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    listener(event);
  };
  const mark = (isOver) => byId("import").classList.toggle("over", isOver);
  addEventListener("dragover", ofFiles(() => {
    showPanel("importing", true);
    mark(true);
  }));
  addEventListener("dragleave", (event) => event.relatedTarget === null && mark(false));
  addEventListener("drop", ofFiles((event) => {
    mark(false);
    if (calls) return;
    showPanel("importing", true);
    byId("file").files = event.dataTransfer.files;
    byId("import").querySelector("[type=submit]").focus();
    byId("importing").scrollIntoView({ block: "nearest" });
    showError(event.dataTransfer.files.length > 1 ? "Drop one file at a time." : "");
  }));
}

function showError(text) {
  byId("file-error").textContent = text;
  byId("file").setAttribute("aria-invalid", String(text !== ""));
}

async function start() {
  const [file, ...others] = byId("file").files;
  const format = FORMATS[file?.name.split(".").at(-1).toLowerCase()];
  if (calls) return;
  if (!file) showError("Choose a file first.");
  else if (others.length > 0) showError("Choose one file at a time.");
  else if (!format) showError("The name of the file must end in .csv, .json or .ndjson.");
  else return send(file, format);
  byId("file").focus();
}

async function send(file, format) {
  calls = new AbortController();
  showError("");
  showRunning(true);
  announce(`Importing ${file.name}.`);
  const options = { signal: calls.signal, progress: showProgress };
  try {
    showOutcome(await upload(file, format, byId("on-conflict").value, options));
  } catch (error) {
    if (error.needsToken) requestToken(error, () => send(file, format));
    else showInterrupted(error);
  } finally {
    calls = undefined;
    showRunning(false);
  }
}

/** Imports a file. `progress` is called with the part that was sent, from 0 to 1. Returns whether
    the service has accepted it, what it has done (`data`, if it has done anything), and `messages`
    about records. Fails if what it has done is unknown. `XMLHttpRequest`, because `fetch` shows no progress. */
function upload(file, format, onConflict, { signal, progress }) {
  const parameters = new URLSearchParams({ format, on_conflict: onConflict });
  const request = new XMLHttpRequest();
  request.open("POST", `${ROBOTS}/import?${parameters}`);
  for (const [name, value] of Object.entries(commonHeaders())) {
    request.setRequestHeader(name, value);
  }
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 1);
    request.onerror = () => reject(new NoAnswer());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const value = parsed(request.responseText);
      const error = new ApiError(answerOf(request), value);
      const isUnknown = request.status >= 500 && !value?.data;
      if (error.needsToken || isUnknown) return reject(error);
      if (request.status === 200) resolve({ isDone: true, data: value, messages: value.messages ?? [] });
      else resolve({ isDone: false, data: value?.data, messages: error.messages });
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** The parts of an answer that an error needs. */
function answerOf(request) {
  const headers = new Headers();
  for (const name of ["retry-after", "www-authenticate"]) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return { status: request.status, headers };
}

function showRunning(isRunning) {
  show(byId("import-running"), isRunning);
  show(byId("import-stop"), isRunning);
  byId("import").querySelector("[type=submit]").disabled = isRunning;
  if (!isRunning) return;
  show(byId("import-result"), false);
  showProgress(0);
}

/** The service stores records while it receives them, so that the last ones are all that remains. */
function showProgress(part) {
  const percent = Math.floor(part * 100);
  byId("import-progress").value = part;
  byId("import-words").textContent = part < 1 ? `${percent} % sent` : "Storing the last robots…";
}

function showOutcome({ isDone, data, messages }) {
  const counts = COUNTS.flatMap(([key, title]) => {
    const count = Number(data?.[key] ?? 0);
    return count > 0 ? `${count.toLocaleString("en")} ${title}` : [];
  });
  const words = counts.length > 0 ? counts.join(", ") : "nothing to add";
  const outcome = isDone ? "Imported" : "Stopped";
  const title = isDone || data ? `${outcome}: ${words}.` : "Nothing was imported.";
  showResult(title, messages, Number(data?.failed ?? 0));
  if (data) notifyImported();
}

/** It is unknown how much was stored. */
function showInterrupted(error) {
  const reasons = error.messages ?? ["You have stopped it."];
  const advice =
    "What was stored before stays stored. To import the rest, choose “skip the robot”, and import " +
    "the file again.";
  showResult("The import ended early.", [...reasons, advice], 0);
  notifyImported();
}

/** Shows messages, most of which name a record. The service sends at most 100 of them. */
function showResult(title, messages, failed) {
  const items = messages.map((message) => {
    const [, place, text] = /^((?:line|record) \d+): ([^]*)$/.exec(message) ?? [];
    if (place) return element("li", {}, element("b", {}, place), ` ${text}`);
    return element("li", {}, message.includes("on_conflict") ? ADVICE : message);
  });
  const more = failed - items.filter((item) => item.querySelector("b")).length;
  if (more > 0) items.push(element("li", {}, `… and ${more.toLocaleString("en")} more`));
  const heading = element("h3", { id: "import-outcome" }, title);
  byId("import-result").replaceChildren(heading, ...(items.length > 0 ? [problems(items)] : []));
  show(byId("import-result"));
  announce([title, ...messages.slice(0, 1)].join(" "));
}
