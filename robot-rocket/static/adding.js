// The form that adds a robot.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { add, namesakes } from "./api.js";
import { byId, formEnd, onSubmit, spokenName } from "./elements.js";
import { Fields } from "./fields.js";
import { showAdded } from "./list.js";
import { showPanel, startPanel } from "./panels.js";
import { ONE, OWN, definition, draftOf, isSame, member, onDefined, stored } from "./robot.js";

let fields;

/** Opens the form. */
export const openForm = startPanel("adding", () => fields.first.box);

/** Fills the form and starts listening. */
export function startAdding() {
  onDefined(fill);
  onSubmit(byId("add"), submit);
}

/** Creates the fields. What was typed stays. */
function fill() {
  const { title } = definition.document;
  for (const id of ["adding-open", "adding-heading"]) {
    byId(id).textContent = title ? `Add to ${title}` : `Add a ${ONE}`;
  }
  const old = fields;
  fields = new Fields(draftOf(() => ""), "shown");
  const show = () => byId("add").replaceChildren(fields.general, ...fields.folded, formEnd("Add"));
  if (old) fields.replace(old, show);
  else show();
  byId("add").classList.toggle("many", OWN.length > 0);
}

/** Whether something was typed and not added. */
export function isUnfinished() {
  return fields.isTyped;
}

const submit = action({
  input: () => [fields.draft()],
  perform: async (draft) => done(await add(draft), draft),
  failed(error) {
    const words = `Whether the ${ONE} was added will be looked up as soon as the server answers.`;
    showError(error.isTransient ? { messages: [...error.messages, words] } : error);
  },
  back: lookUp,
});

/** The user may have closed the form meanwhile. */
function showError(error) {
  showPanel("adding", true);
  fields.showError(error);
}

/** Shows a robot that was added, and clears the form, except for the type. If the user has typed on
    meanwhile, the form stays. */
function done(robot, draft) {
  const isUnchanged = isSame(fields.draft(), draft);
  if (isUnchanged) {
    fields.reset();
    fields.focus(fields.first);
  }
  const isNew = showAdded(robot);
  if (!isNew && !isUnchanged) return;
  const values = ["type", "year"].flatMap((key) => robot[key] || []);
  announce(`Added ${[spokenName(robot.name), ...values].join(", ")}.`);
}

/** Finds out whether a robot was added. */
async function lookUp(draft) {
  // If that fails, too, the outcome stays unknown.
  const found = await namesakes(draft.name).catch(() => null);
  const robot = found?.find((one) => isSame(one, stored(draft)));
  if (robot) return done(robot, draft);
  const isMissing = found && (found.length === 0 || !member("name").isUnique);
  const missing = `The ${ONE} was not added. Add it again.`;
  const unclear = `Add the ${ONE} again: if its name is taken, it was added.`;
  showError({ messages: [isMissing ? missing : unclear] });
}
