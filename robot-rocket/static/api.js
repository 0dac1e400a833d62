// Client of the service's API: the only module that sends requests.
//
// Numbers have up to 19 digits, more than a JavaScript number can hold, so they are kept as text.

import { FIELDS, bodyOf, stored } from "./robot.js";
import { kept } from "./token.js";

/** An error answer of the service, with its messages. */
export class ApiError extends Error {
  constructor(answer, messages) {
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

const ROBOTS = "api/robots";

/** A page of at most `limit` robots whose name contains a text, from after a name on. `next` is the
    name after which the next page starts. */
export async function find(query, after, limit, signal) {
  // A browser resolves these two as path segments, even if they are encoded.
  if (query === "." || query === "..") return filtered(query, after, limit, signal);
  const path = query === "" ? ROBOTS : `${ROBOTS}/search/${encodeURIComponent(query)}`;
  return page(path, after, limit, signal);
}

async function page(path, after, limit, signal) {
  const start = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
  const target = `${path}?${FIELDS}&limit=${limit}${start}`;
  const { value, headers } = await send("GET", target, { signal });
  const hasNext = /rel="?next/.test(headers.get("link") ?? "");
  return { robots: value, next: hasNext ? value.at(-1).name : undefined };
}

/** A page of a search that filters the whole list here. */
async function filtered(query, after, limit, signal) {
  const robots = [];
  let next = after;
  while (next !== undefined && robots.length < limit) {
    const found = await page(ROBOTS, next, 1000, signal);
    robots.push(...found.robots.filter((robot) => robot.name.includes(query)));
    next = found.next;
  }
  if (robots.length > limit) {
    robots.length = limit;
    next = robots.at(-1).name;
  }
  return { robots, next };
}

/** The robot with exactly this name: `null` if there is none, `undefined` if that is unknown. */
export async function named(name) {
  const { robots, next } = await find(name, "", 1000);
  return robots.find((robot) => robot.name === name) ?? (next === undefined ? null : undefined);
}

export async function add(draft) {
  const { value } = await send("POST", ROBOTS, { body: bodyOf(draft) });
  // The reply has the members of the contract only.
  return { ...stored(draft), ...value.data };
}

export async function replace(id, draft) {
  await send("PUT", `${ROBOTS}/${id}`, { body: bodyOf(draft) });
}

export async function remove(id) {
  await send("DELETE", `${ROBOTS}/${id}`);
}

/** Sends a small request, to find out whether the server answers. */
export async function probe() {
  await send("GET", `${ROBOTS}?limit=1`);
}

/** Parses JSON with each number as text. */
export function read(text) {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(token, (found) => (found[0] === '"' ? found : `"${found}"`)));
}

async function send(method, path, { body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (kept()) headers.Authorization = `Bearer ${kept()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
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
  throw new ApiError(answer, messagesOf(answer, value));
}

function parsed(text) {
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
