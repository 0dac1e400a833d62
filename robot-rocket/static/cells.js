// Editing of one value in its cell. It is stored when the user leaves the cell, unless another user has changed it
// meanwhile, and what was typed stays in the cell until it is stored or given up.

import { handleError } from "./action.js";
import { announce, notice } from "./announcements.js";
import { get, patch } from "./api.js";
import { button, buttons, element, hasFocus, isTyping, sentences, shownName, spokenName } from "./elements.js";
import { Field } from "./fields.js";
import { inWords } from "./kinds.js";
import { ONE, inLabels, stored } from "./robot.js";
import { cellOf } from "./row.js";
import { did } from "./undo.js";

export class CellEditing {
  /** Those that are open. */
  static #open = new Set();

  static get isAnyChanged() {
    return [...CellEditing.#open].some((editing) => editing.#field.isChanged);
  }

  /** Stores what is typed in all cells, because their rows are drawn anew. */
  static leaveAll() {
    for (const editing of CellEditing.#open) editing.#leave();
  }

  #cell;
  #member;
  #listeners;
  #field;

  /** The value when editing began, or that of another user to which the user has agreed. */
  #base;

  /** The robot as it was known last: its row may have left the window. */
  #robot;

  #isStoring = false;
  #listening = new AbortController();

  /** Of `listeners`, `robot` returns the robot as it is known now, `stored` is called with a stored one, and `moved` moves
      the focus by some rows and cells. */
  constructor(cell, member, listeners) {
    this.#cell = cell;
    this.#member = member;
    this.#listeners = listeners;
    this.#base = this.#now()[member.key];
    this.#field = new Field(member, this.#base, "unseen");
    cell.classList.add("editing");
    cell.replaceChildren(this.#field.element);
    const { signal } = this.#listening;
    cell.addEventListener("keydown", (event) => this.#press(event), { signal });
    cell.addEventListener("focusout", ({ relatedTarget }) => {
      // In another window, the user may look up what to type.
      const isStaying = cell.contains(relatedTarget) || document.activeElement === this.#field.box;
      if (!isStaying) this.#leave();
    }, { signal });
  }

  #now() {
    this.#robot = this.#listeners.robot() ?? this.#robot;
    return this.#robot;
  }

  /** Moves the focus into the input. */
  start() {
    CellEditing.#open.add(this);
    this.#field.box.focus();
    this.#field.box.select?.();
  }

  #press(event) {
    const { key, target, shiftKey } = event;
    if (event.isComposing) return undefined;
    if (key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#end(this.#now());
      return this.#listeners.moved([0, 0]);
    }
    if (target !== this.#field.box) return undefined;
    // In a long text, Enter with Shift begins a line.
    const isEnter = key === "Enter" && !(shiftKey && this.#field.isLong);
    if (!isEnter && key !== "Tab") return undefined;
    event.preventDefault();
    const back = shiftKey ? -1 : 1;
    return this.#store(isEnter ? [back, 0] : [0, back]);
  }

  /** The user has moved the focus elsewhere. */
  #leave() {
    if (!this.#isStoring && CellEditing.#open.has(this)) this.#store();
  }

  /** Stores what was typed, and moves the focus by a step. */
  async #store(step) {
    if (this.#isStoring) return;
    const robot = this.#now();
    const { value } = this.#field;
    if (!this.#field.isChanged) {
      this.#end(robot);
      if (step) this.#listeners.moved(step);
      return;
    }
    this.#field.setError("");
    this.#isStoring = true;
    this.#cell.setAttribute("aria-busy", "true");
    if (step) this.#listeners.moved(step);
    try {
      await this.#send(robot, value);
    } catch (error) {
      // The user may have given it up, or typed on, when the service answers again.
      const again = () => CellEditing.#open.has(this) && this.#field.value === value && this.#store();
      await handleError(error, { again, failed: () => this.#refuse(error), back: again });
    } finally {
      this.#isStoring = false;
      this.#cell.removeAttribute("aria-busy");
    }
  }

  async #send(robot, value) {
    const { key } = this.#member;
    const mine = stored({ ...robot, [key]: value })[key];
    if (![this.#base, mine].includes(robot[key])) return this.#compare(robot);
    const saved = await patch(robot, { [key]: value }).catch((error) => {
      if (error.status !== 412) throw error;
    });
    if (!saved) {
      const other = await get(robot.id);
      this.#listeners.stored(other);
      return this.#send(other, value);
    }
    if (saved.revision !== robot.revision) did(["Changed ", saved], { id: saved.id, to: robot.revision, from: saved.revision });
    if (this.#field.value === value) this.#end(saved);
    else this.#renew(saved);
    this.#listeners.stored(saved);
    announce(`Saved ${spokenName(saved.name)}.`);
    return undefined;
  }

  /** The list has moved on: what was typed is only reported. */
  #giveUp(robot, why) {
    CellEditing.#open.delete(this);
    notice(robot, ` was not changed (${this.#member.title}: ${this.#field.value}). ${why}`);
  }

  /** The value was stored, but the user has typed on. */
  #renew(saved) {
    this.#base = saved[this.#member.key];
    this.#field.renew(this.#base);
  }

  /** Shows the value of another user. */
  #compare(robot) {
    const { key, input, title } = this.#member;
    if (!this.#cell.isConnected) return this.#giveUp(robot, "Another user has changed this value.");
    const keep = () => {
      this.#base = robot[key];
      shown.remove();
      this.#field.box.focus();
      this.#store([0, 0]);
    };
    const take = () => {
      this.#end(robot);
      this.#listeners.moved([0, 0]);
    };
    const words = element("p", {}, "Another user has changed this to ", shownName(inWords(input, robot[key]) || "no value"), ".");
    const choice = buttons(button("Keep mine", keep, { class: "main" }), button("Take theirs", take));
    const shown = element("div", { class: "conflict", role: "group", "aria-label": `Conflict of ${title}` }, words, choice);
    this.#cell.querySelector(".conflict")?.remove();
    this.#cell.append(shown);
    if (hasFocus(this.#cell) || !isTyping()) choice.firstChild.focus();
    return announce(`${title} was changed by another user. Your value is not saved yet.`);
  }

  #refuse({ status, messages, keys, isUnknown, isTransient }) {
    const { title } = this.#member;
    const gone = `This ${ONE} was deleted meanwhile. Its record can restore it.`;
    const words = messages.map((message, index) => inLabels(message, keys?.[index]));
    if (isUnknown) words.push("Whether the value was saved is unknown.");
    const text = status === 404 ? gone : isUnknown ? sentences(words) : words.join(" ");
    const robot = this.#now();
    // The list may have moved on.
    if (!this.#cell.isConnected && isTransient) return undefined;
    if (!this.#cell.isConnected) return this.#giveUp(robot, text);
    this.#field.setError(text);
    if (!isTyping() || hasFocus(this.#cell)) this.#field.box.focus();
    return announce(`${title}: ${text}`);
  }

  /** Shows the value of a robot again. */
  #end(robot) {
    CellEditing.#open.delete(this);
    this.#cell.classList.remove("editing");
    this.#listening.abort();
    this.#cell.replaceChildren(...cellOf(this.#member, robot).childNodes);
  }
}
