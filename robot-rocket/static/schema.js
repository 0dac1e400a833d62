// Schemas of an OpenAPI document, as text with links.

import { element } from "./elements.js";

/** Text in which `code` is marked by backticks, as parts of an element. */
export function phrase(text = "") {
  return text.split("`").map((part, index) => (index % 2 === 1 ? element("code", {}, part) : part));
}

/** What values match a schema, as parts of an element. */
export function shown(schema) {
  if (schema.$ref) {
    const name = schema.$ref.split("/").at(-1);
    return [element("a", { href: `#schema-${name}` }, name)];
  }
  if (schema.oneOf) return schema.oneOf.flatMap((each, index) => [...(index > 0 ? [" or "] : []), ...shown(each)]);
  if (schema.enum) return schema.enum.flatMap((value, index) => [...(index > 0 ? [", "] : []), element("code", {}, value)]);
  if (schema.type === "array") return ["list of ", ...shown(schema.items)];
  if (schema.type === "object" && schema.properties) return [`object: ${Object.keys(schema.properties).join(", ")}`];
  // A member that may be null is optional.
  const types = [schema.type].flat().filter((type) => type !== "null");
  return [types.join(" or "), ...limits(schema)];
}

function limits({ minimum, maximum, minLength, maxLength }) {
  if (minLength !== undefined) return [` of ${minLength} to ${maxLength} characters`];
  if (maximum !== undefined) return [` from ${minimum} to ${maximum}`];
  return minimum === undefined ? [] : [`, ${minimum} or more`];
}

/** A schema with its members. */
export function schemaCard(name, schema) {
  const heading = element("h3", {}, name);
  const parts = schema.description ? [element("p", {}, ...phrase(schema.description))] : [];
  if (!schema.properties) parts.push(element("p", {}, ...shown(schema)));
  const required = new Set(schema.required);
  for (const [member, value] of Object.entries(schema.properties ?? {})) {
    const suffix = required.has(member) ? "" : " (optional)";
    parts.push(
      element(
        "p",
        { class: "member" },
        element("code", {}, member),
        `${suffix}: `,
        ...shown(value),
        ...(value.description ? [". ", ...phrase(value.description)] : []),
      ),
    );
  }
  return element("article", { class: "card schema", id: `schema-${name}` }, heading, ...parts);
}
