// What the list says if no robot is found, and what could help.

import { changeView, currentView } from "./address.js";
import { button, byId, buttons, element, shownName } from "./elements.js";
import { MANY, MEMBERS, ONE, SEARCHED } from "./robot.js";
import { isFiltered, withoutFilter } from "./view.js";

/** The fields in which a search finds words. */
export const searched = () => SEARCHED.map(({ title }) => title).join(", ");

/** The elements for a view without robots. */
export function nothingFound(view) {
  const { q } = view;
  if (q === "") return [element("p", {}, `No ${ONE} matches the filter.`), showAll()];
  const isAlone = !isFiltered({ ...view, q: "" });
  const also = isAlone ? "" : " and matches the filter";
  const words = element("p", {}, `No ${ONE} has all words of `, shownName(q), `${also}. “Changes”, below, has deleted ${MANY}.`);
  const others = MEMBERS.filter((one) => !SEARCHED.includes(one) && ["text", "long", "uri"].includes(one.input));
  const titles = others.slice(0, 3).map(({ title }) => title).join(", ");
  const only = SEARCHED.length === 1 ? `No field but ${searched()} is searched` : `Only ${searched()} are searched`;
  const advice = element("p", { class: "hint" }, others.length > 0 ? `${only}. You can add others, such as ${titles}.` : `${only}.`);
  const open = button("Choose the fields of the search…", () => byId("fields-open").click(), { class: "quiet" });
  return [words, advice, buttons(...(others.length > 0 ? [open] : []), ...showAll().children)];
}

function showAll() {
  return buttons(button(`Show all ${MANY}`, () => changeView(withoutFilter(currentView()))));
}
