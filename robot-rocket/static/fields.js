// Input fields of a robot, in the form and in an edited row, each with its error messages.

import { element, hasFocus } from "./elements.js";
import { KINDS, inWords } from "./kinds.js";
import { MEMBERS, draftOf, inLabels } from "./robot.js";
import { valueList } from "./suggestions.js";

/** The maximum number of optional own fields that are not folded. */
const MAX_OPTIONAL = 6;

/** What a box has that the browser cannot understand: the service reports it. */
const NOT_UNDERSTOOD = "?";

let count = 0;

export class Fields {
  /** The element of errors that concern no field. */
  general = element("p", { class: "error", role: "alert" });
  /** A field per member. */
  all;

  #initial;

  /** `labels` is "shown", or "unseen" if a table has headings; `typed` what was typed before, by member. */
  constructor(robot, labels, typed = {}) {
    this.#initial = robot;
    this.all = MEMBERS.map((member) => new Field(member, robot[member.key] ?? "", labels, typed[member.key]));
  }

  /** The first field, which has the focus when editing starts. */
  get first() {
    return this.all[0];
  }

  /** The elements of all fields. Many optional ones are folded. */
  get folded() {
    const optional = this.all.filter(({ isOptional }) => isOptional).slice(MAX_OPTIONAL);
    const shown = this.all.filter((field) => !optional.includes(field)).map(({ element }) => element);
    if (optional.length === 0) return shown;
    const summary = element("summary", {}, `${optional.length} more fields`);
    const folded = element("div", { class: "folded" }, ...optional.map((field) => field.element));
    return [...shown, element("details", { class: "more-fields" }, summary, folded)];
  }

  /** Whether something was typed. A choice of a built-in member does not count. */
  get isTyped() {
    return this.all.some((field) => field.isTyped);
  }

  /** Clears what was typed. A choice of a built-in member stays. */
  reset() {
    this.clear();
    for (const field of this.all) if (field.isTyped) field.box.value = "";
  }

