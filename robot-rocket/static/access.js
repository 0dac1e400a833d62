// What the present token permits. The page hides the rest.

import { access } from "./api.js";
import { byId, show } from "./elements.js";
import { token } from "./token.js";

/** Without an answer, everything is offered: the service decides. */
const EVERYTHING = { name: undefined, read: true, write: true, define: true };

let found = EVERYTHING;

/** Whether the client may read, write or define. */
export const may = (what) => found[what];

/** The name of the token. */
export const nameOfToken = () => found.name;

/** Asks the service. */
export async function refreshAccess() {
  found = (await access().catch(() => undefined)) ?? EVERYTHING;
  for (const what of ["write", "define"]) document.documentElement.classList.toggle(`no-${what}`, !may(what));
  show(byId("token-open"), token() !== "" || !(may("read") && may("write") && may("define")));
  byId("token-open").textContent = token() ? (found.name ?? "Signed in") : "Sign in";
}
