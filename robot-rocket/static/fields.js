// The fields of a robot, in the form and in a row that is edited, with what is wrong beside each.

import { element, show } from "./elements.js";

const TYPES = ["droid", "mechanical", "virtual"];

/** With these the service says what is wrong with the robot that was sent. */
const STATUSES_OF_RULES = [400, 409, 500];

let count = 0;

export class Fields {
  /** Parts of the page, for whoever shows them. */
  general = element("p", { class: "error", role: "alert", hidden: true });
  name;
  type;
  year;

  #initial;
  #shown;

  /** With the values of a robot; `labels` is "shown", or "unseen" where a table has headings. */
  constructor(robot, labels) {
    this.#initial = robot;
    // An input would lose the line breaks of a name.
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

  /** What was typed. A name that was left alone is the robot's own, whatever the box made of it. */
  draft() {
    const [name, type, year] = this.#values();
    return { name: name === this.#shown[0] ? this.#initial.name : name, type, year };
  }

  /** Tells why a robot was refused: each message beside the field that it names. */
  tell(error) {
    this.clear();
    const left = [];
    for (const message of error.messages) {
      const named = this.all.filter((field) => field.isNamedIn(message));
      const isOfField = STATUSES_OF_RULES.includes(error.status) && named.length === 1;
      if (isOfField) named[0].complain(message);
      else left.push(message);
    }
    this.general.textContent = left.join(" ");
    show(this.general, left.length > 0);
    this.focus(this.all.find((field) => field.isWrong) ?? this.name);
  }

  /** Moves the focus to a field, unless the person went on to something else meanwhile. */
  focus(field) {
    const place = field.box.closest("form, tr");
    const { activeElement, body } = document;
    if (activeElement === body || place?.contains(activeElement)) field.box.focus();
  }

  clear() {
    show(this.general, false);
    for (const field of this.all) field.complain("");
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

  complain(message) {
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
  // A service of another version may have types that this page does not know.
  const known = TYPES.includes(type) || type === "" ? TYPES : [...TYPES, type];
  const options = known.map((each) => element("option", { value: each }, each));
  return element("select", {}, ...none, ...options);
}