  /** The fields of the present definition, with what was typed into these. `change` shows them. */
  renewed(labels, change) {
    const focused = this.all.find(({ box }) => box === document.activeElement);
    const others = new Fields(this.#initial, labels, this.changes());
    change(others);
    others.#of(focused?.key)?.box.focus();
    const lost = this.all.filter((field) => field.isChanged && !others.#of(field.key));
    const words = lost.map(({ label, value }) => `${label} is no field any more; you have typed: ${value}`);
    others.general.textContent = words.join(" ");
    return others;
  }

  get isChanged() {
    return this.all.some((field) => field.isChanged);
  }

  #of(key) {
    return this.all.find((field) => field.key === key);
  }

  /** What was typed, by member. */
  changes() {
    return Object.fromEntries(this.all.filter((field) => field.isChanged).map(({ key, value }) => [key, value]));
  }

  /** The values with what was typed. An unchanged value is the original one, even if its box cannot show it; also that
      of a member that was defined meanwhile. */
  draft() {
    return { ...draftOf(({ key }) => this.#initial[key] ?? ""), ...this.changes() };
  }

  /** Takes the values of a newer version of the robot. What was typed stays. */
  renew(robot) {
    this.#initial = robot;
    for (const field of this.all) field.renew(robot[field.key] ?? "");
  }

  /** Shows why a robot was rejected: each message beside the field that it names. */
  showError(error) {
    this.clear();
    const left = [];
    error.messages.forEach((message, index) => {
      const field = this.#of(error.keys?.[index]);
      if (field) field.setError(inLabels(message, field.key));
      else left.push(message);
    });
    this.general.textContent = left.join(" ");
    const wrong = this.all.filter((field) => field.isWrong);
    for (const { element } of wrong) element.closest("details")?.setAttribute("open", "");
    this.focus(wrong[0] ?? this.first);
  }

  /** Moves the focus to a field, unless the user has moved it elsewhere meanwhile. */
  focus(field) {
    if (hasFocus(field.box.closest("form, tr, .panel"))) field.box.focus();
  }

  clear() {
    this.general.textContent = "";
    for (const field of this.all) field.setError("");
  }
}

/** The input of a member: `element` with its label, `box`, and its messages. */
export class Field {
  #isKept;
  #initial;
  #error;

  /** `typed` is what was typed instead of the value, if anything was. */
  constructor(member, value, labels, typed) {
    const { key, title, input, isOwn, isRequired, isUnique, hint } = member;
    const id = `of-${key}-${++count}`;
    const box = boxOf(member, typed ?? value);
    this.key = key;
    this.label = title;
    this.isOptional = isOwn && !isRequired;
    this.isLong = input === "long";
    this.#isKept = input === "choice" && !isOwn;
    this.box = box;
    this.#initial = typed === undefined ? this.value : value;
    this.#error = element("p", { class: "error", id: `${id}-error` });
    box.id = id;
    const texts = [this.#error, ...(isOwn && hint ? [element("p", { class: "hint", id: `${id}-hint` }, hint)] : [])];
    box.setAttribute("aria-describedby", texts.map((text) => text.id).join(" "));
    const label = element("label", { for: id, class: labels }, title);
    if (isRequired) label.append(element("span", { class: "required" }, " (required)"));
    const kind = `field of-${isOwn ? "own" : key}${input === "long" ? " long" : ""}`;
    const values = isOwn && input === "text" && !isUnique ? [valueList(box, key, `${id}-values`)] : [];
    this.element = element("div", { class: kind, "data-member": key }, label, box, ...values, ...texts);
  }

  get value() {
    return this.box.validity.badInput ? NOT_UNDERSTOOD : this.box.value;
  }

  get isChanged() {
    return this.value !== this.#initial;
  }

  /** Takes another original value. What was typed stays. */
  renew(value) {
    if (this.isChanged) {
      this.#initial = value;
    } else {
      this.box.value = value;
      this.#initial = this.value;
    }
  }

  get isTyped() {
    return !this.#isKept && this.value !== "";
  }

  get isWrong() {
    return this.#error.textContent !== "";
  }

  setError(message) {
    const both = this.isWrong && message;
    this.#error.textContent = both ? `${this.#error.textContent} ${message}` : message;
    this.box.ariaInvalid = message ? "true" : null;
  }
}

/** The input element of a member with a value: a multi-line one if others cannot hold the value. */
function boxOf(member, value) {
  const type = KINDS[member.input].box;
  const box = type ? element("input", { type, autocomplete: "off" }) : BOXES[member.input](member, value);
  box.value = value;
  if (box.value === value) return box;
  const long = BOXES.long(member);
  long.rows = 2;
  long.value = value;
  return long;
}

/** The input element of a member, for each kind that needs more than a type. */
const BOXES = {
  text: () => textual(element("input", { type: "text" })),
  long: () => textual(element("textarea", { rows: 4 })),
  number: (member) => numeric(member, "any"),
  digits: (member) =>
    member.isOwn || member.minimum < 0
      ? numeric(member, "1")
      : element("input", { type: "text", inputmode: "numeric", autocomplete: "off" }),
  choice: (member, value) => choice(member, value, member.choices),
  boolean: (member, value) => choice(member, value, ["true", "false"]),
};

function textual(box) {
  box.dir = "auto";
  box.autocomplete = "off";
  box.spellcheck = false;
  return box;
}

function numeric({ minimum, maximum }, step) {
  // Scrolling must not change a number.
  const onwheel = ({ target }) => target.blur();
  const limits = { min: minimum, max: maximum };
  return element("input", { type: "number", step, ...limits, autocomplete: "off", onwheel });
}

function choice({ input, isRequired }, value, choices) {
  const empty = isRequired ? "Choose…" : "–";
  const none = value === "" || !isRequired ? [element("option", { value: "" }, empty)] : [];
  // Another version of the service may have more choices.
  const known = choices.includes(value) || value === "" ? choices : [...choices, value];
  const options = known.map((each) => element("option", { value: each }, inWords(input, each)));
  return element("select", {}, ...none, ...options);
}
