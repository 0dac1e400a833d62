// The form that adds a robot.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { add, namesakes } from "./api.js";
import { keepDraft, keptDraft } from "./drafts.js";
import { byId, element, formEnd, onSubmit, shownName, spokenName } from "./elements.js";
import { Fields } from "./fields.js";
import { showAdded } from "./list.js";
import { showPanel, startPanel } from "./panels.js";
import { MEMBERS, ONE, aOne, draftOf, inNumber, isSame, onDefined, stored } from "./robot.js";
import { addressOf } from "./row.js";
import { did } from "./undo.js";

/** The name of the draft. */
const DRAFT = "new";

let fields;

/** Opens the form. */
export const openForm = startPanel("adding", () => fields.first.box, giveUp);

/** Fills the form, with what was typed before a reload, and starts listening. */
export function startAdding() {
  fields = new Fields(draftOf(() => ""), "shown", keptDraft(DRAFT));
  onDefined(fill);
  onSubmit(byId("add"), submit);
  byId("add").addEventListener("input", keep);
  // After a reload, it stays closed.
  byId("adding-close").addEventListener("click", () => keepDraft(DRAFT));
  if (fields.isTyped) showPanel("adding", true);
}

/** Forgets what was typed. */
function giveUp() {
  fields.reset();
  keep();
}

function keep() {
  keepDraft(DRAFT, fields.isTyped ? fields.changes() : undefined);
}

/** Shows the fields of the definition. What was typed stays. */
function fill() {
  for (const id of ["adding-open", "adding-heading"]) byId(id).textContent = `Add ${aOne()}`;
  fields = fields.renewed("shown", ({ general, folded }) => {
    byId("add").replaceChildren(general, ...folded, formEnd("Add"));
  });
}

/** Whether something was typed and not added. */
export function isUnfinished() {
  return fields.isTyped;
}

const submit = action({
  input: () => [fields.draft()],
  perform: async (draft) => done(await add(draft), draft),
  failed(error, draft) {
    const words = `Whether the ${ONE} was added will be looked up as soon as the server answers.`;
    if (!error.isUnknown && !error.isTransient) return showError(error, draft);
    const more = error.isUnknown ? words : `The ${ONE} was not added.`;
    showError({ messages: [...error.messages, more] });
  },
  back: lookUp,
});

/** The user may have closed the form meanwhile. */
async function showError(error, draft) {
  showPanel("adding", true);
  fields.showError(error);
  const [taken] = error.keys?.includes("name") && draft.name ? await namesakes(draft.name).catch(() => []) : [];
  if (taken && fields.draft().name === draft.name) fields.general.append("There is ", element("a", { href: addressOf(taken) }, shownName(taken.name)), ".");
}

/** Shows a robot that was added, and clears the form, except for the type. If the user has typed on
    meanwhile, the form stays. */
function done(robot, draft) {
  const isUnchanged = isSame(fields.draft(), draft);
  if (isUnchanged) {
    giveUp();
    fields.focus(fields.first);
  }
  const isNew = showAdded(robot);
  if (!isNew && !isUnchanged) return;
  did(["Added ", robot], { id: robot.id, from: robot.revision });
  const values = ["type", "year"].flatMap((key) => robot[key] || []);
  announce(`Added ${[spokenName(robot.name), ...values].join(", ")}.`);
}

/** Finds out whether a robot was added. */
async function lookUp(draft, { isUnknown }) {
  const missing = `The ${ONE} was not added. Add it again.`;
  if (!isUnknown) return showError({ messages: [missing] });
  // If that fails, too, the outcome stays unknown.
  const found = await namesakes(draft.name).catch(() => null);
  const equal = found?.filter((robot) => isSame(robot, stored(draft)));
  const isUnique = MEMBERS.some((one) => one.isUnique && draft[one.key] !== "");
  if (equal?.length > 0 && isUnique) return done(equal[0], draft);
  const repeated = `Whether the ${ONE} was added is unknown: ${inNumber(equal?.length ?? 0)} with these values ` +
    "can be found. Look at the list before you add it again.";
  const unclear = isUnique ? `Add the ${ONE} again: if its name is taken, it was added.` : repeated;
  const isMissing = found?.length === 0 || (equal?.length === 0 && !isUnique);
  showError({ messages: [isMissing ? missing : unclear] });
}
