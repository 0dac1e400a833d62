// Client of the service's API.

import { MEMBERS, bodyOf, define, definition, hasUnknown, read, robotOf, written } from "./robot.js";
import { token } from "./token.js";
import { filterOf } from "./view.js";

/** An error response of the service, with its messages, and the keys of the members that they are about. */
class ApiError extends Error {
  constructor({ status, headers }, value) {
    const unknown = { 200: FOREIGN, 413: TOO_LARGE }[status] ?? `The server answered ${status}.`;
    const errors = Array.isArray(value?.errors) ? value.errors : [{ message: unknown }];
    super(errors.map(({ message }) => message).join(" "));
    this.status = status;
    this.data = value?.data;
    this.messages = errors.map(({ message }) => message);
    this.keys = errors.map(({ field }) => field);
    this.needsToken = headers.get("www-authenticate") !== null;
    // The response of a proxy without its server, or of a server without its database.
    const isOfOperators = Number(headers.get("retry-after") ?? 1) >= RETRY_OF_OPERATORS;
    this.isTransient = [502, 503, 504].includes(status) && !isOfOperators;
    // Whether a change was made. A 503 has stored nothing, or `data`.
    this.isUnknown = !value?.data && (status < 400 || status >= 500) && status !== 503;
  }
}

/** What 413 and 200 mean if the response is not of the service. */
const TOO_LARGE =
  "A proxy permits no request of this size. Its operator can permit larger ones, " +
  "in nginx with client_max_body_size; or send less at a time.";
const FOREIGN = "The response is not of the catalogue, but of a proxy perhaps. Reload the page.";

/** No response: it is unknown whether a change was made. */
class NoResponse extends Error {
  messages = ["The server does not answer."];
  isTransient = true;
  isUnknown = true;
}

/** Seconds in `Retry-After` from which on an operator has to act first: the disk is full, or the
    server must be restarted. */
const RETRY_OF_OPERATORS = 60;

/** Milliseconds until a request times out, longer than any timeout of the service. */
const TIMEOUT = 30_000;

const ROBOTS = "v1/robots";

const DEFINITION = "v1/definition";

/** The maximum number of robots of a request. */
export const LIMIT = 1000;

/** The place before the first robot. A place is a cursor of the service, and the robot before it. */
export const START = { cursor: "", robot: undefined };

/** About `limit` robots of a view from a place on. `end` is the place where the next page starts, if
    there is one. */
export async function find(view, start, limit, signal) {
  // With a sort, the link to the next page has a cursor.
  const from = start.cursor === "" ? [] : [["cursor", start.cursor]];
  const parameters = [["sort", view.sort], ["limit", limit], ...filterOf(view), ...from];
  const { robots, headers } = await list(parameters, signal);
  const [, next] = /<([^>]*)>; *rel="?next/.exec(headers.get("link") ?? "") ?? [];
  const cursor = next && new URL(next, location.href).searchParams.get("cursor");
  return { robots, position: headers.get("changes-cursor"), end: cursor ? { cursor, robot: robots.at(-1) } : undefined };
}

let listed = () => {};

/** Reports the position of changes before the list that is shown. */
export const showsFrom = (position) => listed(position);

/** Calls a listener with the position of changes before each list that was read from its start; null if the service
    keeps no changes. */
export function onListed(listener) {
  listed = listener;
}

/** What the service has at a path, with parameters of a query. */
async function valueAt(path, parameters, signal) {
  return (await send("GET", `${path}?${new URLSearchParams(parameters)}`, { signal })).value;
}

/** The numbers of robots of a view: `count` in all, and `groups` by type and the first year of a decade. */
export const summary = (view, signal) => counted(filterOf(view), signal);

/** The numbers of robots of a view by the values of a member, the most frequent first up to a limit; without a limit, all
    values, and dates by their years. */
export async function countsBy(key, view, limit, signal) {
  const limits = limit === undefined ? [] : [["limit", limit]];
  const { count, groups } = await counted([["by", key], ...limits, ...filterOf(view)], signal);
  return { count, groups: groups.map((group) => ({ value: String(group[key] ?? ""), count: group.count })) };
}

async function counted(parameters, signal) {
  const { count, groups } = await valueAt(`${ROBOTS}/summary`, parameters, signal);
  return { count: Number(count), groups: groups.map((group) => ({ ...group, count: Number(group.count) })) };
}

