// Input fields of a robot, in the form and in an edited row, each with its error messages.

import { TYPES } from "./api.js";
import { element, show } from "./elements.js";

/** Statuses with which the service reports violations of the robot that was sent. */
const STATUSES_OF_RULES = [400, 409, 500];

let count = 0;

export class Fields {
  /** Elements for the page: general errors, and the fields. */
  general = element("p", { class: "error", role: "alert", hidden: true });
  name;
  type;
  year;

  #initial;
  #shown;

  /** `labels` is "shown", or "unseen" if a table has headings. */
  constructor(robot, labels) {
    this.#initial = robot;
    // An input element cannot hold line breaks.
    const isMultiline = /[\r\n]/.test(robot.name);
    const box = isMultiline ? element("textarea", { rows: 2 }) : element("input", { type: "text" });
    box.dir = "auto";
    box.autocomplete = "off";
    box.spellcheck = false;
    this.name = new Field("name", "Name", box, robot.name, labels);
    this.type = new Field("type", "Type", choice(robot.type), robot.type, labels);
    const year = element("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
    this.year = new Field("year", "Year", year, robot.year, labels);
    this.#shown = this.#values();
  }

  get all() {
    return [this.name, this.type, this.year];
  }

  #values() {
    return this.all.map((field) => field.box.value);
  }

  get isChanged() {
    return this.#values().some((value, index) => value !== this.#shown[index]);
  }

  /** The values as typed. An unchanged name is the original one, even if the box cannot show it. */
  draft() {
    const [name, type, year] = this.#values();
    return { name: name === this.#shown[0] ? this.#initial.name : name, type, year };
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
    this.focus(this.all.find((field) => field.isWrong) ?? this.name);
  }

  /** Moves the focus to a field, unless the user has moved it elsewhere meanwhile. */
  focus(field) {
    const place = field.box.closest("form, tr");
    const { activeElement, body } = document;
    if (activeElement === body || place?.contains(activeElement)) field.box.focus();
  }

  clear() {
    show(this.general, false);
    for (const field of this.all) field.setError("");
  }
}

class Field {
  element;
  box;
  #key;
  #error;

  constructor(key, title, box, value, labels) {
    const id = `${key}-${++count}`;
    this.#key = key;
    this.box = box;
    this.#error = element("p", { class: "error", id: `${id}-error` });
    box.id = id;
    box.value = value;
    const label = element("label", { for: id, class: labels }, title);
    this.element = element("div", { class: `field of-${key}` }, label, box, this.#error);
  }

  isNamedIn(message) {
    return new RegExp(`\\b${this.#key}\\b`, "i").test(message);
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

function choice(type) {
  const none = type === "" ? [element("option", { value: "" }, "Choose…")] : [];
  // Another version of the service may have more types.
  const known = TYPES.includes(type) || type === "" ? TYPES : [...TYPES, type];
  const options = known.map((each) => element("option", { value: each }, each));
  return element("select", {}, ...none, ...options);
}
