// The import of a file that the user chooses or drops on the page: its plan is shown, and executed if the user wants that.

import { may } from "./access.js";
import { handleError } from "./action.js";
import { announce } from "./announcements.js";
import { refreshDefinition, upload } from "./api.js";
import { storingOwn } from "./changes.js";
import { button, byId, element, onSubmit, problems, show, shownName, withSeconds } from "./elements.js";
import { keyOf } from "./field.js";
import { KINDS, kindOf } from "./kinds.js";
import { reopen } from "./list.js";
import { showPanel, startPanel } from "./panels.js";
import { MANY, MEMBERS, ONE, definition, inLabels, inNumber, member } from "./robot.js";
import { valuesTable } from "./row.js";
import { did } from "./undo.js";

const FORMATS = { csv: "csv", json: "json", ndjson: "ndjson", jsonl: "ndjson", xlsx: "xlsx" };

/** What records do: in a plan, and in a result. */
const COUNTS = {
  replaced: ["change", "changed"],
  unchanged: ["leave unchanged", "left unchanged"],
  skipped: ["skip", "skipped"],
  failed: ["fail", "failed"],
  not_tried: ["", "not tried"],
};

/** The words of the page for options of the service. */
const WORDS = [
  [/add --dates dmy or --dates mdy/, "choose the order of dates"],
  [/add on_conflict=skip/, "choose “skip the record”"],
  [/add_equal=true/, "choose “add it again”"],
];

/** Headings that people give to names, the most likely last. */
const NAMES = [/name/i, /title|label/i, /^(full|object|exhibit|display).?name$/i, /^(title|label|titel|titre)$/i];

/** What to do if an import ends early. */
const REST = "A part may be stored. Plan the import again to see what is missing.";

/** The number of bytes of a file from which on texts that repeat are proposed as choices. */
const CHOICES_FROM = 100_000;

/** The last response about the chosen file, with the numbers of its records. */
let plan;

/** What the user has chosen for headings: fields, or null to leave them out, and kinds of new fields. */
let columns, kinds;

/** Whether the column of the name was guessed. */
let isGuessed;

/** Ends the words about it. */
let endWords = () => {};

/** The request that runs: `calls` aborts it, and `isStoring` if it is no plan; undefined if none runs. */
let running;

/** Starts listening. */
export function startImporting() {
  startPanel("importing", () => byId("file"));
  onSubmit(byId("import"), start);
  byId("file").addEventListener("change", chosen);
  // The same file may have been corrected.
  byId("file").addEventListener("cancel", () => byId("file").files.length > 0 && ask());
  byId("import-stop").addEventListener("click", () => running?.calls.abort());
  byId("plan").addEventListener("change", ({ target }) => target.id !== "keep-going" && changed());
  startDropping();
  forget();
}

export const isImporting = () => running?.isStoring === true;

/** A file can be dropped anywhere, since the browser would leave the page to show it. */
function startDropping() {
  const listen = (type, listener) => addEventListener(type, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    listener(event);
  });
  listen("dragover", () => may("write") && showPanel("importing", true));
  listen("drop", ({ dataTransfer }) => {
    if (isImporting() || !may("write")) return;
    byId("file").files = dataTransfer.files;
    byId("import-submit").focus();
    chosen();
  });
}

function showError(text) {
  byId("file-error").textContent = text;
  byId("file").setAttribute("aria-invalid", text !== "");
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
  run(undefined);
  forget();
  ask();
}

/** The user has chosen something else for the same file. */
function changed() {
  plan.records = undefined;
  ask();
}

async function ask() {
  showPlanError("");
  const planned = await send(true, ask, ({ data = {}, messages }) => chooseKey(data, messages) || showPlan(data, messages));
  if (planned) showPlan(planned, planned.messages);
}

/** Plans again if no column is the name: with the unique field of a column, by which the records change robots, or else
    with the new column that is probably the name. Returns whether it does. */
