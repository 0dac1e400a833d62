// Input fields of a robot, in the form and in an edited row, each with its error messages.

import { element, hasFocus, show } from "./elements.js";
import { MEMBERS, draftOf, isSame } from "./robot.js";

/** Statuses with which the service reports violations of the robot that was sent. */
const STATUSES_OF_RULES = [400, 409, 500];

let count = 0;

export class Fields {
  /** The element of errors that concern no field. */
  general = element("p", { class: "error", role: "alert", hidden: true });
  /** A field per member. */
  all;

  #initial;
  #shown;

  /** `labels` is "shown", or "unseen" if a table has headings. */
  constructor(robot, labels) {
    this.#initial = robot;
    this.all = MEMBERS.map((member) => new Field(member, robot[member.key], labels));
    this.#shown = this.#values();
  }

  /** The first field, which has the focus when editing starts. */
  get first() {
    return this.all[0];
  }

  /** Whether something was typed. A choice does not count. */
  get isTyped() {
    return this.all.some((field) => field.isTyped);
  }

  /** Clears what was typed. A choice stays. */
  reset() {
    this.clear();
    for (const field of this.all) if (field.isTyped) field.box.value = "";
  }

  #values() {
    return draftOf(({ key }) => this.all.find((field) => field.key === key).box.value);
  }

  get isChanged() {
    return !isSame(this.#values(), this.#shown);
  }

  /** The values as typed. An unchanged value is the original one, even if its box cannot show it. */
  draft() {
    const values = this.#values();
    return draftOf(({ key }) =>
      values[key] === this.#shown[key] ? this.#initial[key] : values[key],
    );
  }

  /** Shows why a robot was rejected: each message beside the field that it names. */
  showError(error) {
    this.clear();
    const left = [];
    for (const message of error.messages) {
      const named = this.all.filter((field) => field.isNamedIn(message));
      const isOfField = STATUSES_OF_RULES.includes(error.status) && named.length === 1;
      if (isOfField) named[0].setError(message);
      else left.push(message);
    }
    this.general.textContent = left.join(" ");
    show(this.general, left.length > 0);
    this.focus(this.all.find((field) => field.isWrong) ?? this.first);
  }

  /** Moves the focus to a field, unless the user has moved it elsewhere meanwhile. */
  focus(field) {
    if (hasFocus(field.box.closest("form, tr"))) field.box.focus();
  }

  clear() {
    show(this.general, false);
    for (const field of this.all) field.setError("");
  }
}

class Field {
  key;
  element;
  box;
  #input;
  #error;

  constructor({ key, title, input, choices }, value, labels) {
    const id = `${key}-${++count}`;
    const box = BOXES[input](value, choices);
    this.key = key;
    this.#input = input;
    this.box = box;
    this.#error = element("p", { class: "error", id: `${id}-error` });
    box.id = id;
    box.value = value;
    const label = element("label", { for: id, class: labels }, title);
    this.element = element("div", { class: `field of-${key}` }, label, box, this.#error);
  }

  get isTyped() {
    return this.#input !== "choice" && this.box.value !== "";
  }

  isNamedIn(message) {
    return new RegExp(`\\b${this.key}\\b`, "i").test(message);
  }

  get isWrong() {
    return this.#error.textContent !== "";
  }

  setError(message) {
    const both = this.isWrong && message;
    this.#error.textContent = both ? `${this.#error.textContent} ${message}` : message;
    if (message) {
      this.box.setAttribute("aria-invalid", "true");
      this.box.setAttribute("aria-describedby", this.#error.id);
    } else {
      this.box.removeAttribute("aria-invalid");
      this.box.removeAttribute("aria-describedby");
    }
  }
}

/** The input element of a value, for each kind of input. */
const BOXES = {
  text(value) {
    // An input element cannot hold line breaks.
    const isMultiline = /[\r\n]/.test(value);
    const box = isMultiline ? element("textarea", { rows: 2 }) : element("input", { type: "text" });
    box.dir = "auto";
    box.autocomplete = "off";
    box.spellcheck = false;
    return box;
  },
  digits: () => element("input", { type: "text", inputmode: "numeric", autocomplete: "off" }),
  choice,
};

function choice(value, choices) {
  const none = value === "" ? [element("option", { value: "" }, "Choose…")] : [];
  // Another version of the service may have more choices.
  const known = choices.includes(value) || value === "" ? choices : [...choices, value];
  const options = known.map((each) => element("option", { value: each }, each));
  return element("select", {}, ...none, ...options);
}
