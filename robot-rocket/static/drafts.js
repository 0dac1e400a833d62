// What was typed and not saved, kept in the storage of this tab, so that it survives a reload.

import { inStorage } from "./elements.js";

/** Catalogues at other paths have other drafts. */
const keyOf = (what) => `robots-draft ${new URL(".", location.href).pathname} ${what}`;

/** Keeps what was typed, an object; forgets it if there is nothing. */
export function keepDraft(what, typed) {
  const isEmpty = !typed || Object.keys(typed).length === 0;
  inStorage(() => (isEmpty ? sessionStorage.removeItem(keyOf(what)) : sessionStorage.setItem(keyOf(what), JSON.stringify(typed))));
}

/** What was kept; undefined if there is nothing. */
export function keptDraft(what) {
  return inStorage(() => JSON.parse(sessionStorage.getItem(keyOf(what)))) ?? undefined;
}
