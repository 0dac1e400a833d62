// Editing of one robot, in its row or on its own page. What was typed stays until it is saved or given
// up, also if the robot is changed or deleted by another user, or the server is unreachable.

import { action } from "./action.js";
import { announce } from "./announcements.js";
import { add, get, replace } from "./api.js";
import { button, buttons, element, hasFocus, shownName, spokenName, unseen } from "./elements.js";
import { Fields } from "./fields.js";
import { inWords } from "./kinds.js";
import { MEMBERS, ONE, isSame, stored } from "./robot.js";

/** What to do if another user has changed the robot. */
const CONFLICT =
  "Your version is not saved yet. Keep yours, take theirs, or edit on above and save.";

/** The number of comparisons so far, for their ids. */
let count = 0;

export class Editing {
  row;
  /** The robot as it was read last. */
  robot;

  #fields;
  #listeners;

  /** The comparison with the version of another user. */
  #conflict;

  #isGone = false;

  #store = action({
    input: () => [this.#fields.draft()],
    perform: (draft) => this.#send(draft),
    failed: (error) => (error.status === 404 ? this.#showGone() : this.#fields.showError(error)),
    back: () => this.#fields.clear(),
  });

  /** `listeners.end` is called with the robot to show, and whether it was saved;
      `listeners.addAgain` with the robot that replaces a deleted one, and `listeners.giveUp` if
      none does. `frame` creates the element. */
  constructor(robot, listeners, frame) {
    this.robot = robot;
    this.#listeners = listeners;
    this.#fields = new Fields(robot, "shown");
    this.row = frame(robot, this.#fields, {
      save: () => this.#save(),
      cancel: () => this.#cancel(),
    });
    this.row.addEventListener("input", () => this.#conflict?.update(this.#fields.draft()));
    this.row.addEventListener("keydown", (event) => this.#key(event));
  }

  #key(event) {
    const field = this.#fields.all.find(({ box }) => box === event.target);
    // In a long text, Enter begins a line.
    const isEnter = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    const isSaving = isEnter && field && !field.isLong;
    if (!isSaving && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (isSaving) this.#save();
    else this.#cancel();
  }

  /** Whether something was typed and not saved. */
  get isChanged() {
    return this.#fields.isChanged || this.#conflict !== undefined;
  }

  /** Moves the focus to the first field. */
  start() {
    this.#fields.first.box.focus();
    this.#fields.first.box.select();
  }

  /** While the robot is being saved, it is too late. */
  #cancel() {
    if (this.#store.isBusy()) return;
    if (this.#isGone) this.#listeners.giveUp();
    else this.#listeners.end(this.robot, false);
  }

  #save() {
    if (this.isChanged || this.#isGone) this.#store();
    else this.#cancel();
  }

  async #send(draft) {
    if (this.#isGone) return this.#listeners.addAgain(await add(draft));
    const saved = await replace(this.robot, draft).catch((error) => {
      if (error.status !== 412) throw error;
    });
    if (saved) this.#end(saved);
    else await this.#compare(draft);
  }

  /** Ends, because a robot was saved. */
  #end(robot) {
    this.#listeners.end(robot, true);
    announce(`Saved ${spokenName(robot.name)}.`);
  }

  /** Shows the version of another user beside the typed one. */
  async #compare(draft) {
    const other = await get(this.robot.id);
    this.robot = other;
    this.#fields.renew(other);
    // The same values: the response to the own change may have been lost.
    if (isSame(other, stored(draft))) return this.#end(other);
    this.#fields.clear();
    this.#conflict?.element.remove();
    this.#conflict = comparison(draft, other, {
      keep: () => this.#save(),
      take: () => this.#cancel(),
    });
    this.row.firstChild.append(this.#conflict.element);
    if (hasFocus(this.row)) this.#conflict.element.focus();
    announce(`${spokenName(other.name)} was changed by another user. Nothing was saved yet.`);
  }

  #showGone() {
    this.#isGone = true;
    this.#conflict?.element.remove();
    const message = `This ${ONE} was deleted meanwhile. Save adds it again, under a new id.`;
    this.#fields.showError({ messages: [message] });
  }
}

/** Shows `mine`, a draft, beside `other`, the stored robot: the element, and `update`, which shows what is typed now.
    `keep` and `take` are called by the buttons. */
function comparison(mine, other, { keep, take }) {
  const id = `conflict-${++count}`;
  const rows = element("tbody");
  const update = (draft) => rows.replaceChildren(...MEMBERS.map((member) => rowOf(member, draft, other)));
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

/** The values of a member. Those that differ are marked, not only by color. */
function rowOf({ key, title, input }, mine, other) {
  const isEqual = mine[key] === other[key];
  const cells = [mine, other].map((robot) => element("td", {}, shownName(inWords(input, robot[key]))));
  const mark = isEqual ? [] : [unseen(" (differs)")];
  const head = element("th", { scope: "row" }, title, ...mark);
  return element("tr", { class: isEqual ? "" : "differs" }, head, ...cells);
}
