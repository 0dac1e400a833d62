// The service's API, and the only place that talks to it.
//
// Ids and years have up to 19 digits, more than a number of JavaScript keeps, so they stay text
// from here to there.

import { kept } from "./token.js";

/** The service said no, for these reasons. */
export class Refusal extends Error {
  constructor(status, messages, asksForToken = false) {
    super(messages.join(" "));
    this.status = status;
    this.messages = messages;
    this.asksForToken = asksForToken;
    // A proxy answers so for a server that is gone, and the server for a database that is.
    this.isPassing = [502, 503, 504].includes(status);
  }
}

/** Nobody answered, so that it is unknown whether a change was made. */
export class Away extends Error {
  messages = ["The server does not answer."];
  isPassing = true;
}

/** Longer than the service itself waits for anything. */
const PATIENCE = 30_000;

const ROBOTS = "api/robots";
const FIELDS = "fields=id,name,type,year";

/** The robots whose name contains a text, so many behind a name; `next` goes on behind them. */
export async function find(query, after, limit, signal) {
  // A browser takes these two for the folders of a path, however they are written.
  if (query === "." || query === "..") return sift(query, after, limit, signal);
  const path = query === "" ? ROBOTS : `${ROBOTS}/search/${encodeURIComponent(query)}`;
  return page(path, after, limit, signal);
}

async function page(path, after, limit, signal) {
  const behind = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
  const asked = `${path}?${FIELDS}&limit=${limit}${behind}`;
  const { value, headers } = await send("GET", asked, { signal });
  const hasNext = /rel="?next/.test(headers.get("link") ?? "");
  return { robots: value, next: hasNext ? value.at(-1).name : undefined };
}

/** What a search would find, of the whole list. */
async function sift(query, after, limit, signal) {
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

/** The robot of exactly this name: `null` if there is none, `undefined` if that cannot be told. */
export async function named(name) {
  const { robots, next } = await find(name, "", 1000);
  return robots.find((robot) => robot.name === name) ?? (next === undefined ? null : undefined);
}

export async function add(draft) {
  return (await send("POST", ROBOTS, { body: bodyOf(draft) })).value.data;
}

export async function replace(id, draft) {
  await send("PUT", `${ROBOTS}/${id}`, { body: bodyOf(draft) });
}

export async function remove(id) {
  await send("DELETE", `${ROBOTS}/${id}`);
}

/** Asks for little, to see whether somebody answers. */
export async function probe() {
  await send("GET", `${ROBOTS}?limit=1`);
}

/** The body of a robot. A year goes out as it was typed, so that the service can say what is
    wrong with it; JSON has no number with zeros before it. */
export function bodyOf({ name, type, year }) {
  const digits = year.trim();
  const literal = /^-?\d+$/.test(digits)
    ? digits.replace(/^(-?)0+(?=\d)/, "$1")
    : JSON.stringify(digits === "" ? null : digits);
  return `{"name":${JSON.stringify(name)},"type":${JSON.stringify(type)},"year":${literal}}`;
}

/** JSON with each number as text. In strings nothing is changed. */
export function read(text) {
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
  return JSON.parse(text.replace(token, (found) => (found[0] === '"' ? found : `"${found}"`)));
}

async function send(method, path, { body, signal } = {}) {
  const headers = { Accept: "application/json" };
  if (kept()) headers.Authorization = `Bearer ${kept()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const patience = AbortSignal.timeout(PATIENCE);
  const either = signal ? AbortSignal.any([signal, patience]) : patience;
  let answer, text;
  try {
    answer = await fetch(path, { method, headers, body, signal: either, cache: "no-store" });
    text = await answer.text();
  } catch {
    // What was called off by the page itself is nobody's failure, and nobody waits for it.
    signal?.throwIfAborted();
    throw new Away();
  }
  const value = understood(text);
  if (answer.ok && value !== undefined) return { value, headers: answer.headers };
  const asksForToken = answer.headers.has("www-authenticate");
  throw new Refusal(answer.status, messagesOf(answer, value), asksForToken);
}

function understood(text) {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function messagesOf(answer, value) {
  const messages = Array.isArray(value?.messages) ? value.messages.map(String) : [];
  return messages.length > 0 ? messages : [`The server answers ${answer.status}, and not why.`];
}
