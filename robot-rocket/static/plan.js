// The plan of an import: what the columns of a file stand for, what its records will do, and what the user chooses.

import { announce } from "./announcements.js";
import { TYPES, keyOf } from "./defining.js";
import { byId, element, problems, show, shownName } from "./elements.js";
import { kindOf } from "./kinds.js";
import { MEMBERS, definition, inNumber, member, onDefined } from "./robot.js";

/** The kinds of new fields: in the definition, and in the parameter `kinds`. */
const KINDS = {
  text: "text",
  choice: "choices",
  digits: "integer",
  number: "number",
  boolean: "boolean",
  date: "date",
  uri: "uri",
};

/** What records do: in a result, and in a plan. */
const COUNTS = {
  replaced: ["changed", "change"],
  unchanged: ["left unchanged", "leave unchanged"],
  skipped: ["skipped", "skip"],
  failed: ["failed", "fail"],
  not_tried: ["did not try"],
};

/** What the page has instead of the words of the service for programs and for the command line. */
const WORDS = [
  [/; map one to it\. The columns are: [^]*/, "; choose it below."],
  [/: add --dates dmy or --dates mdy/, ": choose the order below"],
  [/\. If it is a record, add --no-header$/, ""],
];

/** The choices of the advice, and their words. */
const CHOICES = {
  match: (key) => ["import-match", key, `find records by ${titleOf(key)}`],
  on_conflict: () => ["on-conflict", "skip", "skip them"],
  add_equal: () => ["on-conflict", "add", "add them again"],
};

/** The choices that are elements of the page. */
const BOXES = ["import-match", "on-conflict", "import-nulls", "import-dates"];

/** The plan that is shown; undefined if the choices have changed since, or there is none. */
let plan;

/** What the user has chosen for headings: the keys of fields, null to leave the column out; and the kinds of new fields. */
let columns, kinds;

/** The keys that new fields had in plans, by the heading. */
let added;

let notifyChanged;

/** Starts listening. `changed` is called after the user has chosen something. */
export function startPlan(changed) {
  notifyChanged = () => {
    plan = undefined;
    changed();
  };
  for (const id of BOXES) byId(id).addEventListener("change", notifyChanged);
  forgetPlan();
}

/** Forgets the plan and the choices. */
export function forgetPlan() {
  [plan, columns, kinds, added] = [undefined, {}, {}, {}];
  for (const id of BOXES) byId(id).value = "";
  byId("import-match").replaceChildren(option("", ""));
  byId("plan-error").textContent = "";
  byId("import-submit").textContent = "Import";
  show(byId("plan"), false);
}

/** The choices, as parameters of the service. */
export function importParameters() {
  const [match, conflict, nulls, dates] = BOXES.map((id) => byId(id).value);
  const texts = nulls.split(",").map((text) => text.trim()).filter((text) => text !== "");
  return {
    define: true,
    columns: JSON.stringify(columns),
    kinds: JSON.stringify(kinds),
    nulls: JSON.stringify(texts),
    ...(match && { match }),
    ...(conflict === "skip" && { on_conflict: "skip" }),
    ...(conflict === "add" && { add_equal: true }),
    ...(dates && { dates }),
    ...(byId("keep-going").checked && { keep_going: true }),
  };
}

/** Whether the plan has what records do, and nothing has changed since. */
export const isPlanned = () => plan?.records !== undefined;

/** Why the plan cannot be executed, and the box that the user has to change; undefined if it can. */
export function obstacle() {
  const { failed, count } = plan;
  if (failed === 0 || byId("keep-going").checked) return undefined;
  if (failed === count) return ["No record can be imported. Correct the file, and choose it again.", byId("file")];
  return ["Some records fail. Correct the file and choose it again, or leave them out.", byId("keep-going")];
}

/** Shows why there is no plan, or none that can be executed. */
export function showPlanError(text) {
  byId("plan-error").textContent = inWords(text);
  announce(byId("plan-error").textContent);
}

/** Shows a plan, and what is wrong with it. Without columns, those that are shown stay, since a choice may be the cause. */
export function showPlan(planned, messages) {
  plan = { changes: [], ...planned };
  plan.failed = Number(plan.records?.failed ?? 0);
  plan.count = Object.values(plan.records ?? {}).reduce((sum, count) => sum + Number(count), 0);
  fillRecords();
  if (plan.plan) {
    for (const { heading, field } of plan.plan) if (isNew(field)) added[heading] = field;
    fillColumns();
    fillChoices();
    show(byId("plan"));
  }
  showPlanError(messages.join(" "));
  if (plan.records) announce(byId("plan-counts").textContent);
}

/** What was done, or will be, with records. */
export function inSentence(counts, isPlanned) {
  const others = Object.entries(COUNTS).flatMap(([key, words]) => {
    const count = Number(counts[key] ?? 0);
    return count > 0 ? `${words[isPlanned ? 1 : 0]} ${count.toLocaleString("en")}` : [];
  });
  return [`${isPlanned ? "Would add" : "Added"} ${inNumber(Number(counts.added))}`, ...others].join(", ");
}

/** Messages, most of which name a record that has failed. The service sends only some of them. */
export function messageList(messages, failed = 0) {
  const items = messages.map((message) => {
    const [, place, text] = /^((?:line|record) \d+): ([^]*)$/.exec(message) ?? [];
    return element("li", {}, ...(place ? [element("b", {}, place), ` ${text}`] : [inWords(message)]));
  });
  const more = failed - items.filter((item) => item.querySelector("b")).length;
  if (more > 0) items.push(element("li", {}, `… and ${more.toLocaleString("en")} more`));
  return items.length > 0 ? [problems(items)] : [];
}