function chooseKey({ plan: found = [] }, [message]) {
  const match = byId("import-match");
  if (isGuessed || match.value !== "" || !message.startsWith("no column stands for the name")) return false;
  const key = found.find(({ field }) => member(field)?.isUnique)?.field;
  if (key) {
    match.replaceChildren(option(key));
    ask();
    return true;
  }
  const free = found.filter(({ heading, field }) => !(heading in columns) && !member(field));
  if (free.length === 0) return false;
  const likely = NAMES.flatMap((words) => free.find(({ heading }) => words.test(heading)) ?? []).at(-1);
  const texts = free.find(({ reason }) => reason.startsWith("a text"));
  columns[(likely ?? texts ?? free[0]).heading] = "name";
  isGuessed = true;
  ask();
  return true;
}

/** Executes the plan. */
async function start() {
  if (isImporting()) return;
  if (!chosenFile()[0]) return byId("file").focus();
  if (!plan.records) return ask();
  const confirmed = plan;
  // With a token, the same plan is executed, and no other.
  const again = () => plan === confirmed && start();
  const data = isAccepted() && (await storingOwn(send(false, again, showOutcome)));
  if (data) showOutcome({ data, messages: data.messages, isDone: true });
}

/** Sends the file, and returns the response; undefined if there is none, or another request was sent. */
async function send(isPlan, again, failed) {
  const [file, format] = chosenFile();
  const parameters = importParameters(format);
  // A file that was changed after it was chosen cannot be read.
  if (!(await file?.slice(0, 1).arrayBuffer().catch(() => showError("The file was changed; choose it again.")))) return;
  const own = { calls: new AbortController(), isStoring: !isPlan };
  run(own);
  let part = 0;
  const progress = (sent) => {
    part = byId("import-progress").value = sent;
    endWords();
    // The service begins when it has the whole file.
    if (part < 1) byId("import-words").textContent = `${Math.floor(part * 100)} % sent`;
    else endWords = withSeconds(byId("import-words"), isPlan ? "Planning…" : "Storing…");
  };
  progress(0);
  try {
    return await upload(file, parameters, { signal: own.calls.signal, progress, isPlan });
  } catch (error) {
    error.messages ??= ["You have stopped it."];
    if (running === own) handleError(error, { again, failed: () => failed(error, part === 1) });
  } finally {
    if (running === own) run(undefined);
  }
}

/** Replaces the request that runs, which is aborted, and shows whether one runs now. */
function run(request) {
  running?.calls.abort();
  running = request;
  endWords();
  show(byId("import-running"), running !== undefined);
  byId("plan").inert = byId("file").disabled = isImporting();
  if (running) show(byId("import-result"), false);
}

/** Shows what was done. If that is unknown, a part may be stored, unless not all of the file was sent. */
async function showOutcome({ data, messages = [], isUnknown = true, isDone }, isSent) {
  if (data?.plan) return showPlan(data, data.records ? ["The catalogue has changed: look at the new plan."] : messages);
  const isStored = data || (isUnknown && isSent);
  const counts = data ? `${isDone ? "" : "Stopped: "}${inSentence(data)}` : "The import ended early.";
  // The plan has the advice for programs.
  const shown = messages.filter((message) => !message.includes("the query"));
  if (isStored && !isDone) shown.push(REST);
  const title = isStored ? counts : "Nothing was imported.";
  const heading = element("h3", { id: "import-outcome" }, title);
  byId("import-result").replaceChildren(heading, ...messageList(shown, Number(data?.failed ?? 0)));
  show(byId("import-result"));
  announce([title, ...shown.slice(0, 1)].join(" "));
  if (!isStored) return;
  const [file] = byId("file").files;
  if (data?.changes) did([`Imported ${file.name}`], data.changes);
  forget();
  await refreshDefinition().catch(() => {});
  reopen();
}

function forget() {
  [columns, kinds, isGuessed] = [{}, {}, false];
  byId("import-match").replaceChildren();
  for (const box of byId("plan").querySelectorAll("[name]")) box.value = "";
  show(byId("plan"), false);
  showPlan({});
}

/** The choices, as parameters of the service. */
function importParameters(format) {
  const { nulls, ...chosen } = Object.fromEntries(new FormData(byId("import")));
  const parameters = {
    format,
    define: true,
    // Few texts in a small file do not show that there are no others.
    choices: byId("file").files[0]?.size > CHOICES_FROM,
    keep_going: byId("keep-going").checked,
    columns: JSON.stringify(columns),
    kinds: JSON.stringify(kinds),
    nulls: JSON.stringify(nulls.split(",").map((text) => text.trim()).filter(Boolean)),
    ...chosen,
    ...(chosen.on_conflict === "add" && { on_conflict: "", add_equal: true }),
  };
  return Object.entries(parameters).filter(([, value]) => value);
}

