// Editing of one robot. What was typed stays until it is saved or given up, also if the robot is changed or deleted by
// another user, the fields change, the server is unreachable, or the page is reloaded. Only what was typed is sent.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { get, patch, revertTo } from "./api.js";
import { keepDraft, keptDraft } from "./drafts.js";
import { button, buttons, element, hasFocus, shownName, spokenName, unseen } from "./elements.js";
import { Fields } from "./fields.js";
import { inWords } from "./kinds.js";
import { ONE, differing, isSame, stored } from "./robot.js";
import { did } from "./undo.js";

/** What to do if another user has changed the same values. */
const CONFLICT =
  "Your version is not saved yet. Keep yours, take theirs, or edit on above and save.";

/** The number of comparisons so far, for their ids. */
let count = 0;

const draftName = (id) => `robot ${id}`;

/** Whether something was typed for a robot before a reload. */
export function hasDraft(id) {
  return keptDraft(draftName(id)) !== undefined;
}

export class Editing {
  /** The form. */
  element = element("form", { class: "editor", novalidate: true });

  /** The robot to which the typed values belong. */
  #base;

  #fields;
  #listeners;

  /** The comparison with the version of another user. */
  #conflict;

  #isGone = false;

  #store = action({
    input: () => [this.#fields.changes()],
    perform: (changes) => this.#send(changes),
    failed: (error) => (error.status === 404 ? this.#showGone() : this.#showError(error)),
    back: () => this.#fields.clear(),
  });

