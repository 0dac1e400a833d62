// The import of a file that the user chooses or drops on the page.

import { announce } from "./announcements.js";
import { upload } from "./api.js";
import { byId, element, problems, show } from "./elements.js";
import { showPanel, startPanel } from "./panels.js";
import * as proposing from "./proposing.js";
import { MEMBERS, onDefined } from "./robot.js";
import { requestToken } from "./token.js";

/** The format of a file by the end of its name. */
const FORMATS = { csv: "csv", json: "json", ndjson: "ndjson", jsonl: "ndjson", xlsx: "xlsx" };

/** What the service counts, in the order in which it is shown. */
const COUNTS = ["added", "replaced", "unchanged", "skipped", "failed", "not_tried"];

/** What some of them are called. */
const TITLES = { replaced: "changed", not_tried: "not tried" };

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
    start(event.submitter === byId("import-check"));
  });
  byId("file").addEventListener("change", chosen);
  byId("import-stop").addEventListener("click", () => calls?.abort());
  startDropping();
  proposing.startProposing();
  onDefined(() => (byId("import-columns").textContent = MEMBERS.map(({ key }) => key).join(", ")));
}

/** Whether an import runs. */
export const isImporting = () => calls !== undefined;

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
    chosen();
  }));
}

function showError(text) {
  byId("file-error").textContent = text;
  byId("file").setAttribute("aria-invalid", String(text !== ""));
}

/** The chosen file and its format, if it can be imported. */
function chosenFile() {
  showError("");
  const [file, ...others] = byId("file").files;
  const format = FORMATS[file?.name.split(".").at(-1).toLowerCase()];
  if (!file) showError("Choose a file first.");
  else if (others.length > 0) showError("Choose one file at a time.");
  else if (!format) showError("The name of the file must end in .csv, .json, .ndjson or .xlsx.");
  else return [file, format];
  return [];
}

const chosen = () => proposing.examine(...chosenFile());

async function start(isCheck) {
  if (calls) return;
  const [file, format] = chosenFile();
  if (!file) return byId("file").focus();
  calls = new AbortController();
  showRunning(true);
  let isSent = false;
  try {
    if (!(await proposing.isReady(calls))) return;
    if (!isCheck) await proposing.storeFields();
    calls.signal.throwIfAborted();
    announce(`Importing ${file.name}.`);
    const parameters = { format, dry_run: isCheck, ...proposing.importParameters() };
    const options = { signal: calls.signal, progress: showProgress, isLenient: !proposing.leftOut() };
    isSent = true;
    showOutcome(await upload(file, parameters, options), isCheck);
  } catch (error) {
    if (error.needsToken) requestToken(error, () => start(isCheck));
    else showInterrupted(error, isSent);
  } finally {
    calls = undefined;
    showRunning(false);
  }
}

function showRunning(isRunning) {
  show(byId("import-running"), isRunning);
  show(byId("import-stop"), isRunning);
  for (const button of byId("import").querySelectorAll("[type=submit]")) button.disabled = isRunning;
  if (!isRunning) return;
  show(byId("import-result"), false);
  showProgress(0);
}

/** The service stores records while it receives them, so that the last ones are all that remains. */
function showProgress(part) {
  byId("import-progress").value = part;
  byId("import-words").textContent = part < 1 ? `${Math.floor(part * 100)} % sent` : "Storing the last robots…";
}

function showOutcome({ isDone, data, messages }, isCheck) {
  const counts = COUNTS.flatMap((key) => {
    const count = Number(data?.[key] ?? 0);
    return count > 0 ? `${count.toLocaleString("en")} ${TITLES[key] ?? key}` : [];
  });
  const words = counts.length > 0 ? counts.join(", ") : "nothing to add";
  const done = isCheck ? "Checked, nothing was stored" : "Imported";
  const outcome = isDone ? done : "Stopped";
  const left = [...(proposing.leftOut() ?? []), ...(data?.ignored ?? [])];
  if (left.length > 0) messages = [...messages, `Left out: ${left.join(", ")}.`];
  const title = isDone || data ? `${outcome}: ${words}.` : "Nothing was imported.";
  showResult(title, messages, Number(data?.failed ?? 0));
  if (data && !isCheck) notifyImported();
}

/** If the file was sent, it is unknown how much was stored. */
function showInterrupted(error, isSent) {
  const reasons = error.messages ?? ["You have stopped it."];
  if (!isSent) return showResult("Nothing was imported.", reasons, 0);
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
