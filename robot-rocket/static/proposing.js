// The columns of a file that the user imports: what each stands for, and which fields the file needs.

import { announce } from "./announcements.js";
import { redefine, refreshDefinition, upload } from "./api.js";
import { byId, element, show, shownName } from "./elements.js";
import { MEMBERS, definition, member, onDefined } from "./robot.js";

/** What can be done if the service does not store new fields, by its status. */
const ADVICE = {
  403: ["Use a token that may define fields, or leave out what is new and clear the changes."],
  412: ["The columns are shown for the new fields now. Look at them, and import again."],
};

/** What is known about the chosen file. `columns` has the key of a member for each heading, null if the column is left
    out; `chosen` those that the user has chosen, and `added` the keys of new fields. `ids` is the heading of the
    ids. `declined` are the fields that shall not change. `calls` aborts the last request about a
    file that is examined, `isKnown` is whether it was answered, and `isFitting` whether `document` fits the file. */
let plan;

/** Starts listening. */
export function startProposing() {
  examine();
  byId("import-match").addEventListener("change", examineAgain);
  onDefined(() => plan.calls && examineAgain());
}

/** Examines another file. */
export function examine(file, format) {
  plan?.calls?.abort();
  plan = { file, format, columns: {}, chosen: {}, added: {}, declined: new Set(), changes: [] };
  byId("import-match").value = "";
  show(byId("plan"), false);
  showPlan([]);
  if (format) examineAgain();
}

/** If that fails, the import tries again, and shows the error. */
const examineAgain = () => ask().catch(() => {});

/** What the ids of the file are for: "id", "name", "none", or empty if the user has not chosen yet. */
const match = () => byId("import-match").value;

/** Asks what the columns stand for, and shows the answer. */
async function ask(calls = new AbortController()) {
  const asked = plan;
  asked.calls?.abort();
  Object.assign(asked, { calls, isKnown: false });
  const isLeftOut = ["name", "none"].includes(match());
  const columns = isLeftOut ? { ...asked.chosen, [asked.ids]: null } : asked.chosen;
  const parameters = { format: asked.format, propose: true, columns: JSON.stringify(columns) };
  if (["id", "name"].includes(match())) parameters.match = match();
  const { isDone, data, messages } = await upload(asked.file, parameters, calls);
  // The import shows why a file cannot be read.
  if (!data?.columns) return;
  for (const heading of Object.keys(asked.columns)) asked.columns[heading] = null;
  for (const [heading, key] of Object.entries(data.columns)) {
    asked.columns[heading] = key;
    if (heading.trim().toLowerCase() === "id") asked.ids = heading;
    else if (key && !member(key)) asked.added[heading] = key;
  }
  Object.assign(asked, { isKnown: true, isFitting: isDone, document: data.definition, changes: data.changes });
  showPlan(messages);
}

function showPlan(messages) {
  const { columns, changes, ids } = plan;
  const headings = Object.keys(columns).filter((heading) => heading !== ids);
  const isOpen = changes.length + messages.length > 0 || headings.some((heading) => columns[heading] === null);
  if (isOpen && byId("plan").hidden) announce("See what the columns of the file stand for.");
  show(byId("plan"), isOpen || !byId("plan").hidden);
  show(byId("import-ids"), ids !== undefined);
  show(byId("import-conflict"), !["id", "name"].includes(match()));
  byId("plan-error").textContent = messages.join(" ");
  const rows = headings.map((heading) => {
    return row(shownName(heading), choice(heading), changes.filter((change) => change.heading === heading));
  });
  const others = changes.filter(({ heading }) => !(heading in columns));
  const focused = selects().indexOf(document.activeElement);
  byId("plan-columns").replaceChildren(...rows, ...others.map((change) => row("–", "", [change])));
  selects()[focused]?.focus();
  showKept();
}

const selects = () => [...byId("plan").querySelectorAll("select")];

function row(heading, choice, changes) {
  const cells = [[choice], changes.map(shown)].map((parts) => element("td", {}, ...parts));
  return element("tr", {}, element("th", { scope: "row" }, heading), ...cells);
}

/** The choice of what a column stands for. */
function choice(heading) {
  const fields = MEMBERS.map(({ key, title }) => [key, title]);
  const key = plan.added[heading];
  if (key && !member(key)) fields.push([key, `${key} (new)`]);
  const options = [...fields, ["", "leave out"]].map(([value, words]) => element("option", { value }, words));
  const onchange = ({ target }) => {
    plan.chosen[heading] = target.value || null;
    examineAgain();
  };
  const select = element("select", { "aria-label": `Field of ${heading}`, onchange }, ...options);
  select.value = plan.columns[heading] ?? "";
  return select;
}

/** Why a field is new, or changes unless the user declines that. */
function shown({ field, reason }) {
  if (!member(field)) return reason;
  const onchange = ({ target }) => {
    plan.declined[target.checked ? "delete" : "add"](field);
    showKept();
  };
  const box = element("input", { type: "checkbox", checked: !plan.declined.has(field), onchange });
  return element("label", { class: "choice" }, box, `Change ${member(field).title}: ${reason}`);
}

/** The changes of fields that the user wants. */
const kept = () => plan.changes.filter(({ field }) => !plan.declined.has(field));

/** A check of the file would not know fields that are not stored yet. */
const showKept = () => show(byId("import-check"), kept().length === 0);

/** Whether the user has seen what is going to be imported, and has chosen what has to be chosen. */
export async function isReady(calls) {
  const isSeen = plan.isKnown && plan.isFitting;
  if (plan.calls && !plan.isKnown) {
    await ask(calls);
    // Only Stop ends the import.
    plan.calls = new AbortController();
  }
  const isChosen = plan.ids === undefined || match() !== "";
  if (isChosen && (byId("plan").hidden || isSeen)) return true;
  if (!isChosen) byId("plan-error").textContent = "Choose what the ids are for.";
  (isChosen ? selects()[0] : byId("import-match"))?.focus();
  return false;
}

/** Stores the fields that the file needs and the user has not declined. */
export async function storeFields() {
  if (kept().length === 0) return;
  const { properties, required } = definition.document;
  const document = structuredClone(plan.document);
  for (const key of plan.declined) {
    document.properties[key] = properties[key];
    if (required.includes(key)) document.required = [...new Set([...document.required, key])];
  }
  try {
    await redefine(document);
  } catch (error) {
    if (error.status === 412) await refreshDefinition().then(() => ask());
    error.messages.push(...(ADVICE[error.status] ?? []));
    throw error;
  }
  await ask();
}

/** The parameters of the import: what columns stand for, and which robots change. */
export function importParameters() {
  const isMatched = plan.ids !== undefined && match() !== "none";
  const how = isMatched ? { match: match() } : { on_conflict: byId("on-conflict").value };
  return { ...how, columns: JSON.stringify(plan.columns) };
}

/** The headings of the columns that are left out; undefined if the columns are not known. */
export function leftOut() {
  if (!plan.isKnown) return undefined;
  return Object.keys(plan.columns).filter((heading) => plan.columns[heading] === null);
}
