// Times for people.

import { element } from "./elements.js";

const ONE_DAY = 86_400_000;

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** An element with a time of the service: near ones in words, and the exact one when the pointer is on it. */
export function timeOf(text, now = new Date()) {
  const time = new Date(text);
  return element("time", { datetime: text, title: exact.format(time) }, inWords(time, now));
}

/** The author and the time of a change, as far as they are known. */
export function authorAndTime({ by, at }) {
  return [...(by ? [element("b", {}, by), " "] : []), ...(at ? [timeOf(at)] : [])];
}

function inWords(time, now) {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const days = Math.round((new Date(now).setHours(0, 0, 0, 0) - new Date(time).setHours(0, 0, 0, 0)) / ONE_DAY);
  const date = days < 2 ? ["today", "yesterday"][days] : (time.getFullYear() === now.getFullYear() ? day : dayOfYear).format(time);
  return `${date}, ${clock.format(time)}`;
}
