// Creates elements. Text is always inserted as text, never as markup.

export const byId = (id) => document.getElementById(id);

/** Creates an element with attributes; those such as `onclick` are listeners. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Creates a button that does something when it is pressed. */
export function button(title, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, title);
}

/** Creates a row of buttons. */
export function buttons(...shown) {
  return element("div", { class: "buttons" }, ...shown);
}

/** Creates the row of buttons that ends a form: one that submits it, and others. */
export function formEnd(title, ...others) {
  return buttons(button(title, undefined, { type: "submit", class: "main" }), ...others);
}

/** Calls a listener when a form is submitted. */
export function onSubmit(form, listener) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    listener();
  });
}

/** Calls a listener when Escape is pressed in an element, unless that has closed something within. */
export function onEscape(shown, listener) {
  shown.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    event.preventDefault();
    listener();
  });
}

/** Shows words, and the seconds for which they are shown. Returns the function that ends that. */
export function withSeconds(shown, words) {
  const start = performance.now();
  const seconds = element("span", { "aria-hidden": "true" });
  const timer = setInterval(() => (seconds.textContent = ` ${Math.floor((performance.now() - start) / 1000)} s`), 1000);
  shown.replaceChildren(words, seconds);
  return () => clearInterval(timer);
}

/** A text for screen readers. */
export function unseen(text) {
  return element("span", { class: "unseen" }, text);
}

/** Texts as sentences. */
export const sentences = (texts) => texts.map((text) => (/[.!?]$/.test(text) ? text : `${text}.`)).join(" ");

/** An element that shows a name exactly: in its own direction, with all spaces and line breaks. */
export function shownName(name) {
  const isBlank = !/[^\s\p{C}]/u.test(name);
  return element("bdi", { class: isBlank ? "name blank" : "name", dir: "auto" }, name);
}

/** A name within a text for screen readers. */
export function spokenName(name) {
  return /[^\s\p{C}]/u.test(name) ? name : "one without a visible name";
}

/** A list of messages. It can have the focus, so that the arrow keys can scroll it. */
export function problems(items) {
  const attributes = { class: "problems", tabindex: "0", role: "group", "aria-label": "Messages" };
  return element("div", attributes, element("ul", {}, ...items));
}

/** Replaces what is in an element. A link or button there keeps the focus if there is one with the same key. */
export function redraw(parent, keyOf, ...children) {
  const focused = parent.contains(document.activeElement) && keyOf(document.activeElement);
  parent.replaceChildren(...children);
  if (focused) [...parent.querySelectorAll("a, button")].find((each) => keyOf(each) === focused)?.focus();
  return focused;
}

/** Whether the focus is in an element, or nowhere. */
export function hasFocus(shown) {
  const { activeElement, body } = document;
  return activeElement === body || shown.contains(activeElement);
}

/** Whether the focus is in a field, from which only the user may move it. */
export function isTyping() {
  return document.activeElement.matches("input, textarea, select");
}

/** Uses a storage of the browser. Without it, choices are kept until the page is reloaded. */
export function inStorage(use) {
  try {
    return use();
  } catch {
    return undefined;
  }
}

/** Shows or hides an element. */
export function show(shown, isShown = true) {
  shown.hidden = !isShown;
}
