// The plan of an import: what the columns of a file stand for, what its records will do, and what the user chooses.

import { announce } from "./announcements.js";
import { TYPES, keyOf } from "./defining.js";
import { byId, element, problems, show, shownName } from "./elements.js";
import { kindOf } from "./kinds.js";
import { MEMBERS, definition, inNumber, member } from "./robot.js";

/** What the service calls kinds of fields. */
const KINDS = { digits: "integer", choice: "choices", long: "text" };

/** What records do: in a plan, and in a result. */
const COUNTS = {
  replaced: ["change", "changed"],
  unchanged: ["leave unchanged", "left unchanged"],
  skipped: ["skip", "skipped"],
  failed: ["fail", "failed"],
  not_tried: ["", "not tried"],
};

/** The words of the page for options of the service and of the command line. */
const WORDS = [
  [/; map one to it\. The columns are: [^]*/, "; choose one below"],
  [/add --dates dmy or --dates mdy/, "choose the order of dates"],
  [/add match=(\w+)/, (_, key) => `find records by ${titleOf(key)}`],
  [/add on_conflict=skip/, "choose “skip the record”"],
  [/add_equal=true/, "choose “add it again”"],
];

/** The choices that are boxes of the page. */
const BOXES = ["import-match", "on-conflict", "import-nulls", "import-dates"];

/** The last response about the chosen file, with the numbers of its records. */
let plan;

/** What the user has chosen for headings: fields, or null to leave them out, and kinds of new fields. */
let columns, kinds;

let notifyChanged;

/** Starts listening. `changed` is called after the user has chosen something. */
export function startPlan(changed) {
  notifyChanged = () => {
    plan.records = undefined;
    changed();
  };
  for (const id of BOXES) byId(id).addEventListener("change", notifyChanged);
  forgetPlan();
}

/** Forgets the plan and the choices. */
export function forgetPlan() {
  [columns, kinds] = [{}, {}];
  byId("import-match").replaceChildren();
  for (const id of BOXES) byId(id).value = "";
  show(byId("plan"), false);
  showPlan({});
}

/** The choices, as parameters of the service. */
export function importParameters() {
  const [match, conflict, nulls, dates] = BOXES.map((id) => byId(id).value);
  const parameters = {
    define: "true",
    keep_going: byId("keep-going").checked && "true",
    columns: JSON.stringify(columns),
    kinds: JSON.stringify(kinds),
    nulls: JSON.stringify(nulls.split(",").map((text) => text.trim()).filter(Boolean)),
    match,
    on_conflict: conflict === "skip" && "skip",
    add_equal: conflict === "add" && "true",
    dates,
  };
  return Object.entries(parameters).filter(([, value]) => value);
}

/** Whether it is known what the records will do. */
export const isPlanned = () => plan.records !== undefined;

/** Whether the user accepts the plan. Otherwise shows what has to be chosen. */
export function isAccepted() {
  const { failed, count } = plan;
  if (failed === 0 || byId("keep-going").checked) return true;
  const [place, box, choice] = failed < count ? ["plan-others", "keep-going", ", or leave them out"] : ["plan", "file", ""];
  showPlanError(`${failed} of ${count} records fail. Correct the file and choose it again${choice}.`, place);
  byId(box).focus();
  return false;
}

function showPlanError(text, place = "plan") {
  byId(place).before(byId("plan-error"));
  byId("plan-error").textContent = text;
  if (text) announce(text);
}

/** Shows a plan, and what is wrong with it. Without columns, those before stay: a choice may be the cause. */
export function showPlan(planned, messages = []) {
  const count = Object.values(planned.records ?? {}).reduce((sum, each) => sum + Number(each), 0);
  plan = { changes: [], ...planned, count, failed: Number(planned.records?.failed ?? 0) };
  showRecords();
  if (plan.plan) {
    show(byId("plan"));
    showColumns();
    showChoices();
  }
  showPlanError(messages.map(inWords).join(" "));
}

