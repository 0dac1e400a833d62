// The values of a field with the numbers of robots that have them, the most frequent first.

import { countsBy } from "./api.js";
import { currentView } from "./address.js";
import { element } from "./elements.js";
import { inWords } from "./kinds.js";
import { member } from "./robot.js";
import { CONDITIONS, EVERYTHING, MAX_PART, NONE } from "./view.js";

/** The maximum number of suggestions, and milliseconds after a key until they follow. */
const [LIMIT, PAUSE] = [12, 200];

/** The frequent values of a member in a view, with their counts; none if they cannot be counted. */
const frequent = (key, view, limit, signal) => countsBy(key, view, limit, signal).then(({ groups }) => groups, () => []);

/** The list of the frequent values that contain what is typed in a box, as the box offers them. */
export function valueList(box, key, id) {
  const list = element("datalist", { id });
  box.setAttribute("list", id);
  let timer;
  const fill = async () => {
    const text = box.value.trim().slice(0, MAX_PART);
    const groups = await frequent(key, { ...EVERYTHING, [`${key}_contains`]: text }, LIMIT);
    list.replaceChildren(...groups.filter(({ value }) => value).map(({ value }) => element("option", { value })));
  };
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fill, PAUSE);
  });
  return list;
}

export class Suggestions {
  element = element("ul", { class: "suggestions", "aria-label": "Frequent values" });
  #key;
  #choose;
  #timer;
  #calls = new AbortController();

  /** `choose` is called with a value that was clicked. */
  constructor(key, choose) {
    this.#key = key;
    this.#choose = choose;
  }

  /** The numbers of robots by value, of those that meet the other conditions of the view. Empty if the service cannot
      count them. */
  async groups(conditions) {
    this.#calls.abort();
    this.#calls = new AbortController();
    const view = { ...currentView(), ...conditions };
    const limit = ["text", "uri"].includes(member(this.#key).input) ? LIMIT : undefined;
    const groups = await frequent(this.#key, view, limit, this.#calls.signal);
    return new Map(groups.map(({ value, count }) => [value === "" ? NONE : value, count]));
  }

  /** Shows the values that contain a text. */
  show(text) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(text.trim()), this.element.childElementCount > 0 ? PAUSE : 0);
  }

  async #load(text) {
    const none = Object.fromEntries(CONDITIONS.map(([end]) => [this.#key + end, ""]));
    const groups = await this.groups({ ...none, [`${this.#key}_contains`]: text });
    const { input } = member(this.#key);
    const items = [...groups].filter(([value]) => value !== NONE).map(([value, count]) => {
      const number = element("span", { class: "soft" }, count.toLocaleString("en"));
      const words = element("bdi", { dir: "auto" }, inWords(input, value));
      return element("li", {}, element("button", { type: "button", onclick: () => this.#choose(value) }, words, " ", number));
    });
    this.element.replaceChildren(...items);
  }
}
