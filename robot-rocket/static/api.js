// Client of the service's API.

import { read, written } from "./json.js";
import { FIRST_REVISION, bodyOf, define, definition, hasUnknown, robotOf, stored } from "./robot.js";
import { kept } from "./token.js";
import { filterWithText } from "./view.js";

/** An error answer of the service, with its messages. */
export class ApiError extends Error {
  constructor(answer, value) {
    const messages = messagesOf(answer, value);
    super(messages.join(" "));
    this.status = answer.status;
    this.messages = messages;
    this.needsToken = answer.headers.has("www-authenticate");
    this.isTransient = isTransient(answer);
  }
}

/** No answer: it is unknown whether a change was made. */
export class NoAnswer extends Error {
  messages = ["The server does not answer."];
  isTransient = true;
}

/** Seconds in `Retry-After` from which on an operator has to act first: the disk is full, or the
    server must be restarted. */
const RETRY_OF_OPERATORS = 60;

/** Whether this is the answer of a proxy without its server, or of a server without its database. */
function isTransient({ status, headers }) {
  const retry = Number(headers.get("retry-after") ?? 1);
  return [502, 503, 504].includes(status) && !(retry >= RETRY_OF_OPERATORS);
}

/** Milliseconds until a request times out, longer than any timeout of the service. */
const TIMEOUT = 30_000;

export const ROBOTS = "api/robots";

const DEFINITION = "api/definition";

/** The parameter for all members, and the revision, which every change increases. */
const ALL = ["fields", "*"];

/** The place before the first robot. A place is a cursor of the service, and the robot before it. */
export const START = { cursor: "", robot: undefined };

/** About `limit` robots of a view from a place on. `end` is the place where the next page starts, if
    there is one. */
export async function find(view, start, limit, signal) {
  // With a sort, the link to the next page has a cursor.
  const parameters = new URLSearchParams([
    ALL,
    ["sort", view.sort],
    ["limit", limit],
    ...filterWithText(view),
  ]);
  if (start.cursor !== "") parameters.set("cursor", start.cursor);
  const { value, headers } = await send("GET", `${ROBOTS}?${parameters}`, { signal });
  const [, next] = /<([^>]*)>; *rel="?next/.exec(headers.get("link") ?? "") ?? [];
  const cursor = next && new URL(next, location.href).searchParams.get("cursor");
  const robots = await robotsOf(value, signal);
  return { robots, end: cursor ? { cursor, robot: robots.at(-1) } : undefined };
}

/** The numbers of robots of a view: `count` in all, and `groups` by type and the first year of a decade. */
export async function summary(view, signal) {
  const target = `${ROBOTS}/summary?${new URLSearchParams(filterWithText(view))}`;
  const { data } = (await send("GET", target, { signal })).value;
  const groups = data.groups.map(({ type, decade, count }) => {
    const year = decade === null ? undefined : BigInt(decade);
    return { type: type ?? "no type", decade: year, count: Number(count) };
  });
  return { count: Number(data.count), groups };
}

/** The robots with exactly this name. */
export async function namesakes(name) {
  const parameters = new URLSearchParams([ALL, ["name", name]]);
  return robotsOf((await send("GET", `${ROBOTS}?${parameters}`)).value);
}

/** The robot with this id, or undefined. */
export async function get(id) {
  const { data } = (await send("GET", `${ROBOTS}/${id}?fields=*`)).value;
  return data && (await robotsOf([data]))[0];
}

/** Robots that were read. If they have members that the page does not know, the new definition is
    read first. */
async function robotsOf(read, signal) {
  if (hasUnknown(read)) await refreshDefinition();
  signal?.throwIfAborted();
  return read.map(robotOf);
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
  await send("PUT", target, { body: written(document), revision: definition.revision });
  await refreshDefinition();
}

export async function add(draft) {
  const { value } = await send("POST", ROBOTS, { body: bodyOf(draft) });
  return { ...robotOf({ ...draft, ...value.data }), revision: FIRST_REVISION };
}

/** Replaces a robot unless it was changed meanwhile: then the status of the error is 412. */
export async function replace({ id, revision }, draft) {
  const options = { body: bodyOf(draft), revision };
  const { headers } = await send("PUT", `${ROBOTS}/${id}`, options);
  const next = revisionIn(headers) ?? String(BigInt(revision) + 1n);
  return { id, ...stored(draft), revision: next };
}

/** Deletes a robot unless it was changed meanwhile: then the status of the error is 412. */
export async function remove({ id, revision }) {
  await send("DELETE", `${ROBOTS}/${id}`, { revision });
}

/** Sends a small request, to find out whether the server answers. */
export async function probe() {
  await send("GET", `${ROBOTS}?limit=1`);
}

/** The headers of every request. */
export function commonHeaders() {
  const headers = { Accept: "application/json" };
  if (kept()) headers.Authorization = `Bearer ${kept()}`;
  return headers;
}

async function send(method, path, { body, revision, signal } = {}) {
  const headers = commonHeaders();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (revision !== undefined) headers["If-Match"] = `"${revision}"`;
  const timeout = AbortSignal.timeout(TIMEOUT);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let answer, text;
  try {
    answer = await fetch(path, { method, headers, body, signal: either, cache: "no-store" });
    text = await answer.text();
  } catch {
    // A request that the page itself has aborted is no failure.
    signal?.throwIfAborted();
    throw new NoAnswer();
  }
  const value = parsed(text);
  if (answer.ok && value !== undefined) return { value, headers: answer.headers };
  throw new ApiError(answer, value);
}

function revisionIn(headers) {
  return /\d+/.exec(headers.get("etag") ?? "")?.[0];
}

/** The value of an answer, or undefined if it is no JSON. */
export function parsed(text) {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function messagesOf(answer, value) {
  const messages = Array.isArray(value?.messages) ? value.messages.map(String) : [];
  return messages.length > 0 ? messages : [`The server answered ${answer.status}.`];
}
