// Makes elements. Text becomes text and nothing else: there is no markup in any of these modules.

export const byId = (id) => document.getElementById(id);

/** An element with these attributes; `onclick` and its like are listeners. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same in a drawing. */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** A name as it is, whatever it is: in its own direction, with every blank and line break. */
export function shownName(name) {
  const isBlank = !/[^\s\p{C}]/u.test(name);
  return element("bdi", { class: isBlank ? "name blank" : "name", dir: "auto" }, name);
}

/** A name in the middle of words that are spoken. */
export function spokenName(name) {
  return /[^\s\p{C}]/u.test(name) ? name : "a robot without a visible name";
}

/** Shows or hides an element. */
export function show(shown, isShown = true) {
  shown.hidden = !isShown;
}