/** What was done with records, or will be. */
export function inSentence(counts, isPlan) {
  const others = Object.entries(COUNTS).flatMap(([key, [planned, done]]) => {
    const count = Number(counts[key] ?? 0);
    return count > 0 ? `${isPlan ? planned : done} ${count.toLocaleString("en")}` : [];
  });
  return `${[`${isPlan ? "Would add" : "Added"} ${inNumber(Number(counts.added))}`, ...others].join(", ")}.`;
}

/** Messages, most of which name a record that has failed. The service sends only some of them. */
export function messageList(messages, failed) {
  const items = messages.map((message) => {
    const [, place, text] = /^((?:line|record) \d+): ([^]*)$/.exec(message) ?? [];
    return element("li", {}, ...(place ? [element("b", {}, place), ` ${text}`] : [inWords(message)]));
  });
  const more = failed - items.filter((item) => item.querySelector("b")).length;
  if (more > 0) items.push(element("li", {}, `… and ${more.toLocaleString("en")} more`));
  return items.length > 0 ? [problems(items)] : [];
}

const inWords = (message) => WORDS.reduce((text, [words, ours]) => text.replace(words, ours), message);

function showRecords() {
  const { records, failures = [], advice = [], failed, count, changes } = plan;
  const others = failed < count ? count - failed : 0;
  const words = records ? `${inSentence(records, true)} Nothing is stored yet.` : "Columns of the file";
  byId("plan-counts").textContent = words;
  byId("plan-failures").replaceChildren(...messageList([...failures, ...advice], failed));
  byId("keep-going").checked = false;
  const left = failed === 1 ? "1 record that fails" : `${failed.toLocaleString("en")} records that fail`;
  byId("keep-going").nextSibling.textContent = `Import the others, and leave out ${left}`;
  show(byId("plan-others"), failed > 0 && others > 0);
  const verb = changes.length > 0 ? "Define these fields, and import" : "Import";
  byId("import-submit").textContent = others > 0 ? `${verb} ${inNumber(others)}` : "Import";
  if (records) announce(words);
}

const isNew = (key) => key && !member(key) && !["id", "revision"].includes(key);

const titleOf = (key) => member(key)?.title ?? (isNew(key) ? `new: ${key}` : key);

const option = (value, words = titleOf(value)) => element("option", { value }, words);

/** A choice with these options, of which one is chosen. */
function choice(label, options, value, choose) {
  const onchange = ({ target }) => {
    choose(target.value);
    notifyChanged();
  };
  return Object.assign(element("select", { "aria-label": label, onchange }, ...options), { value });
}

function showColumns() {
  const label = document.activeElement.getAttribute("aria-label");
  const rows = plan.plan.map(({ heading, field, reason }) => {
    const changes = plan.changes.filter((change) => change.field === field).map((change) => change.reason);
    const choices = [fieldChoice(heading, field)];
    if (isNew(field) && changes.length > 0) choices.push(kindChoice(heading, field));
    return row(shownName(heading), choices, changes.length > 0 ? changes.join("; ") : reason);
  });
  const others = plan.changes.filter((change) => !plan.plan.some(({ field }) => field === change.field));
  rows.push(...others.map(({ field, reason }) => row("no column", [titleOf(field)], reason)));
  byId("plan-columns").replaceChildren(...rows);
  if (label) byId("plan-columns").querySelector(`[aria-label="${CSS.escape(label)}"]`)?.focus();
}

function row(heading, choices, reason) {
  const cells = [element("div", {}, ...choices), inWords(reason)].map((part) => element("td", {}, part));
  return element("tr", {}, element("th", { scope: "row" }, heading), ...cells);
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
  const kind = (input) => KINDS[input] ?? input;
  const inputs = Object.keys(TYPES).filter((input) => input !== "long");
  const options = inputs.map((input) => option(kind(input), TYPES[input][0]));
  const value = kind(kindOf(plan.definition.properties[field]));
  return choice(`Kind of ${heading}`, options, value, (chosen) => (kinds[heading] = chosen));
}

/** Shows the choices that depend on the fields: unique ones can find records, and new ones become unique then. */
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
