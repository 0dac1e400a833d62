// The comparison of a typed robot with the version that another user has saved meanwhile.

import { button, buttons, element, shownName, unseen } from "./elements.js";
import { inWords } from "./kinds.js";
import { MEMBERS, ONE } from "./robot.js";

const WORDS =
  "Your version is not saved yet. Keep yours, take theirs, or edit on above and save.";

let count = 0;

/** Shows `mine`, a draft, beside `other`, the stored robot: the element, and `update`, which shows what is typed now.
    `keep` and `take` are called by the buttons. */
export function conflict(mine, other, { keep, take }) {
  const id = `conflict-${++count}`;
  const rows = element("tbody");
  const update = (draft) => rows.replaceChildren(...MEMBERS.map((member) => rowOf(member, draft, other)));
  update(mine);
  const heads = [unseen("Member"), "Yours", "Theirs"].map((head) => element("th", { scope: "col" }, head));
  const shown = element(
    "div",
    { class: "conflict", role: "group", tabindex: "-1", "aria-labelledby": id },
    element("h3", { id }, `Another user has changed this ${ONE}`),
    element("p", {}, WORDS),
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
