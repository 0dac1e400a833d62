// Editing of one value in its cell. It is stored when the user leaves the cell, unless another user has changed it
// meanwhile, and what was typed stays in the cell until it is stored or given up, also if the row is drawn anew.

import { handleError } from "./action.js";
import { announce, notice } from "./announcements.js";
import { get, patch } from "./api.js";
import { keepDraft, keptDraft } from "./drafts.js";
import { button, buttons, element, hasFocus, isTyping, sentences, shownName, spokenName } from "./elements.js";
import { Field } from "./fields.js";
import { inWords } from "./kinds.js";
import { ONE, inLabels, member, stored } from "./robot.js";
import { cellOf } from "./row.js";
import { did } from "./undo.js";

/** What was typed, and the value before, by robot and field: after a reload, the cells are open again. */
const drafts = keptDraft("cells") ?? {};

export class CellEditing {
  /** Those that are open, by robot and field. */
  static #open = new Map();

  /** `robotOf` returns the robot of a row as it is known now, `stored` is called with a stored one, and `moved` moves the
      focus from a cell by some rows and cells. */
  static listeners;

  /** Whether something was typed and not stored. */
  static get isAnyChanged() {
    return [...CellEditing.#open.values()].some((editing) => editing.#field.isChanged);
  }

  /** Stores what is typed in the cells that are shown, because their rows are drawn anew. */
  static leaveAll() {
    for (const editing of CellEditing.#open.values()) if (editing.#cell.isConnected) editing.#store();
  }

  /** Shows what is typed into cells of a robot in its new row. */
  static resume(row, robot) {
    for (const place of new Set([...CellEditing.#open.keys(), ...Object.keys(drafts)])) {
      const [id, key] = place.split(" ");
      const cell = id === robot.id && row.querySelector(`[data-key="${key}"]`);
      if (!cell) continue;
      if (CellEditing.#open.has(place)) CellEditing.#open.get(place).#show(cell);
      else new CellEditing(cell, robot, drafts[place]);
    }
  }

  #cell;
  #place;
  #member;
  #field;

  /** The value when editing began, or that of another user to which the user has agreed. */
  #base;

  /** The robot as it was known last: its row may have left the window. */
  #robot;

  #isStoring = false;

  constructor(cell, robot, { base, typed } = { base: robot[cell.dataset.key] }) {
    this.#place = `${robot.id} ${cell.dataset.key}`;
    this.#member = member(cell.dataset.key);
    this.#robot = robot;
    this.#base = base;
    this.#field = new Field(this.#member, base, "unseen", typed);
    const { element } = this.#field;
    element.addEventListener("keydown", (event) => this.#press(event));
    element.addEventListener("input", () => this.#keep());
    element.addEventListener("focusout", ({ relatedTarget }) => {
      // In another window, the user may look up what to type.
      const isStaying = element.contains(relatedTarget) || document.activeElement === this.#field.box;
      if (!isStaying && this.#isOpen) this.#store();
    });
    CellEditing.#open.set(this.#place, this);
    this.#show(cell);
  }

  #show(cell) {
    this.#cell = cell;
    cell.classList.add("editing");
    cell.replaceChildren(this.#field.element);
  }

  /** Keeps what is typed for a reload, until it is stored or given up. */
  #keep() {
    delete drafts[this.#place];
    if (this.#field.isChanged && this.#isOpen) drafts[this.#place] = { base: this.#base, typed: this.#field.value };
    keepDraft("cells", drafts);
  }

  #now() {
    this.#robot = CellEditing.listeners.robotOf(this.#cell.parentElement) ?? this.#robot;
    return this.#robot;
  }

  /** Moves the focus into the input. */
  start() {
    this.#field.box.focus();
    this.#field.box.select?.();
  }

  /** Stores no value. */
  empty() {
    this.#field.box.value = "";
    this.#store([0, 0]);
  }

  #press(event) {
    const { key, target, shiftKey } = event;
    if (event.isComposing) return undefined;
    if (key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      return this.#end(this.#now());
    }
    if (target !== this.#field.box) return undefined;
    // In a long text, Enter with Shift begins a line.
    const isEnter = key === "Enter" && !(shiftKey && this.#field.isLong);
    if (!isEnter && key !== "Tab") return undefined;
    event.preventDefault();
    const back = shiftKey ? -1 : 1;
    return this.#store(isEnter ? [back, 0] : [0, back]);
  }

  get #isOpen() {
    return CellEditing.#open.get(this.#place) === this;
  }

  /** Stores what was typed, and moves the focus by a step. */
  async #store(step) {
    if (this.#isStoring) return;
    const robot = this.#now();
    const { value, element } = this.#field;
    const move = () => step && CellEditing.listeners.moved(this.#cell, step);
    if (!this.#field.isChanged) {
      this.#end(robot);
      return move();
    }
    this.#field.setError("");
    this.#isStoring = true;
    element.ariaBusy = "true";
    move();
    try {
      await this.#send(robot, value);
    } catch (error) {
      // The user may have given it up, or typed on, when the service answers again.
      const again = () => this.#isOpen && this.#field.value === value && this.#store();
      await handleError(error, { again, failed: () => this.#refuse(error), back: again });
    } finally {
      this.#isStoring = false;
      element.ariaBusy = null;
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
      CellEditing.listeners.stored(other);
      return this.#send(other, value);
    }
    if (saved.revision !== robot.revision) did(["Changed ", saved], { id: saved.id, to: robot.revision, from: saved.revision });
    if (this.#isOpen && this.#field.value !== value) this.#renew(saved);
    else if (this.#isOpen) this.#end(saved);
    CellEditing.listeners.stored(saved);
    return announce(`Saved ${spokenName(saved.name)}.`);
  }

  /** The list has moved on: what was typed is reported, and is in the cell when its row is there again. */
  #report(robot, why) {
    notice(robot, ` was not changed (${this.#member.title}: ${this.#field.value}). ${why}`);
  }

  /** The value was stored, but the user has typed on. */
  #renew(saved) {
    this.#base = saved[this.#member.key];
    this.#field.renew(this.#base);
    this.#keep();
  }

  /** Shows the value of another user. */
  #compare(robot) {
    const { key, input, title } = this.#member;
    const keep = () => {
      this.#base = robot[key];
      shown.remove();
      this.#field.box.focus();
      this.#store([0, 0]);
    };
    const words = element("p", {}, "Another user has changed this to ", shownName(inWords(input, robot[key]) || "no value"), ".");
    const choice = buttons(button("Keep mine", keep, { class: "main" }), button("Take theirs", () => this.#end(robot)));
    const shown = element("div", { class: "conflict", role: "group", "aria-label": `Conflict of ${title}` }, words, choice);
    this.#field.element.querySelector(".conflict")?.remove();
    this.#field.element.append(shown);
    if (!this.#cell.isConnected) return this.#report(robot, "Another user has changed this value.");
    if (hasFocus(this.#cell) || !isTyping()) choice.firstChild.focus();
    return announce(`${title} was changed by another user. Your value is not saved yet.`);
  }

  #refuse({ status, messages, keys, isUnknown, isTransient }) {
    const { title } = this.#member;
    const gone = `This ${ONE} was deleted meanwhile. Its record can restore it.`;
    const words = messages.map((message, index) => inLabels(message, keys?.[index]));
    if (isUnknown) words.push("Whether the value was saved is unknown.");
    const text = status === 404 ? gone : isUnknown ? sentences(words) : words.join(" ");
    // The list may have moved on.
    if (!this.#cell.isConnected && isTransient) return undefined;
    this.#field.setError(text);
    if (!this.#cell.isConnected) return this.#report(this.#now(), text);
    if (!isTyping() || hasFocus(this.#cell)) this.#field.box.focus();
    return announce(`${title}: ${text}`);
  }

  /** Shows the value of a robot again. */
  #end(robot) {
    const hadFocus = this.#cell.contains(document.activeElement);
    CellEditing.#open.delete(this.#place);
    this.#keep();
    this.#cell.classList.remove("editing");
    this.#cell.replaceChildren(...cellOf(this.#member, robot).childNodes);
    if (hadFocus) this.#cell.focus();
  }
}
