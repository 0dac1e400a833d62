// The token, where the service asks for one: in this tab's storage, until it is closed.

import { byId, show } from "./elements.js";

const KEY = "robots-token";

// Where a browser keeps nothing for the page, the token lasts as long as the page does.
let token = stored((storage) => storage.getItem(KEY)) ?? "";

/** What to do again with the token. */
let again;

/** Where the focus was before. */
let origin;

export function kept() {
  return token;
}

function keep(text) {
  token = text;
  stored((storage) => (text ? storage.setItem(KEY, text) : storage.removeItem(KEY)));
  show(byId("token-open"), text !== "");
}

function stored(use) {
  try {
    return use(sessionStorage);
  } catch {
    return undefined;
  }
}

/** Asks for a token, or for another one, and does something again with it. */
export function askForToken(refusal, retry) {
  again = retry;
  // What the service says of a token that is missing is for those who write programs.
  const missing = "This takes a token. Whoever runs the catalogue has one for you.";
  open(token ? refusal.messages.join(" ") : missing);
  if (token) complain("The service does not take the token that you gave for this.");
}

function open(why) {
  origin = document.activeElement;
  byId("token-why").textContent = why;
  complain("");
  show(byId("token"));
  show(byId("token-forget"), token !== "");
  byId("token-text").focus();
}

function close() {
  show(byId("token"), false);
  byId("token-text").value = "";
  const target = origin?.isConnected && origin !== document.body ? origin : byId("robots");
  target.focus();
}

function complain(text) {
  byId("token-error").textContent = text;
  byId("token-text").setAttribute("aria-invalid", String(text !== ""));
}

/** Starts the part of the page for the token; `changed` is called where no one waits for it. */
export function startToken(changed) {
  show(byId("token-open"), token !== "");
  byId("token-open").addEventListener("click", () => {
    again = undefined;
    open("You gave a token. Give another one, or forget it.");
  });
  byId("token-close").addEventListener("click", close);
  byId("token").addEventListener("keydown", (event) => event.key === "Escape" && close());
  byId("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("token-text").value.trim();
    // A header takes no others, and neither does the service.
    if (!/^[!-~]+$/.test(text)) {
      complain("A token is one word of letters and digits, robots_…; paste it whole.");
      byId("token-text").focus();
      return;
    }
    settle(text);
  });
  byId("token-forget").addEventListener("click", () => settle(""));

  function settle(text) {
    keep(text);
    const retry = again ?? changed;
    again = undefined;
    close();
    retry();
  }
}
