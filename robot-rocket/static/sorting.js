// The headings of the list, by which it is sorted.

import { shownColumns } from "./columns.js";
import { button, byId, element, unseen } from "./elements.js";
import { SORT_KEYS, member } from "./robot.js";
import { allBox } from "./selection.js";
import { EVERYTHING } from "./view.js";

/** The order that was chosen last; its robots may still be loading. */
let current = EVERYTHING.sort;

/** The row of headings. `choose` is called with the order that a click asks for. */
export function headings(choose) {
  const columns = [{ key: "id", title: "Id" }, ...shownColumns()];
  return element(
    "tr",
    { role: "row", "aria-rowindex": "1" },
    heading("of-select", {}, allBox),
    ...columns.map(({ key, title, isOwn, input }) => {
      const kind = isOwn ? `of-own is-${input}` : `of-${key}`;
      return SORT_KEYS.includes(key) ? sortable(key, kind, title, choose) : heading(kind, {}, title);
    }),
    heading("of-actions", {}, unseen("Actions")),
  );
}

function heading(kind, attributes, title) {
  const all = { role: "columnheader", scope: "col", class: kind, ...attributes };
  return element("th", all, title);
}

function sortable(key, kind, title, choose) {
  // The first click sorts upwards, the next one the other way.
  const onclick = () => {
    current = current === key ? `-${key}` : key;
    choose(current);
  };
  return heading(kind, { "data-key": key }, button(title, onclick, { class: "quiet" }));
}

/** Marks the column by which the list is sorted. */
export function markOrder(sort) {
  current = sort;
  for (const column of byId("headings").querySelectorAll("[data-key]")) {
    if (keyOf(sort) === column.dataset.key) column.setAttribute("aria-sort", directionOf(sort));
    else column.removeAttribute("aria-sort");
  }
}

/** The order for screen readers; empty for the usual one. */
export function orderInWords(sort) {
  const key = keyOf(sort);
  const title = member(key)?.isOwn ? member(key).title : key;
  return sort === EVERYTHING.sort ? "" : `, sorted by ${title}, ${directionOf(sort)}`;
}

function keyOf(sort) {
  return sort.replace(/^-/, "");
}

function directionOf(sort) {
  return sort.startsWith("-") ? "descending" : "ascending";
}
