// The import of a file that the user chooses or drops on the page: it is planned first, and stored if the user wants that.

import { announce } from "./announcements.js";
import { refreshDefinition, upload } from "./api.js";
import { byId, element, show } from "./elements.js";
import { showPanel, startPanel } from "./panels.js";
import * as plan from "./plan.js";
import { requestToken } from "./token.js";

/** The format of a file by the end of its name. */
const FORMATS = { csv: "csv", json: "json", ndjson: "ndjson", jsonl: "ndjson", xlsx: "xlsx" };

/** The request that runs; undefined if none does. */
let calls;

/** Whether it stores robots. */
let isStoring = false;

let notifyImported;

/** Starts listening. `imported` is called after robots were stored. */
export function startImporting(imported) {
  notifyImported = imported;
  startPanel("importing", () => byId("file"));
  byId("import").addEventListener("submit", (event) => {
    event.preventDefault();
    start();
  });
  byId("file").addEventListener("change", chosen);
  // The same file may have been corrected.
  byId("file").addEventListener("cancel", () => byId("file").files.length > 0 && ask());
  byId("import-stop").addEventListener("click", () => calls?.abort());
  startDropping();
  plan.startPlan(ask);
}

/** Whether an import runs. */
export const isImporting = () => isStoring;

/** A file can be dropped anywhere, since the browser would otherwise leave the page to show it. */
function startDropping() {
  const listen = (type, listener) => addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    listener(event);
  });
  listen("dragover", () => showPanel("importing", true));
  listen("drop", ({ dataTransfer }) => {
    if (isStoring) return;
    byId("file").files = dataTransfer.files;
    byId("import-submit").focus();
    byId("importing").scrollIntoView({ block: "nearest" });
    chosen();
  });
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

function chosen() {
  calls?.abort();
  plan.forgetPlan();
  ask();
}

/** Asks for the plan, and shows it. */
async function ask() {
  const answer = await send(true, ask, (messages) => plan.showPlan({}, messages));
  if (answer) plan.showPlan(answer.data ?? {}, answer.messages);
}

/** Stores the robots of the plan. */
async function start() {
  if (isStoring) return;
  if (!chosenFile()[0]) return byId("file").focus();
  if (!plan.isPlanned()) return ask();
  const answer = plan.isAccepted() && (await send(false, start, showInterrupted));
  if (answer) showOutcome(answer);
}

/** Sends the file, and returns the response; undefined if there is none, or if another request was sent meanwhile. */
async function send(isPlan, again, failed) {
  const [file, format] = chosenFile();
  const parameters = [["format", format], ...plan.importParameters()];
  // A file that was changed after it was chosen cannot be read.
  if (!(await file?.slice(0, 1).arrayBuffer().catch(() => showError("The file was changed; choose it again.")))) return;
  calls?.abort();
  const own = new AbortController();
  [calls, isStoring] = [own, !isPlan];
  let part = 0;
  const progress = (sent) => {
    part = byId("import-progress").value = sent;
    // The service plans and stores when it has the whole file.
    const last = isPlan ? "Planning…" : "Storing…";
    byId("import-words").textContent = part < 1 ? `${Math.floor(part * 100)} % sent` : last;
  };
  progress(0);
  showRunning(true);
  try {
    return await upload(file, parameters, { signal: own.signal, progress, isPlan });
  } catch (error) {
    if (calls !== own) return;
    if (error.needsToken) requestToken(error, again);
    else failed(error.messages ?? ["You have stopped it."], part === 1);
  } finally {
    if (calls === own) {
      [calls, isStoring] = [undefined, false];
      showRunning(false);
    }
  }
}

function showRunning(isRunning) {
  show(byId("import-running"), isRunning);
  byId("plan").inert = byId("file").disabled = isStoring;
  if (isRunning) show(byId("import-result"), false);
}

function showOutcome({ isDone, data, messages }) {
  if (data?.plan) return plan.showPlan(data, ["The catalogue has changed. Look at the new plan, and import again."]);
  const title = data ? `${isDone ? "" : "Stopped: "}${plan.inSentence(data)}` : "Nothing was imported.";
  showResult(title, messages, Number(data?.failed ?? 0));
  if (data) finish();
}

/** If the whole file was sent, it is unknown how much was stored. */
function showInterrupted(messages, isSent) {
  if (!isSent) return showResult("Nothing was imported.", messages);
  const advice = "Some robots may be stored. Import the file again: the plan shows what is missing.";
  showResult("The import ended early.", [...messages, advice]);
  finish();
}

function showResult(title, messages, failed) {
  const heading = element("h3", { id: "import-outcome" }, title);
  byId("import-result").replaceChildren(heading, ...plan.messageList(messages, failed));
  show(byId("import-result"));
  announce([title, ...messages.slice(0, 1)].join(" "));
}

async function finish() {
  plan.forgetPlan();
  await refreshDefinition().catch(() => {});
  notifyImported();
}