/** A message with the words of the page. */
function inWords(message) {
  return WORDS.reduce((text, [words, ours]) => text.replace(words, ours), message);
}

/** What the records will do, and what can be done about those that fail. */
function fillRecords() {
  const { records, failures = [], advice = [], failed, count, changes } = plan;
  byId("plan-counts").textContent = records ? `${inSentence(records, true)}. Nothing is stored yet.` : "";
  byId("plan-failures").replaceChildren(...messageList(failures, failed), ...advice.map(advised));
  byId("keep-going").checked = false;
  show(byId("plan-others"), failed > 0 && failed < count);
  byId("plan-left-out").textContent = failed === 1 ? "the record that fails" : `${failed.toLocaleString("en")} records that fail`;
  const verb = changes.length > 0 ? "Define these fields, and import" : "Import";
  byId("import-submit").textContent = records && failed < count ? `${verb} ${inNumber(count - failed)}` : "Import";
}

/** Advice, whose parameters are buttons. */
function advised(text) {
  const parts = text.split(/(?:add )?((?:match|on_conflict|add_equal)=\w+)/);
  const choose = (parameter) => {
    const [name, value] = parameter.split("=");
    const [id, choice, words] = CHOICES[name](value);
    const onclick = () => {
      byId(id).value = choice;
      notifyChanged();
    };
    return element("button", { type: "button", onclick }, words);
  };
  return element("p", { class: "advice" }, ...parts.map((part, index) => (index % 2 === 1 ? choose(part) : part)));
}

const isNew = (key) => key && !member(key) && !["id", "revision"].includes(key);

const titleOf = (key) => member(key)?.title ?? key;

const option = (value, words) => element("option", { value }, words);

/** A choice with these options, of which one is chosen. */
function choice(label, options, value, choose) {
  const onchange = ({ target }) => {
    choose(target.value);
    notifyChanged();
  };
  const select = element("select", { "aria-label": label, onchange }, ...options.map((each) => option(...each)));
  select.value = value;
  return select;
}

const selects = () => [...byId("plan-columns").querySelectorAll("select")];

function fillColumns() {
  const label = document.activeElement.ariaLabel;
  const rows = plan.plan.map(({ heading, field, reason }) => {
    const changes = plan.changes.filter((change) => change.field === field);
    const reasons = changes.length > 0 ? changes.map((change) => change.reason) : [reason];
    const property = isNew(field) && changes.length > 0 && plan.definition?.properties[field];
    const choices = [fieldChoice(heading, field), ...(property ? [kindChoice(heading, property)] : [])];
    return row(shownName(heading), choices, reasons);
  });
  const others = plan.changes.filter((change) => !plan.plan.some(({ field }) => field === change.field));
  rows.push(...others.map(({ field, reason }) => row("–", [titleOf(field)], [reason])));
  byId("plan-columns").replaceChildren(...rows);
  selects().find((select) => label && select.ariaLabel === label)?.focus();
}

function row(heading, choices, reasons) {
  const cells = [element("div", {}, ...choices), inWords(reasons.join("; "))].map((part) => element("td", {}, part));
  return element("tr", {}, element("th", { scope: "row" }, heading), ...cells);
}

/** The choice of what a column stands for: a field, a new one, the id that finds a robot, or nothing. */
function fieldChoice(heading, field) {
  let fresh = added[heading] ?? (keyOf(heading) || "field");
  while (member(fresh)) fresh += "_2";
  const fields = MEMBERS.map(({ key, title }) => [key, title]);
  fields.push([fresh, `${fresh} (new)`], ["id", "id of the robot to change"]);
  if (field === "revision") fields.push([field, "revision of the robot"]);
  return choice(`Field of ${heading}`, [...fields, ["", "leave out"]], field ?? "", (key) => {
    columns[heading] = key || null;
    delete kinds[heading];
    if (key === "id") byId("import-match").value = "id";
    else if (field === byId("import-match").value) byId("import-match").value = "";
  });
}

/** The choice of the kind of a new field. */
function kindChoice(heading, property) {
  const options = Object.entries(KINDS).map(([input, kind]) => [kind, TYPES[input][0]]);
  return choice(`Kind of ${heading}`, options, KINDS[kindOf(property)] ?? "text", (kind) => (kinds[heading] = kind));
}

/** Fills the choices that depend on the fields: those that find robots have different values. */
function fillChoices() {
  const match = byId("import-match").value;
  const fields = plan.plan.map(({ field }) => field);
  const keys = fields.filter((key) => isNew(key) || member(key)?.isUnique);
  const ids = plan.plan.some(({ heading, field }) => field === "id" || /^\s*id\s*$/i.test(heading)) ? ["id"] : [];
  const found = [...new Set([...ids, ...keys, ...(match ? [match] : [])])];
  const options = found.map((key) => option(key, isNew(key) ? `${key} (new)` : titleOf(key)));
  byId("import-match").replaceChildren(option("", "nothing, only add"), ...options);
  byId("import-match").value = match;
  const names = (plan.definition ?? definition.document).properties.name;
  const [first, , again] = byId("on-conflict").options;
  first.textContent = match ? "change it" : "the record fails";
  again.hidden = match !== "" || names.unique !== false;
}
