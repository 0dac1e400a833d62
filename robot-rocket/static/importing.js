// The import of a file that the user chooses or drops on the page: it is planned, and stored when the user wants the plan.

import { announce } from "./announcements.js";
import { refreshDefinition, upload } from "./api.js";
import { byId, element, show } from "./elements.js";
import { showPanel, startPanel } from "./panels.js";
import { forgetPlan, importParameters, inSentence, isPlanned, messageList, obstacle, showPlan, showPlanError, startPlan } from "./plan.js";
import { requestToken } from "./token.js";

/** The format of a file by the end of its name. */
const FORMATS = { csv: "csv", json: "json", ndjson: "ndjson", jsonl: "ndjson", xlsx: "xlsx" };

/** What to do if it is unknown how much was stored. */
const UNKNOWN = "Some robots may be stored. Import the file again: its plan shows what is missing.";

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
  byId("import-stop").addEventListener("click", () => calls?.abort());
  startDropping();
  startPlan(plan);
}

/** Whether an import runs. */
export const isImporting = () => isStoring;

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
    if (isStoring) return;
    showPanel("importing", true);
    byId("file").files = event.dataTransfer.files;
    byId("import-submit").focus();
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
  else return { file, format };
  return undefined;
}

function chosen() {
  calls?.abort();
  forgetPlan();
  show(byId("import-result"), false);
  plan();
}

/** Asks for the plan, and shows it. */
async function plan() {
  const failed = ({ messages }) => showPlan({}, messages ?? ["You have stopped it."]);
  const answer = await send(true, plan, failed);
  if (answer) showPlan(answer.data, answer.messages);
}

/** Stores what the plan has, or shows why not. */
async function start() {
  if (isStoring) return;
  if (!chosenFile()) return byId("file").focus();
  if (!isPlanned()) return plan();
  const [why, box] = obstacle() ?? [];
  if (why) {
    showPlanError(why);
    return box.focus();
  }
  isStoring = true;
  const answer = await send(false, start, showInterrupted);
  if (answer) showOutcome(answer);
}

/** Sends the file to be planned, or to be stored. Returns the response; undefined if there is none, or if the user has
    chosen something else meanwhile. */
async function send(isPlan, again, failed) {
  calls?.abort();
  const chosen = chosenFile();
  if (!chosen) return undefined;
  const own = new AbortController();
  calls = own;
  showRunning(true);
  let part = 0;
  const progress = (sent) => showProgress((part = sent), isPlan);
  progress(0);
  try {
    const parameters = { format: chosen.format, ...importParameters() };
    return await upload(chosen.file, parameters, { signal: own.signal, progress, isPlan });
  } catch (error) {
    if (calls !== own) return undefined;
    if (error.isChanged) byId("file").value = "";
    if (error.needsToken) requestToken(error, again);
    else failed(error, part === 1);
    return undefined;
  } finally {
    if (calls === own) {
      calls = undefined;
      isStoring = false;
      showRunning(false);
    }
  }
}

function showRunning(isRunning) {
  show(byId("import-running"), isRunning);
  byId("plan").inert = byId("file").disabled = isStoring;
  if (isStoring) show(byId("import-result"), false);
}

/** The service plans and stores when it has the whole file. */
function showProgress(part, isPlan) {
  byId("import-progress").value = part;
  const last = isPlan ? "Planning…" : "Storing…";
  byId("import-words").textContent = part < 1 ? `${Math.floor(part * 100)} % sent` : last;
}

function showOutcome({ isDone, data, messages }) {
  if (!isDone && data?.plan) return showPlan(data, ["The catalogue has changed. Look at the new plan, and import again."]);
  const title = data ? `${isDone ? "" : "Stopped: "}${inSentence(data)}.` : "Nothing was imported.";
  showResult(title, messages, Number(data?.failed ?? 0));
  if (data) finish();
}

async function finish() {
  forgetPlan();
  await refreshDefinition().catch(() => {});
  notifyImported();
}

/** If the whole file was sent, it is unknown how much was stored. */
function showInterrupted(error, isSent) {
  const reasons = error.messages ?? ["You have stopped it."];
  if (!isSent) return showResult("Nothing was imported.", reasons);
  showResult("The import ended early.", [...reasons, UNKNOWN]);
  finish();
}

function showResult(title, messages, failed) {
  const heading = element("h3", { id: "import-outcome" }, title);
  byId("import-result").replaceChildren(heading, ...messageList(messages, failed));
  show(byId("import-result"));
  announce([title, ...messages.slice(0, 1)].join(" "));
}