/** A list of the service: its robots and its headers. */
async function list(parameters, signal) {
  const { value, headers } = await send("GET", `${ROBOTS}?${new URLSearchParams(parameters)}`, { signal });
  return { robots: await robotsOf(value, signal), headers };
}

/** The numbers of robots with and without a value of a member. */
export async function countFilled(key) {
  const [all, none] = await Promise.all([{}, { [key]: "" }].map((filter) => counted(filter)));
  return { filled: all.count - none.count, empty: none.count };
}

/** The robots with exactly this name. */
export async function namesakes(name) {
  return (await list([["limit", LIMIT], ["name", name]])).robots;
}

/** The number of ids in an address, so that the address is shorter than proxies permit (8 KB in nginx). */
const IDS = 200;

/** Those of some robots that there still are, as they are stored now. */
export async function current(robots) {
  const starts = Array.from({ length: Math.ceil(robots.length / IDS) }, (_, index) => index * IDS);
  const idsFrom = (start) => robots.slice(start, start + IDS).map(({ id }) => ["id", id]);
  const fields = ["id", ...MEMBERS.map(({ key }) => key), "revision"].join(",");
  const known = [["limit", LIMIT], ["fields", fields]];
  const parts = await checked(Promise.all(starts.map((start) => list([...known, ...idsFrom(start)]))));
  return parts.flatMap((part) => part.robots);
}

/** The robot with this id. Without one, the status of the error is 404. */
export async function get(id) {
  return robotIn(await send("GET", `${ROBOTS}/${id}`));
}

const robotIn = async ({ value }) => (await robotsOf([value]))[0];

/** The changes of a robot, the latest first, from `before` on. `next` is where the others begin, if there are any. */
export async function historyOf(id, before) {
  const { changes, more, next } = await valueAt(`${ROBOTS}/${id}/history`, { limit: 20, ...(before && { before }) });
  return { changes: await changesIn(changes), next: more ? next : undefined };
}

/** The last change of each robot after a position, or every change, and the next position. */
export async function changesAfter(position, every = false) {
  const { changes, more, next } = await valueAt("v1/changes", { limit: LIMIT, after: position, ...(every && { every }) });
  return { changes: await changesIn(changes), next, isLast: more !== true };
}

/** Changes that were read: `robot` is the robot after each, null if there is none, and `before` the earlier one. */
export async function changesIn(found) {
  const robots = await robotsOf(found.flatMap(({ robot, before }) => [robot, before].filter(Boolean)));
  return found.map((change) => {
    const [robot, before] = [change.robot, change.before].map((one) => one && robots.shift());
    return { ...change, robot, before };
  });
}

/** The stream of changes after a position, as a response whose body goes on. */
export function streamAfter(position, signal) {
  return responseTo(`v1/changes?${new URLSearchParams({ after: position })}`, {
    signal,
    headers: { Accept: "text/event-stream" },
  });
}

/** Gives a robot the values of one of its versions, unless it does not have the present revision any more. A deleted one
    comes back. */
export async function revertTo(id, version, revision) {
  return robotIn(await send("POST", `${ROBOTS}/${id}/revert`, { body: `{"revision":${version}}`, revision }));
}

/** Undoes the changes between two positions, those by this author if one is given. */
export async function revertBetween({ after, until, by }) {
  return (await send("POST", "v1/revert", { body: JSON.stringify({ after, until, by }) })).value;
}

/** What the present token, or a client without one, may do; undefined if the service does not say. */
export const access = () => valueAt("v1/access");

/** Robots that were read. If they have members that the page does not know, the new definition is
    read first. */
async function robotsOf(found, signal) {
  if (hasUnknown(found)) await refreshDefinition();
  signal?.throwIfAborted();
  return found.map(robotOf);
}

/** Reads the definition, and uses it. */
export async function refreshDefinition() {
  const { value, headers } = await send("GET", DEFINITION);
  const revision = revisionIn(headers);
  if (revision !== definition.revision) define(value, revision);
}

/** Replaces the definition unless it was changed meanwhile: then the status of the error is 412. */
export async function redefine(document, dropsValues) {
  const target = dropsValues ? `${DEFINITION}?drop_values=true` : DEFINITION;
  const options = { body: written(document), revision: definition.revision };
  const { value, headers } = await send("PUT", target, options);
  define(value, revisionIn(headers));
}

export function add(draft) {
  const values = Object.entries(draft).filter(([, value]) => value !== "");
  return store("POST", ROBOTS, bodyOf(Object.fromEntries(values)));
}

