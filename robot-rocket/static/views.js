// Named views, which are addresses of the page that the browser keeps; and the link to the present one.

import { openAddress } from "./address.js";
import { announce } from "./announcements.js";
import { button, byId, element, inStorage, onSubmit } from "./elements.js";
import { closeMenu, startMenu } from "./panels.js";

/** Catalogues at other paths have other views. */
const KEY = `robots-views ${new URL(".", location.href).pathname}`;

/** Milliseconds for which the button says that the link was copied. */
const SAID = 2000;

/** The queries of the views by their names, as far as this tab knows. */
let views = {};

/** Those that the browser keeps now: other tabs add and remove some, too. */
function kept() {
  views = inStorage(() => JSON.parse(localStorage.getItem(KEY))) ?? views;
  return views;
}

/** Starts the menu and the button. */
export function startViews() {
  startMenu(byId("views"));
  byId("views").addEventListener("toggle", fill);
  byId("copy-link").addEventListener("click", copyLink);
}

function keep(changed) {
  views = changed;
  inStorage(() => localStorage.setItem(KEY, JSON.stringify(views)));
  fill();
}

function fill() {
  const names = Object.keys(kept()).sort();
  const items = names.map((name) => {
    const open = () => {
      closeMenu(byId("views"));
      openAddress(views[name]);
    };
    const forget = () => {
      const { [name]: _, ...others } = kept();
      keep(others);
      byId("views-menu").querySelector("input").focus();
    };
    const forgetting = button("✕", forget, { class: "quiet", "aria-label": `Remove the view ${name}` });
    const opening = button(name, open, { "aria-current": views[name] === location.search ? "true" : undefined });
    return element("li", {}, opening, forgetting);
  });
  const box = element("input", { type: "text", "aria-label": "Name of the view", placeholder: "Name of this view", autocomplete: "off", maxlength: 60 });
  const form = element("form", { class: "buttons" }, box, button("Keep", undefined, { type: "submit", class: "main" }));
  onSubmit(form, () => {
    const name = box.value.trim();
    if (name === "") return box.focus();
    keep({ ...kept(), [name]: location.search });
    announce(`Kept the view ${name}.`);
  });
  const hint = element("p", { class: "hint" }, "This browser keeps the search, filters, order and columns under a name.");
  byId("views-menu").replaceChildren(element("ul", {}, ...items), form, hint);
}

async function copyLink() {
  const link = byId("copy-link");
  const text = location.href.replace(location.hash, "");
  try {
    await navigator.clipboard.writeText(text);
    link.textContent = "Copied";
  } catch {
    // Without a secure connection, the browser has no clipboard for pages.
    const box = element("input", { class: "unseen", value: text });
    byId("bar").append(box);
    box.select();
    link.textContent = document.execCommand("copy") ? "Copied" : "Copy it from the address bar";
    box.remove();
    link.focus();
  }
  announce(link.textContent);
  setTimeout(() => (link.textContent = "Copy link"), SAID);
}
