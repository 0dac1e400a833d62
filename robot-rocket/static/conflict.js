// The comparison of a typed robot with the version that another user has saved meanwhile.

import { button, buttons, element, shownName } from "./elements.js";
import { inWords } from "./kinds.js";
import { MEMBERS, ONE } from "./robot.js";

const WORDS =
  "Your version is not saved yet. Keep yours, take theirs, or edit on above and save.";

let count = 0;

export class Conflict {
  element;
  #other;
  #rows = element("tbody");

  /** `mine` is a draft, `other` the stored robot. `keep` and `take` are called by the buttons. */
  constructor(mine, other, { keep, take }) {
    const id = `conflict-${++count}`;
    const heading = (text) => element("th", { scope: "col" }, text);
    const member = element("span", { class: "unseen" }, "Member");
    const heads = [heading(member), heading("Yours"), heading("Theirs")];
    this.#other = other;
    this.element = element(
      "div",
      { class: "conflict", role: "group", tabindex: "-1", "aria-labelledby": id },
      element("h3", { id }, `Another user has changed this ${ONE}`),
      element("p", {}, WORDS),
      element("table", {}, element("thead", {}, element("tr", {}, ...heads)), this.#rows),
      buttons(button("Keep mine", keep, { class: "main" }), button("Take theirs", take)),
    );
    this.update(mine);
  }

  /** Shows what is typed now. */
  update(mine) {
    const rows = MEMBERS.map(({ key, title, input }) => {
      const isEqual = mine[key] === this.#other[key];
      const cell = (robot) => element("td", {}, shownName(inWords(input, robot[key])));
      const cells = [mine, this.#other].map(cell);
      return element(
        "tr",
        { class: isEqual ? "" : "differs" },
        element("th", { scope: "row" }, title, ...(isEqual ? [] : [MARK.cloneNode(true)])),
        ...cells,
      );
    });
    this.#rows.replaceChildren(...rows);
  }
}

/** Marks members that differ, not only by color. */
const MARK = element("span", { class: "unseen" }, " (differs)");