/** Changes some values of a robot unless it was changed meanwhile: then the status of the error is 412. */
export function patch({ id, revision }, values) {
  return store("PATCH", `${ROBOTS}/${id}`, bodyOf(values), revision);
}

/** Stores a robot, and returns it. */
const store = (method, path, body, revision) => checked(send(method, path, { body, revision }).then(robotIn));

/** The result of a request with names of fields. If it is rejected, the definition may have changed. */
async function checked(promise) {
  try {
    return await promise;
  } catch (error) {
    if ([400, 422].includes(error.status)) await refreshDefinition().catch(() => {});
    throw error;
  }
}

/** Changes some values of all robots that were not changed since they were read by `current`. Returns their ids, the
    positions of the changes, and the error if only the first of several requests were successful. */
export function changeAll(robots, values) {
  return forAll("PATCH", robots, `,"changes":${bodyOf(values)}`);
}

/** Deletes all robots that were not changed since they were read by `current`. */
export const removeAll = (robots) => forAll("DELETE", robots);

async function forAll(method, robots, changes = "") {
  const all = { ids: [], changes: undefined, error: undefined };
  for (let start = 0; start < robots.length && !all.error; start += LIMIT) {
    const part = robots.slice(start, start + LIMIT);
    const ids = JSON.stringify(part.map(({ id }) => id));
    const body = `{"ids":${ids},"revisions":[${part.map(({ revision }) => revision)}]${changes}}`;
    try {
      const { value } = await checked(send(method, ROBOTS, { body }));
      all.ids.push(...value.ids);
      if (value.changes) all.changes = { ...value.changes, after: all.changes?.after ?? value.changes.after };
    } catch (error) {
      if (start === 0) throw error;
      all.error = error;
    }
  }
  return all;
}

/** Deletes a robot unless it was changed meanwhile: then the status of the error is 412. */
export async function remove({ id, revision }) {
  await send("DELETE", `${ROBOTS}/${id}`, { revision });
}

/** Sends a small request, to find out whether the server answers. */
export async function probe() {
  await send("GET", `${ROBOTS}?limit=1`);
}

/** The response to a request, whose bytes are received later. */
export async function responseTo(path, { headers, ...options } = {}) {
  const all = { ...commonHeaders(), ...headers };
  const response = await orNoResponse(fetch(path, { method: "GET", ...options, headers: all, cache: "no-store" }));
  if (!response.ok) throw new ApiError(response, parsed(await orNoResponse(response.text())));
  return response;
}

/** What the service sends, or NoResponse. */
export function orNoResponse(promise) {
  return promise.catch(() => {
    throw new NoResponse();
  });
}

/** The headers of every request. */
function commonHeaders() {
  return token() ? { Authorization: `Bearer ${token()}` } : {};
}

/** The value of a response, and its headers. */
async function send(method, path, { body, revision, signal } = {}) {
  const headers = {
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(revision !== undefined && { "If-Match": `"${revision}"` }),
  };
  const signals = [AbortSignal.timeout(TIMEOUT), ...(signal ? [signal] : [])];
  try {
    const response = await responseTo(path, { method, headers, body, signal: AbortSignal.any(signals) });
    const value = parsed(await orNoResponse(response.text()));
    if (value === undefined && response.status !== 204) throw new ApiError(response);
    return { value, headers: response.headers };
  } catch (error) {
    // A request that the page itself has aborted is no failure.
    signal?.throwIfAborted();
    throw error;
  }
}

/** Sends a file to be imported, or planned, and returns what was done, or the plan. `progress` is called with the part
    that was sent, from 0 to 1. `XMLHttpRequest`, because `fetch` shows no progress. */
export function upload(file, parameters, { signal, progress, isPlan } = {}) {
  const request = new XMLHttpRequest();
  request.open("POST", `${ROBOTS}/import${isPlan ? "/propose" : ""}?${new URLSearchParams(parameters)}`);
  for (const [name, value] of Object.entries(commonHeaders())) request.setRequestHeader(name, value);
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 1);
    request.onerror = () => reject(new NoResponse());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const { status } = request;
      const value = parsed(request.responseText);
      if (status === 200 && (value?.plan ?? value?.added) !== undefined) resolve(value);
      else reject(new ApiError({ status, headers: { get: (name) => request.getResponseHeader(name) } }, value));
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

const revisionIn = (headers) => /\d+/.exec(headers.get("etag") ?? "")?.[0];

/** The value of a response, or undefined if it is no JSON. */
function parsed(text) {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}
