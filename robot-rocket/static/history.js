// The history of a robot: who has changed what and when, with a button that restores each version.

import { action, handleError } from "./action.js";
import { announce, showLast } from "./announcements.js";
import { historyOf, revertTo } from "./api.js";
import { reportChanges } from "./changes.js";
import { button, element, redraw, shownName, spokenName } from "./elements.js";
import { inWords } from "./kinds.js";
import { differing } from "./robot.js";
import { authorAndTime } from "./times.js";
import { did } from "./undo.js";

/** The maximum number of characters of a value. Longer ones are whole in the record. */
const MAX_LENGTH = 200;

export class History {
  element = element("section", { class: "history", "aria-labelledby": "history-heading" });

  #id;

  /** The changes that were read, the latest first. */
  #changes = [];

  /** Where the earlier ones begin, if there are any. */
  #next;

  /** The first page, while it is read. */
  #first;

  #more = action({ perform: () => this.#read(this.#next), failed: (error) => this.#fail(error), back: () => this.#more() });

  #restore = action({
    perform: (change) => this.#bringBack(change),
    failed: ({ messages }) => {
      showLast([`Not restored. ${messages.join(" ")}`]);
      announce(`Not restored. ${messages.join(" ")}`);
    },
    key: ({ revision }) => revision,
  });

  constructor(id) {
    this.#id = id;
  }

  /** Reads the latest changes. */
  load() {
    const again = () => this.load();
    const failed = (error) => handleError(error, { again, failed: () => this.#fail(error), back: again });
    this.#first = this.#read().catch(failed);
    return this.#first;
  }

  /** The last version of a deleted robot, if it is kept. */
  async last() {
    await this.#first;
    return this.#changes.find(({ robot }) => robot)?.robot;
  }

  /** Restores the last version of a deleted robot. */
  restoreLast() {
    return this.#restore(this.#changes.find(({ robot }) => robot));
  }

  async #read(before) {
    const { changes, next } = await historyOf(this.#id, before);
    this.#changes = before ? [...this.#changes, ...changes] : changes;
    this.#next = next;
    this.#draw();
  }

  /** Without a history, the record is shown alone. */
  #fail({ status, messages }) {
    if (status === 404) this.#changes = [];
    const words = [404, 501].includes(status) ? [] : [element("p", { class: "error" }, messages.join(" "))];
    this.element.replaceChildren(...words);
  }

  #draw() {
    // What the earliest change has changed is known when the one before is read.
    const shown = this.#next ? this.#changes.slice(0, -1) : this.#changes;
    const items = shown.map((change, index) => this.#item(change, this.#changes[index + 1], index === 0));
    const more = this.#next ? [button("Earlier changes", () => this.#more())] : [];
    const heading = element("h3", { id: "history-heading" }, "History");
    const keyOf = (control) => control.dataset.revision ?? control.textContent;
    redraw(this.element, keyOf, heading, element("ol", {}, ...items), ...more);
  }

  #item(change, earlier, isLatest) {
    const { at, robot, action } = change;
    const verbs = { added: earlier ? "Restored" : "Added", deleted: "Deleted" };
    const parts = [...authorAndTime(change), element("div", {}, verbs[action] ?? "")];
    if (robot && earlier?.robot) parts.push(...differing(earlier.robot, robot).map((member) => changedValue(member, earlier.robot, robot)));
    if (robot && !isLatest) {
      const label = `Restore this version${at ? ` of ${parts.find((part) => part.dateTime).textContent}` : ""}`;
      const attributes = { "aria-label": label, "data-needs": "write", "data-revision": change.revision };
      parts.push(button("Restore this version", () => this.#restore(change), attributes));
    }
    return element("li", {}, ...parts);
  }

  async #bringBack({ revision }) {
    const [latest] = this.#changes;
    const robot = await revertTo(this.#id, revision, latest.robot ? latest.revision : undefined);
    const before = latest.robot ? { to: latest.revision } : {};
    did(["Restored a version of ", robot], { id: this.#id, from: robot.revision, ...before });
    announce(`Restored a version of ${spokenName(robot.name)}.`);
    reportChanges([{ id: this.#id, robot, revision: robot.revision }]);
  }
}

/** A member that was changed, with both values; without the earlier one if it is not known, or there are several. */
export function changedValue({ key, title, input }, earlier, later) {
  const value = (robot, kind) => {
    const text = inWords(input, robot[key]);
    const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
    return element("span", { class: kind }, robot[key] === "" ? element("i", {}, "nothing") : shownName(short));
  };
  const words = [`${title} `, ...(earlier ? [value(earlier, "was")] : []), " → ", value(later, "is")];
  return element("div", { class: "changed" }, ...words);
}
