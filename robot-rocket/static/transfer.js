// Files of robots, sent to and received from the service. They may have a million robots, so they
// are passed on in pieces.

import { ApiError, FileError, NoAnswer, ROBOTS, commonHeaders, parsed } from "./api.js";
import { element } from "./elements.js";
import { filterWithText } from "./view.js";

/** Milliseconds until the browser has surely started to save a file. */
const SAVING = 60_000;

/** Imports a file. `progress` is called with the part that was sent, from 0 to 1. Returns whether
    the service has accepted it, what it has done (`data`, if it has done anything), and `messages`
    about records. Fails if what it has done is unknown. `XMLHttpRequest`, because `fetch` shows no progress. */
export function upload(file, format, onConflict, { signal, progress }) {
  const parameters = new URLSearchParams({ format, on_conflict: onConflict });
  const request = new XMLHttpRequest();
  request.open("POST", `${ROBOTS}/import?${parameters}`);
  for (const [name, value] of Object.entries(commonHeaders())) {
    request.setRequestHeader(name, value);
  }
  return new Promise((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 1);
    request.onerror = () => reject(new NoAnswer());
    request.onabort = () => reject(signal.reason);
    request.onload = () => {
      const value = parsed(request.responseText);
      const error = new ApiError(answerOf(request), value);
      const isUnknown = request.status >= 500 && !value?.data;
      if (error.needsToken || isUnknown) return reject(error);
      const isDone = request.status === 200;
      const messages = value?.messages ?? (isDone ? [] : error.messages);
      resolve({ isDone, data: value?.data, messages });
    };
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** The parts of an answer that an error needs. */
function answerOf(request) {
  const headers = new Headers();
  for (const name of ["retry-after", "www-authenticate"]) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return { status: request.status, headers };
}

/** The address of the file with the robots of a view, in one of the service's formats. */
export function exportAddress(view, format) {
  return `${ROBOTS}/export?${new URLSearchParams([...format, ...filterWithText(view)])}`;
}

/** Saves a file of the service under a name, for which a link has no token to send. Returns whether
    the user has chosen a place for it. */
export async function download(address, name, progress) {
  const file = await chosenFile(name);
  if (file === null) return false;
  const answer = await answered(fetch(address, { headers: commonHeaders(), cache: "no-store" }));
  if (!answer.ok) throw new ApiError(answer, parsed(await answered(answer.text())));
  const bytes = received(answer.body).pipeThrough(counting(progress));
  if (file) await written(bytes, file);
  else save(await answered(new Response(bytes).blob()), name);
  return true;
}

/** What the service answers, or NoAnswer. */
function answered(promise) {
  return promise.catch(() => {
    throw new NoAnswer();
  });
}

/** The bytes of an answer. An error while they are received is NoAnswer. */
function received(body) {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await answered(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Writes bytes to a file. */
async function written(bytes, file) {
  try {
    await bytes.pipeTo(await file.createWritable());
  } catch (error) {
    if (error instanceof NoAnswer) throw error;
    if (!bytes.locked) await bytes.cancel(error);
    throw new FileError(error);
  }
}

/** The file that the user chooses, to which the browser can write while it receives. Undefined if
    the browser cannot do that, null if the user chooses none. */
async function chosenFile(name) {
  try {
    return await window.showSaveFilePicker?.({ suggestedName: name });
  } catch (error) {
    if (error.name === "AbortError") return null;
    return undefined;
  }
}

/** Other browsers save a whole blob, which they may keep on disk. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVING);
}

/** Passes bytes on, and calls `progress` with their number so far. */
function counting(progress) {
  let count = 0;
  return new TransformStream({
    transform(piece, controller) {
      count += piece.length;
      progress(count);
      controller.enqueue(piece);
    },
  });
}
