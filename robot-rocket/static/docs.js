// The pages about the API, made of the OpenAPI document of this server.

import { byId, element, show } from "./elements.js";
import { phrase, schemaCard, shown } from "./schema.js";

/** The methods that are shown, in this order. `HEAD` and `OPTIONS` are described in one sentence. */
const METHODS = ["get", "post", "put", "patch", "delete"];

let api;

/** What a reference refers to, or the value itself. */
function resolved(value) {
  const path = value?.$ref?.slice(2).split("/");
  return path ? path.reduce((part, name) => part[name], api) : value;
}

/** The operations of a path that are shown, with their methods. */
const listed = (item) => METHODS.filter((method) => item[method]).map((method) => [method, item[method]]);

const table = (caption, headings, rows) =>
  element(
    "div",
    { class: "scrolled", tabindex: "0", role: "group", "aria-label": caption },
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, ...headings.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, ...[cell].flat()))))),
    ),
  );

const code = (text) => element("code", {}, text);

/** All paths, those of `/v1` first. */
const paths = () => Object.entries(api.paths).sort(([one], [other]) => other.startsWith("/v1") - one.startsWith("/v1"));

function about() {
  const { title, version, description } = api.info;
  const paragraphs = description.split("\n\n").map((text) => element("p", {}, ...phrase(text)));
  const links = paths().flatMap(([path, item]) =>
    listed(item).map(([method, { operationId, summary }]) =>
      element("li", {}, element("a", { href: `#${operationId}` }, summary), " ", code(`${method.toUpperCase()} ${path}`)),
    ),
  );
  byId("about").append(
    element("h2", { id: "about-heading" }, `${title} ${version}`),
    ...paragraphs,
    element("nav", { "aria-label": "Operations" }, element("ul", {}, ...links)),
  );
}

/** A request from a shell. Required parameters and the body have the values of the examples. */
function curl(path, method, parameters, body) {
  let target = path;
  for (const { name, in: place, example } of parameters) {
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(example ?? name));
  }
  const address = new URL(`.${target}`, location.href);
  const words = ["curl"];
  const [type, content] = Object.entries(body?.content ?? {})[0] ?? [];
  if (!(method === "get" || (method === "post" && content))) words.push("-X", method.toUpperCase());
  if (content) {
    words.push("-H", `'Content-Type: ${type}'`, "--data-binary", `'${exampleOf(content)}'`);
  }
  return [...words, `'${address}'`].join(" ");
}

const exampleOf = ({ example }) => (typeof example === "string" ? example : JSON.stringify(example));

function parametersOf(parameters) {
  if (parameters.length === 0) return [];
  const rows = parameters.map((parameter) => [
    [code(parameter.name), parameter.required ? " (required)" : ""],
    parameter.in,
    shown(parameter.schema),
    phrase(parameter.description),
  ]);
  return [element("h4", {}, "Parameters"), table("Parameters", ["Name", "In", "Value", "Meaning"], rows)];
}

function bodyOf(body) {
  if (!body) return [];
  const rows = Object.entries(body.content).map(([type, { schema }]) => [code(type), shown(schema)]);
  return [element("h4", {}, "Body"), table("Body", ["Content-Type", "Value"], rows)];
}

function repliesOf(responses) {
  const rows = Object.entries(responses).map(([status, reference]) => {
    const { description, headers, content = {} } = resolved(reference);
    const common = new Set(Object.keys(resolved(api.paths["/openapi.json"].options.responses["421"]).headers));
    const own = Object.keys(headers).filter((name) => !common.has(name));
    const schemas = Object.entries(content).map(([type, { schema }]) => [type, shown(schema)]);
    const isOne = new Set(schemas.map(([, parts]) => parts.map((part) => part.textContent ?? part).join(""))).size === 1;
    const bodies = isOne ? schemas.slice(0, 1).map(([, parts]) => parts) : schemas.map(([type, parts]) => [code(type), " ", ...parts, " "]);
    return [status, phrase(description), bodies.flat(), own.flatMap((name, index) => [index > 0 ? ", " : "", code(name)])];
  });
  return [element("h4", {}, "Replies"), table("Replies", ["Status", "Meaning", "Body", "Headers"], rows)];
}

function operationOf(path, item, method, operation) {
  const parameters = [...item.parameters, ...(operation.parameters ?? [])].map(resolved);
  const heading = `${operation.operationId}-heading`;
  const call = { tabindex: "0", role: "group", "aria-label": "From a shell" };
  return element(
    "article",
    { class: "card operation", id: operation.operationId, "aria-labelledby": heading },
    element("h3", { id: heading }, operation.summary),
    element("p", { class: "route" }, element("span", { class: `method ${method}` }, method.toUpperCase()), " ", code(path)),
    element("p", {}, ...phrase(operation.description)),
    element("pre", call, element("code", {}, curl(path, method, parameters, operation.requestBody))),
    ...parametersOf(parameters),
    ...bodyOf(operation.requestBody),
    ...repliesOf(operation.responses),
  );
}

function operations() {
  const derived =
    "HEAD works wherever GET does, with the same headers and no body. OPTIONS returns 204 with the methods " +
    "of the path in Allow.";
  const articles = paths().flatMap(([path, item]) =>
    listed(item).map(([method, operation]) => operationOf(path, item, method, operation)),
  );
  byId("operations").append(element("h2", {}, "Operations"), element("p", {}, derived), ...articles);
}

function schemas() {
  const cards = Object.entries(api.components.schemas).map(([name, schema]) => schemaCard(name, schema));
  byId("schemas").append(element("h2", {}, "Schemas"), ...cards);
}

try {
  const response = await fetch("openapi.json", { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  api = await response.json();
  about();
  operations();
  schemas();
  // The target of the address did not exist when the page was loaded.
  byId(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  byId("trouble").textContent = `The description cannot be loaded. Reload the page. (${error.message})`;
  show(byId("trouble"));
}