  /** `listeners.end` is called with the robot to show; `listeners.saved` with each version that was saved;
      `listeners.giveUp` if the robot was deleted by another user, and is not restored. */
  constructor(robot, listeners) {
    const draft = keptDraft(draftName(robot.id));
    this.#base = draft?.base ?? robot;
    this.#listeners = listeners;
    this.#fields = new Fields(this.#base, "shown", draft?.typed);
    this.#show(this.#fields);
    this.element.ariaLabel = `Editing ${spokenName(robot.name)}`;
    this.element.addEventListener("input", () => {
      this.#conflict?.update(this.#fields.draft());
      this.#keep();
    });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#save();
    });
  }

  #show({ general, all }) {
    const ending = buttons(
      button("Save", undefined, { type: "submit", class: "main" }),
      button("Cancel", () => this.#cancel()),
    );
    this.element.replaceChildren(general, ...all.map((field) => field.element), ending);
    if (this.#conflict) this.element.append(this.#conflict.element);
  }

  #key(event) {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    this.#cancel();
  }

  /** Keeps what was typed. */
  #keep() {
    const typed = this.#fields.changes();
    const isTyped = Object.keys(typed).length > 0;
    keepDraft(draftName(this.#base.id), isTyped ? { base: this.#base, typed } : undefined);
  }

  /** Whether something was typed and not saved. */
  get isChanged() {
    return this.#fields.isChanged || this.#conflict !== undefined;
  }

  /** Moves the focus to the first field. */
  start() {
    this.#fields.first.box.focus();
    this.#fields.first.box.select?.();
  }

  /** Shows the fields of another definition. What was typed stays. */
  redefine() {
    this.#fields = this.#fields.renewed("shown", (fields) => this.#show(fields));
  }

  /** Takes another version of the robot, unless it has other values where the user has typed: then saving shows both. */
  renew(robot) {
    if (this.#store.isBusy() || this.#overtaken(robot, this.#fields.changes()).length > 0) return;
    this.#base = robot;
    this.#fields.renew(robot);
    this.#keep();
  }

  /** The typed members that another user has given other values. */
  #overtaken(other, changes) {
    const mine = stored(changes);
    return Object.keys(changes).filter((key) => other[key] !== this.#base[key] && other[key] !== mine[key]);
  }

  /** While the robot is being saved, it is too late. */
  #cancel() {
    if (this.#store.isBusy()) return;
    keepDraft(draftName(this.#base.id));
    if (this.#isGone) this.#listeners.giveUp();
    else this.#listeners.end(this.#base);
  }

  #save() {
    if (this.isChanged || this.#isGone) this.#store();
    else this.#cancel();
  }

  async #send(changes) {
    // Another user has deleted the robot: it comes back as it was read.
    const isThere = this.#isGone && (await get(this.#base.id).catch(({ status }) => status !== 404));
    if (this.#isGone && !isThere) this.#base = await revertTo(this.#base.id, this.#base.revision);
    this.#isGone = false;
    const saved = await patch(this.#base, changes).catch((error) => {
      if (error.status !== 412) throw error;
    });
    if (saved) this.#end(saved, changes);
    else await this.#compare(changes);
  }

  /** Ends, because a robot was saved, unless the user has typed on meanwhile. */
  #end(robot, changes) {
    const isMore = JSON.stringify(this.#fields.changes()) !== JSON.stringify(changes);
    const { id, revision } = this.#base;
    if (robot.revision !== revision) did(["Changed ", robot], { id, to: revision, from: robot.revision });
    this.#base = robot;
    this.#dropConflict();
    if (isMore) this.#fields.renew(robot);
    if (isMore) this.#keep();
    else keepDraft(draftName(id));
    this.#listeners.saved(robot);
    if (!isMore) this.#listeners.end(robot);
    announce(`Saved ${spokenName(robot.name)}.`);
  }

  #dropConflict() {
    this.#conflict?.element.remove();
    this.#conflict = undefined;
  }

  /** Another user has changed the robot. Values that the user has not typed are taken; the others are shown. */
  async #compare(changes) {
    const other = await get(this.#base.id);
    const overtaken = this.#overtaken(other, changes);
    // The same values: the response to the own change may have been lost.
    const isStored = isSame(stored({ ...other, ...changes }), other);
    this.#base = other;
    this.#fields.renew(other);
    this.#keep();
    if (isStored) return this.#end(other, this.#fields.changes());
    if (overtaken.length === 0) return this.#send(changes);
    this.#fields.clear();
    this.#dropConflict();
    this.#conflict = comparison(this.#fields.draft(), other, {
      keep: () => this.#save(),
      take: () => this.#cancel(),
    });
    this.element.append(this.#conflict.element);
    this.#conflict.element.scrollIntoView({ block: "nearest" });
    if (hasFocus(this.element)) this.#conflict.element.focus();
    announce(`${spokenName(other.name)} was changed by another user. Nothing was saved yet.`);
  }

  #showError(error) {
    const words = error.isUnknown ? `Whether the ${ONE} was saved is unknown. Save it again.` : `The ${ONE} was not saved.`;
    const isHidden = !error.isUnknown && !error.isTransient;
    this.#fields.showError(isHidden ? error : { messages: [...error.messages, words] });
  }

  #showGone() {
    this.#isGone = true;
    this.#dropConflict();
    this.#showError({ messages: [`This ${ONE} was deleted meanwhile. Save restores it, with what you have typed.`] });
  }
}

/** Shows `mine`, a draft, beside `other`, the stored robot: the element, and `update`, which shows what is typed now.
    `keep` and `take` are called by the buttons. */
function comparison(mine, other, { keep, take }) {
  const id = `conflict-${++count}`;
  const rows = element("tbody");
  const update = (draft) => rows.replaceChildren(...differing(draft, other).map((member) => rowOf(member, draft, other)));
  update(mine);
  const heads = [unseen("Member"), "Yours", "Theirs"].map((head) => element("th", { scope: "col" }, head));
  const shown = element(
    "div",
    { class: "conflict", role: "group", tabindex: "-1", "aria-labelledby": id },
    element("h3", { id }, `Another user has changed this ${ONE}`),
    element("p", {}, CONFLICT),
    element("table", {}, element("thead", {}, element("tr", {}, ...heads)), rows),
    buttons(button("Keep mine", keep, { class: "main" }), button("Take theirs", take)),
  );
  return { element: shown, update };
}

/** The values of a member. */
function rowOf({ key, title, input }, mine, other) {
  const cells = [mine, other].map((robot) => element("td", {}, shownName(inWords(input, robot[key]))));
  return element("tr", {}, element("th", { scope: "row" }, title), ...cells);
}