/** Whether the user accepts the plan. Otherwise shows what can be done. */
function isAccepted() {
  const { failed, count } = plan;
  if (failed === 0 || byId("keep-going").checked) return true;
  const choice = failed < count ? ", or leave them out" : "";
  showPlanError(`${failed} of ${count} records fail. Correct the file and choose it again${choice}.`, "plan-others");
  if (choice) byId("keep-going").focus();
  return false;
}

function showPlanError(text, place = "plan") {
  byId(place).before(byId("plan-error"));
  byId("plan-error").textContent = text;
  if (text) announce(text);
}

/** Shows a plan, and what is wrong with it. Without columns, those before stay: a choice may be the cause. */
function showPlan(planned, messages = []) {
  const { records, values = [], failures = [], advice = [], changes = [] } = planned;
  const count = Object.values(records ?? {}).reduce((sum, each) => sum + Number(each), 0);
  const failed = Number(records?.failed ?? 0);
  plan = { ...planned, changes, count, failed };
  byId("plan-counts").textContent = records ? `${inSentence(records, true)} Nothing is stored yet.` : "Columns of the file";
  if (records) announce(byId("plan-counts").textContent);
  const [, found, id] = /match=(\w+)|(?:match the |columns ')(id)/.exec([...advice, ...messages].join()) ?? [];
  const others = advice.filter((text) => !text.includes("match=")).map((text) => element("p", {}, inWords(text)));
  const changed = values.length > 0 ? [element("h4", {}, "The first values that change"), valuesTable(values)] : [];
  byId("plan-failures").replaceChildren(...(found ?? id ? [finding(found ?? id)] : []), ...others, ...changed, ...messageList(failures, failed));
  byId("keep-going").checked = false;
  const left = failed === 1 ? "1 record that fails" : `${failed.toLocaleString("en")} records that fail`;
  byId("keep-going").nextSibling.textContent = `Import the others, and leave out ${left}`;
  show(byId("plan-others"), failed > 0 && failed < count);
  const verb = changes.length > 0 ? "Define these fields, and import" : "Import";
  byId("import-submit").textContent = failed < count ? `${verb} ${inNumber(count - failed)}` : "Import";
  if (plan.plan) {
    show(byId("plan"));
    showColumns();
    showChoices();
  }
  showPlanError(messages.map(inWords).join(" "));
}

/** The button that changes the robots that there are, instead of adding them again. */
function finding(key) {
  const find = () => {
    byId("import-match").value = key;
    changed();
  };
  return button(`Find ${MANY} by ${titleOf(key)}, and change them`, find, { class: "main" });
}

function inSentence(counts, isPlan) {
  const others = Object.entries(COUNTS).flatMap(([key, [planned, done]]) => {
    const count = Number(counts[key] ?? 0);
    return count > 0 ? `${isPlan ? planned : done} ${count.toLocaleString("en")}` : [];
  });
  return `${[`${isPlan ? "Would add" : "Added"} ${inNumber(Number(counts.added))}`, ...others].join(", ")}.`;
}

/** Messages. The service sends only some of those about records that have failed. */
function messageList(messages, failed) {
  const items = messages.map((message) => {
    const [, place, text] = /^((?:line|record) \d+): ([^]*)$/.exec(message) ?? [];
    return element("li", {}, ...(place ? [element("b", {}, place), ` ${inLabels(text)}`] : [inWords(message)]));
  });
  const more = failed - items.filter((item) => item.querySelector("b")).length;
  if (more > 0) items.push(element("li", {}, `… and ${more.toLocaleString("en")} more`));
  return items.length > 0 ? [problems(items)] : [];
}

const inWords = (message) => WORDS.reduce((text, [words, ours]) => text.replace(words, ours), message);

const isNew = (key) => key && !member(key) && !/^(id|revision)$/.test(key);

const titleOf = (key) => member(key)?.title ?? (isNew(key) ? `new: ${key}` : key === "id" ? "id in this catalogue" : key);

const option = (value, words = titleOf(value)) => element("option", { value }, words);

function choice(label, options, value, choose) {
  const onchange = ({ target }) => choose(target.value);
  return Object.assign(element("select", { "aria-label": label, onchange }, ...options), { value });
}

function showColumns() {
  const focused = document.activeElement.ariaLabel;
  const others = plan.changes.filter(({ heading }) => heading === "");
  const rows = [...plan.plan, ...others].map(({ heading, field, reason }) => {
    const reasons = plan.changes.filter((change) => change.field === field).map((change) => change.reason);
    const choices = [heading ? fieldChoice(heading, field) : titleOf(field)];
    if (isNew(field) && reasons.length > 0) choices.push(kindChoice(heading, field));
    const cells = [element("div", {}, ...choices), inWords(reasons.join("; ") || reason)];
    const head = element("th", { scope: "row" }, heading ? shownName(heading) : "no column");
    return element("tr", {}, head, ...cells.map((cell) => element("td", {}, cell)));
  });
  byId("plan-columns").replaceChildren(...rows);
  byId("import-emptied").textContent = emptiedInWords();
  show(byId("plan-name"), isGuessed);
  if (isGuessed) byId("plan-name").replaceChildren(`Which column is the name of each ${ONE}?`, nameChoice());
  const selects = [...document.querySelectorAll("#plan [aria-label]")];
  if (focused) selects.find(({ ariaLabel }) => ariaLabel === focused)?.focus();
}

/** How many values of each column the texts that mean no value empty. */
function emptiedInWords() {
  const stored = plan.plan.filter(({ field }) => field);
  const texts = new Set(stored.flatMap(({ emptied = {} }) => Object.keys(emptied)));
  const sentences = [...texts].map((text) => {
    const counts = stored.flatMap(({ heading, emptied }) => (emptied?.[text] ? `${emptied[text]} of ${heading}` : []));
    return `“${text}” empties values: ${counts.join(", ")}.`;
  });
  return sentences.join(" ");
}

/** The choice of the column of the name. */
function nameChoice() {
  const before = plan.plan.find(({ field }) => field === "name")?.heading;
  const options = plan.plan.map(({ heading }) => option(heading, heading));
  return choice("Column of the name", options, before, (heading) => {
    delete columns[before];
    columns[heading] = "name";
  });
}

/** The choice of what a column stands for: a field, perhaps a new one, the id of a robot, or nothing. */
function fieldChoice(heading, field) {
  let fresh = isNew(field) ? field : keyOf(heading) || "field";
  while (member(fresh)) fresh += "_2";
  const keys = new Set([...MEMBERS.map(({ key }) => key), fresh, "id", field ?? ""]).add("");
  const options = [...keys].map((key) => option(key, titleOf(key) || "leave out"));
  return choice(`Field of ${heading}`, options, field ?? "", (key) => {
    columns[heading] = key || null;
    delete kinds[heading];
    const match = byId("import-match");
    if (key === "id") match.value = key;
    else if (match.value === field) match.value = "";
  });
}

function kindChoice(heading, field) {
  // The words of the service.
  const kind = (input) => ({ digits: "integer", choice: "choices", long: "text" })[input] ?? input;
  const { long, ...types } = KINDS;
  const options = Object.entries(types).map(([input, { title }]) => option(kind(input), title));
  const value = kindOf(plan.definition.properties[field]);
  return choice(`Kind of ${heading}`, options, kind(value), (chosen) => (kinds[heading] = chosen));
}

/** Shows the choices that depend on the fields. New ones become unique if they find records. */
function showChoices() {
  const { value } = byId("import-match");
  const found = plan.plan.map(({ field }) => field).filter((key) => isNew(key) || member(key)?.isUnique);
  const keys = new Set(["id", ...found, value || "id"]);
  byId("import-match").replaceChildren(option("", "nothing"), ...[...keys].map((key) => option(key)));
  byId("import-match").value = value;
  const { name } = (plan.definition ?? definition.document).properties;
  const [fail, , add] = byId("on-conflict").options;
  fail.textContent = value ? "change it" : "the record fails";
  add.hidden = value !== "" || name.unique !== false;
}
