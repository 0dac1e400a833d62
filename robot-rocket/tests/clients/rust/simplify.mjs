// Makes of the OpenAPI document what the generator of the Rust client supports: OpenAPI 3.0, one media type
// per body, JSON, no OPTIONS, and no two parameters of an operation with the same name.
//
//   node simplify.mjs <openapi.json >simplified.json

import { readFileSync } from "node:fs";

const api = JSON.parse(readFileSync(0, "utf8"));
api.openapi = "3.0.3";

/** Declares one type of each body and of each value. */
function simplify(value) {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value.type)) {
    value.nullable = value.type.includes("null");
    value.type = value.type.find((type) => type !== "null");
  }
  const types = value.content;
  if (types) value.content = { "application/json": types["application/json"] ?? Object.values(types)[0] };
  Object.values(value).forEach(simplify);
}
simplify(api);

for (const item of Object.values(api.paths)) {
  delete item.options;
  for (const { responses } of Object.values(item)) {
    // Sent only to clients that prefer it.
    if (responses?.["200"]) delete responses["204"];
  }
}

for (const base of ["/api", "/v1"]) {
  const search = api.paths[`${base}/robots/search/{name}`];
  delete api.paths[`${base}/robots/search/{name}`];
  search.parameters[0].name = "text";
  api.paths[`${base}/robots/search/{text}`] = search;
}

console.log(JSON.stringify(api));
