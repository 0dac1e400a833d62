// The access token, kept in the storage of this tab until it is closed.

import { byId, inStorage, onEscape, onSubmit, show } from "./elements.js";

const KEY = "robots-token";

let stored = inStorage(() => sessionStorage.getItem(KEY)) ?? "";

/** The actions to retry with the token. */
let again = new Set();

/** The element that had the focus before. */
let origin;

/** The token; empty if there is none. */
export function token() {
  return stored;
}

function keep(text) {
  stored = text;
  inStorage(() => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)));
  show(byId("token-open"), text !== "");
}

/** Requests a token, and retries an action with it. */
export function requestToken(error, retry) {
  again.add(retry);
  // The service's own message about a missing token is for programmers.
  const missing = "This requires a token. Ask the operator of the catalogue for one.";
  open(stored ? error.messages.join(" ") : missing);
  if (stored) showError("The service rejects the token that you entered.");
}

function open(why) {
  origin = document.activeElement;
  byId("token-why").textContent = why;
  showError("");
  show(byId("token"));
  show(byId("token-forget"), stored !== "");
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

/** Starts the token form. With another token, `prepare` is called first, and `changed` if no action is
    waiting for the token. */
export function startToken(prepare, changed) {
  show(byId("token-open"), stored !== "");
  byId("token-open").addEventListener("click", () => {
    again.clear();
    open("You have entered a token. Enter another one, or forget it.");
  });
  byId("token-close").addEventListener("click", close);
  onEscape(byId("token"), close);
  onSubmit(byId("token-form"), () => {
    const text = byId("token-text").value.trim();
    // Other characters are not valid in a header.
    if (!/^[!-~]+$/.test(text)) {
      showError("A token is one word of letters and digits, robots_…. Paste all of it.");
      byId("token-text").focus();
      return;
    }
    settle(text);
  });
  byId("token-forget").addEventListener("click", () => settle(""));

  async function settle(text) {
    keep(text);
    const retries = again.size > 0 ? again : [changed];
    again = new Set();
    close();
    await prepare();
    retries.forEach((retry) => retry());
  }
}
