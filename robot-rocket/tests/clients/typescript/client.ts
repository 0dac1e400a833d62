// Calls each kind of operation of a server, by the client that its OpenAPI document describes.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { paths } from "./openapi.d.ts";

const client = createClient<paths>({
  baseUrl: process.argv[2]!,
  headers: { Accept: "application/json" },
});

const draft = { name: "R2-D2", type: "droid", year: 1977 } as const;

const added = await client.POST("/api/robots", { body: draft });
const id: string = added.data!.data.id;
assert.deepEqual(added.data, { status: "OK", data: { ...draft, id } });

const refused = await client.POST("/api/robots", { body: draft });
assert.deepEqual(refused.error?.messages, ["The robot name must be unique"]);

const path = { id };
const found = await client.GET("/api/robots/{id}", {
  params: { path, query: { fields: "id,name,year" } },
});
assert.ok(found.data?.status === "FOUND");
assert.deepEqual(found.data.data, { id, name: "R2-D2", year: 1977 });
const etag = found.response.headers.get("etag")!;

const missing = await client.GET("/api/robots/{id}", { params: { path: { id: "0" } } });
assert.equal(missing.data?.status, "NOT-FOUND");

const changed = await client.PATCH("/api/robots/{id}", {
  params: { path, header: { "If-Match": etag } },
  body: { year: 1980 },
  headers: { "Content-Type": "application/merge-patch+json" },
});
assert.equal(changed.data?.status, "OK");
const stale = await client.PUT("/api/robots/{id}", {
  params: { path, header: { "If-Match": etag } },
  body: draft,
});
assert.equal(stale.response.status, 412);
const replaced = await client.PUT("/api/robots/{id}", { params: { path }, body: draft });
assert.equal(replaced.data?.status, "OK");

const imported = await client.POST("/api/robots/import", {
  params: { query: { format: "json" } },
  body: [{ ...draft, name: "C-3PO" }],
});
const result = imported.data!.data;
assert.ok("added" in result);
assert.equal(result.added, 1);

const list = await client.GET("/api/robots", {
  params: { query: { type: ["droid"], sort: "-year", limit: 1, count: true } },
});
assert.equal(list.data?.length, 1);
assert.equal(list.response.headers.get("x-total-count"), "2");

const search = await client.GET("/api/robots/search/{name}", { params: { path: { name: "3P" } } });
assert.deepEqual(search.data?.map(({ name }) => name), ["C-3PO"]);

const summary = await client.GET("/api/robots/summary");
assert.equal(summary.data?.data.count, 2);

const file = await client.GET("/api/robots/export", {
  params: { query: { format: "csv", fields: "name" } },
  parseAs: "text",
});
assert.equal(file.data, "name\nC-3PO\nR2-D2\n");

const deleted = await client.DELETE("/api/robots/{id}", { params: { path } });
assert.equal(deleted.data?.status, "OK");

const methods = await client.OPTIONS("/api/robots");
assert.equal(methods.response.headers.get("allow"), "GET, HEAD, POST, OPTIONS");
const head = await client.HEAD("/api/robots");
assert.equal(head.response.status, 200);

const description = await client.GET("/openapi.json");
assert.equal(description.data?.openapi, "3.1.0");
