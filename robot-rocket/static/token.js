// The access token: in the storage of this tab, or of this browser if the user wants that.

import { byId, inStorage, onEscape, onSubmit, show } from "./elements.js";

const KEY = "robots-token";

/** The token of a link `…/#token=…`, which leaves the address at once. */
const [, linked] = /^#token=([!-~]+)$/.exec(location.hash) ?? [];

// A link that is opened in this tab only changes the fragment.
addEventListener("hashchange", () => /^#token=/.test(location.hash) && location.reload());

if (linked) history.replaceState(null, "", location.pathname + location.search);

/** Whether the browser keeps the token when the tab is closed. */
const isKept = () => inStorage(() => localStorage.getItem(KEY)) === stored;

let stored = linked ?? inStorage(() => sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY)) ?? "";

/** The actions to retry with the token. */
let again = new Set();

/** What to do with another token if no action is waiting for it. */
let notify;

/** The element that had the focus before. */
let origin;

/** The token; empty if there is none. */
export function token() {
  return stored;
}

/** Keeps the token in this tab, which stays signed out without one, and in the browser if it is to be remembered. What
    another tab has remembered stays. */
function keep(text, isRemembered) {
  const wasKept = isKept();
  stored = text;
  inStorage(() => {
    sessionStorage.setItem(KEY, text);
    if (isRemembered) localStorage.setItem(KEY, text);
    else if (wasKept) localStorage.removeItem(KEY);
  });
}

/** Requests a token, and retries an action with it. */
export function requestToken(error, retry) {
  again.add(retry);
  // The service's own message about a missing token is for programmers.
  const missing = "This requires a token. Ask the operator of the catalogue for one.";
  open("Token required", stored ? error.messages.join(" ") : missing);
  if (stored) showError("The service rejects the token that you entered.");
}

function open(heading, why) {
  origin = document.activeElement;
  byId("token-heading").textContent = heading;
  byId("token-why").textContent = why;
  showError("");
  show(byId("token"));
  show(byId("token-forget"), stored !== "");
  byId("token-remember").checked = stored !== "" && isKept();
  byId("token-text").focus();
}

function close() {
  show(byId("token"), false);
  byId("token-text").value = "";
  const target = origin?.isConnected && origin !== document.body ? origin : byId("robots");
  target.focus();
}

function showError(text) {
  byId("token-error").textContent = text;
  byId("token-text").setAttribute("aria-invalid", String(text !== ""));
}

/** Starts the token form. With another token, `prepare` is called first, and `changed` if no action is waiting for it.
    `nameOf` returns the name of the present one, and `left` is called without one. */
export function startToken({ prepare, changed, nameOf, left }) {
  notify = { prepare, changed };
  byId("token-open").addEventListener("click", () => {
    again.clear();
    if (!stored) open("Sign in", "A token permits you more.");
    else open(nameOf() ? `Signed in as ${nameOf()}` : "Signed in", "Enter another token, or sign out.");
  });
  // What the user does not want to confirm by a token is not done later.
  const dismiss = () => {
    again = new Set(again.size > 0 ? [changed] : []);
    close();
  };
  byId("token-close").addEventListener("click", dismiss);
  onEscape(byId("token"), dismiss);
  onSubmit(byId("token-form"), () => {
    const text = byId("token-text").value.trim();
    // Other characters are not valid in a header.
    if (!/^[!-~]+$/.test(text)) {
      showError("A token is one word of letters and digits, robots_…. Paste all of it.");
      byId("token-text").focus();
      return;
    }
    settle(text, byId("token-remember").checked);
  });
  byId("token-forget").addEventListener("click", () => {
    keep("");
    left();
  });
  if (!linked) return;
  const isKnown = isKept();
  keep(linked, isKnown);
  if (!isKnown) askToRemember();
}

async function settle(text, isRemembered) {
  keep(text, isRemembered);
  const retries = again.size > 0 ? again : [notify.changed];
  again = new Set();
  close();
  await notify.prepare();
  retries.forEach((retry) => retry());
}

/** Asks whether the browser should keep the token of a link. */
function askToRemember() {
  const end = (isRemembered) => {
    keep(linked, isRemembered);
    show(byId("remember"), false);
    byId("robots").focus({ preventScroll: true });
  };
  byId("remember-yes").addEventListener("click", () => end(true));
  byId("remember-no").addEventListener("click", () => end(false));
  show(byId("remember"));
}
