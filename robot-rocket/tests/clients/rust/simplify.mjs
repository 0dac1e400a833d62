// Makes of the OpenAPI document what the generator of the Rust client supports: OpenAPI 3.0, one media type
// per body, JSON, no OPTIONS, and no two parameters of an operation with the same name.
//
//   node simplify.mjs <openapi.json >simplified.json

import { readFileSync } from "node:fs";

const api = JSON.parse(readFileSync(0, "utf8"));
api.openapi = "3.0.3";

/** Declares one type of each body. */
function simplify(value) {
  if (typeof value !== "object" || value === null) return;
  const types = value.content;
  if (types) value.content = { "application/json": types["application/json"] ?? Object.values(types)[0] };
  Object.values(value).forEach(simplify);
}
simplify(api);

for (const item of Object.values(api.paths)) {
  delete item.options;
  // A refusal of a head that is too large has another schema than the failures of an import.
  for (const operation of Object.values(item)) delete operation.responses?.["431"];
}

const search = api.paths["/api/robots/search/{name}"];
delete api.paths["/api/robots/search/{name}"];
search.parameters[0].name = "text";
api.paths["/api/robots/search/{text}"] = search;

console.log(JSON.stringify(api));
