// The page about the API, made of the OpenAPI document of this server.

import { byId, element, show } from "./elements.js";

/** The methods that are shown, in this order. */
const METHODS = ["get", "post", "put", "patch", "delete"];

/** Headers that all replies may have. */
const COMMON = ["Preference-Applied", "X-Request-Id"];

let api;

/** What a reference refers to, or the value itself. */
function resolved(value) {
  const path = value.$ref?.slice(2).split("/");
  return path ? path.reduce((part, name) => part[name], api) : value;
}

const code = (text) => element("code", {}, text);

/** Text in which `code` is marked by backticks, as parts of an element. */
const phrase = (text = "") => text.split("`").map((part, index) => (index % 2 === 1 ? code(part) : part));

const paragraph = (text) => element("p", {}, ...phrase(text));

/** Parts with a text between them. */
const joined = (parts, between) => parts.flatMap((part, index) => (index > 0 ? [between, part] : part));

/** What values match a schema, as an element. */
function shown({ $ref, anyOf, oneOf = anyOf, enum: choices, type = "any value", items, properties, ...limits }) {
  const name = $ref?.split("/").at(-1);
  if (name) return element("a", { href: `#schema-${name}` }, name);
  if (oneOf) return element("span", {}, ...joined(oneOf.map(shown), " or "));
  if (choices) return element("span", {}, ...joined(choices.map(code), ", "));
  if (type === "array") return element("span", {}, "list of ", shown(items));
  if (properties) return `object: ${Object.keys(properties).join(", ")}`;
  const least = limits.minimum ?? limits.minLength;
  const most = limits.maximum ?? limits.maxLength;
  const words = [[type].flat().join(" or ")];
  if (least !== undefined) words.push(`from ${least}`);
  if (most !== undefined) words.push(`to ${most}`);
  if (limits.maxLength !== undefined) words.push("characters");
  return words.join(" ");
}

/** A table with a heading; nothing without rows. Each cell is a list of parts. */
function table(title, headings, rows) {
  if (rows.length === 0) return [];
  const head = headings.map((text) => element("th", { scope: "col" }, text));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((parts) => element("td", {}, ...parts))));
  const parts = [element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)];
  const scrolled = { class: "scrolled", tabindex: "0", role: "group", "aria-label": title };
  return [element("h4", {}, title), element("div", scrolled, element("table", {}, ...parts))];
}

/** The row of a parameter, or of a member of a schema. */
function rowOf(name, isRequired, schema, description, ...others) {
  return [[code(name), isRequired ? " (required)" : ""], ...others, [shown(schema)], phrase(description)];
}

/** The types of a body, each with its values. */
const contents = (content = {}) =>
  Object.entries(content).map(([type, { schema }]) => element("div", {}, code(type), " ", shown(schema)));

/** A request from a shell. Parameters in the path and the body have the values of the examples. */
function curl(method, path, parameters, body) {
  const exampleOf = (name) => parameters.find((each) => each.name === name).example ?? name;
  const target = path.replace(/\{(.*?)\}/g, (_, name) => encodeURIComponent(exampleOf(name)));
  const words = ["curl"];
  if (method !== "get") words.push("-X", method.toUpperCase());
  if (body) {
    const [[type, { example }]] = Object.entries(body.content);
    const text = typeof example === "string" ? example : JSON.stringify(example);
    words.push("-H", `'Content-Type: ${type}'`, "--data-binary", `'${text}'`);
  }
  return [...words, `'${new URL(`.${target}`, location.href)}'`].join(" ");
}

function showOperation(path, item, method) {
  const { operationId: id, summary, description, requestBody, responses, parameters: own = [] } = item[method];
  const parameters = [...item.parameters, ...own].map(resolved);
  const replies = Object.entries(responses).map(([status, reference]) => {
    const reply = resolved(reference);
    const headers = Object.keys(reply.headers).filter((name) => !COMMON.includes(name));
    return [[status], phrase(reply.description), contents(reply.content), joined(headers.map(code), ", ")];
  });
  const rows = parameters.map((each) => rowOf(each.name, each.required, each.schema, each.description, [each.in]));
  const call = { tabindex: "0", role: "group", "aria-label": "From a shell" };
  const word = element("span", { class: `method ${method}` }, method.toUpperCase());
  byId("index").append(element("li", {}, element("a", { href: `#${id}` }, summary), " ", code(`${method.toUpperCase()} ${path}`)));
  byId("operations").append(
    element(
      "article",
      { class: "card operation", id, "aria-label": summary },
      element("h3", {}, summary),
      element("p", { class: "route" }, word, " ", code(path)),
      paragraph(description),
      element("pre", call, code(curl(method, path, parameters, requestBody))),
      ...table("Parameters", ["Name", "In", "Value", "Meaning"], rows),
      ...(requestBody ? [element("h4", {}, "Body"), ...contents(requestBody.content)] : []),
      ...table("Replies", ["Status", "Meaning", "Body", "Headers"], replies),
    ),
  );
}

function showSchema([name, schema]) {
  const { description, properties, required = [] } = schema;
  const rows = Object.entries(properties ?? {}).map(([key, value]) => rowOf(key, required.includes(key), value, value.description));
  byId("schemas").append(
    element(
      "article",
      { class: "card schema", id: `schema-${name}` },
      element("h3", {}, name),
      paragraph(description),
      ...(properties ? table("Members", ["Name", "Value", "Meaning"], rows) : [element("p", {}, shown(schema))]),
    ),
  );
}

try {
  const response = await fetch("openapi.json", { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  api = await response.json();
  byId("about-heading").textContent = `${api.info.title} ${api.info.version}`;
  byId("about-heading").after(...api.info.description.split("\n\n").map(paragraph));
  const paths = Object.entries(api.paths).sort(([one], [other]) => other.startsWith("/v1") - one.startsWith("/v1"));
  for (const [path, item] of paths) {
    for (const method of METHODS) if (item[method]) showOperation(path, item, method);
  }
  Object.entries(api.components.schemas).forEach(showSchema);
  // The target of the address did not exist when the page was loaded.
  byId(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  byId("trouble").textContent = `The description cannot be loaded. Reload the page. (${error.message})`;
  show(byId("trouble"));
}
