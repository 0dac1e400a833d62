// The changes of others as they happen: one stream of server-sent events for all tabs of the browser.
//
// The tab that has the lock reads the stream, and sends the changes to the others, which take the lock if it is silent. Each
// tab knows the position after the last change that it has seen, so that it misses none: what does not follow it is read again.

import { changesAfter, changesIn, onListed, streamAfter } from "./api.js";
import { ownStored, reportChanges } from "./changes.js";
import { button, byId, show } from "./elements.js";
import { reopen } from "./list.js";
import { rereadRecord } from "./record.js";
import { read } from "./robot.js";
import { requestToken, token } from "./token.js";

const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;

/** Milliseconds without a byte after which a connection is given up, or the tab that reads the stream. The service sends a
    comment every 15 seconds. */
const SILENCE = 40_000;

/** Milliseconds between changes that are shown. Shorter, and many changes repeat the requests of the page. */
const INTERVAL = 300;

/** Statuses that another attempt does not change: no permission, or no history. */
const LASTING = [400, 401, 403, 404, 501];

/** The position after the last change that this tab has seen; undefined until the list is read, or if it is too old. */
let position;

/** The channel between the tabs, which have the same token, and what ends it. */
let channel;
let calls = new AbortController();

/** Called with each sign of the tab that reads the stream; and the timer that ends if there is none. */
let expectSign = () => {};
let overdue;

/** Changes are followed one list after the other. */
let queue = Promise.resolve();

const LOST = "Not live: the connection is lost. Changes of others appear when it is back.";
const NO_TOKEN = "Not live: changes of others need a token that permits reading. ";

/** Starts following as soon as the list is read. */
export function startLive() {
  onListed((listed) => {
    if (position === undefined || channel?.name !== nameNow()) position = listed ?? undefined;
    connectLive();
  });
}

/** Reads again what is shown, since changes were missed. */
function reread() {
  rereadRecord();
  return reopen();
}

/** Follows with the present token. */
export function connectLive() {
  if (position !== undefined && channel?.name !== nameNow()) open(nameNow());
}

const nameNow = () => `robots-live ${new URL(".", location.href).pathname} ${token()}`;

function open(name) {
  close();
  showLost("");
  calls = new AbortController();
  const { signal } = calls;
  channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => receive(data);
  // Outside of HTTPS there are no locks: then each visible tab has a stream.
  if (navigator.locks) takeTurns(name, signal);
  else leadWhileVisible(signal);
}

function close() {
  calls.abort();
  channel?.close();
  channel = undefined;
}

/** Leads while this tab has the lock. It takes the lock from a tab that is silent, and another one may take it from this. */
async function takeTurns(name, signal) {
  let isSilent = false;
  while (!signal.aborted) {
    const turn = new AbortController();
    const ended = AbortSignal.any([signal, turn.signal]);
    expectSign = () => {
      clearTimeout(overdue);
      overdue = setTimeout(() => turn.abort(), SILENCE);
    };
    expectSign();
    const options = isSilent ? { steal: true } : { signal: ended };
    // Without the permission to use locks, the page is not live.
    await navigator.locks.request(name, options, () => lead(ended)).catch(({ name }) => name === "AbortError" || close());
    isSilent = turn.signal.aborted;
    turn.abort();
  }
}

function leadWhileVisible(signal) {
  let own = new AbortController();
  const look = () => {
    own.abort();
    own = new AbortController();
    if (document.visibilityState === "visible") lead(AbortSignal.any([signal, own.signal]));
  };
  document.addEventListener("visibilitychange", look, { signal });
  look();
}

/** Sends something to all tabs, also to this one. */
function send(message) {
  channel.postMessage(message);
  receive(message);
}

/** Reads the stream until the signal, and again whenever it ends. */
async function lead(signal) {
  let pause = SHORTEST_PAUSE;
  while (!signal.aborted) {
    try {
      if (position === undefined) await reread();
      else await readStream(signal, () => (pause = SHORTEST_PAUSE));
    } catch (error) {
      if (signal.aborted) return;
      // The next list that is read tries it again.
      if (LASTING.includes(error.status)) {
        close();
        if (error.needsToken) showLost(NO_TOKEN, button("Sign in", () => requestToken(error, reread)));
        return;
      }
      send(error.status === 410 ? { isGone: true } : { isLost: true });
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

async function readStream(signal, connected) {
  const silent = new AbortController();
  let [text, sent, time] = ["", position, -Infinity];
  let silence, sending;
  const wait = () => {
    clearTimeout(silence);
    silence = setTimeout(() => silent.abort(), SILENCE);
  };
  const sendEvents = () => {
    sending = undefined;
    const end = text.lastIndexOf("\n\n");
    if (end === -1) return;
    const events = text.slice(0, end).split("\n\n");
    [text, time] = [text.slice(end + 2), performance.now()];
    const changes = events.flatMap((event) => part(event, "data") ?? []).map(read);
    const until = events.map((event) => part(event, "id")).findLast(Boolean) ?? sent;
    send({ after: sent, changes, until });
    sent = until;
  };
  try {
    wait();
    const response = await streamAfter(position, AbortSignal.any([signal, silent.signal]));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      wait();
      connected();
      text += value;
      sending ??= setTimeout(sendEvents, Math.max(0, time + INTERVAL - performance.now()));
    }
  } finally {
    clearTimeout(silence);
    clearTimeout(sending);
    sendEvents();
  }
}

/** A line of an event. */
const part = (event, name) => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1];

/** Follows what the tab with the stream has sent. */
function receive(message) {
  expectSign();
  queue = queue.then(ownStored).then(() => take(message)).catch(() => {});
}

async function take({ isGone, isLost = false, after, changes, until }) {
  showLost(isLost ? LOST : "");
  if (isGone) {
    position = undefined;
    return reread();
  }
  if (until === undefined || position === undefined) return;
  if (after !== position) return catchUp();
  const robots = await changesIn(changes);
  position = until;
  if (robots.length > 0) reportChanges(robots, true);
}

/** Reads what has changed since the last change that this tab has seen. */
async function catchUp() {
  try {
    const { changes, next, isLast } = await changesAfter(position);
    position = next;
    if (changes.length > 0) reportChanges(changes, true);
    if (!isLast) await catchUp();
  } catch (error) {
    if (error.status !== 410) throw error;
    position = undefined;
    await reread();
  }
}

function showLost(words, ...actions) {
  if (byId("lost").firstChild?.textContent === words) return;
  byId("lost").replaceChildren(words, ...actions);
  show(byId("lost"), words !== "");
}
