// The members of a robot, as the service defines them.
//
// A year has up to 19 digits, more than a JavaScript number can hold, so all values are text.

import { MEMBERS } from "./definition.js";

export { MEMBERS };

/** The members whose values are one of several. */
export const CHOICES = MEMBERS.filter(({ input }) => input === "choice");

/** The types of robots, by which the service counts them. */
export const TYPES = CHOICES.find(({ key }) => key === "type").choices;

/** The number of colors in the style sheet. */
const COLORS = 6;

/** The class of a choice, which has a color by its position; empty if another version of the service
    has stored the value. */
export function colorOf(choices, value) {
  const position = choices.indexOf(value);
  return position === -1 ? "" : `choice-${(position % COLORS) + 1}`;
}

/** The fields to request from the service: all members, and the revision, which every change
    increases. */
export const FIELDS = ["id", ...MEMBERS.map(({ key }) => key), "revision"].join(",");

/** The revision of a new robot. */
export const FIRST_REVISION = "1";

/** A draft with an entry per member. */
export function draftOf(valueOf) {
  return Object.fromEntries(MEMBERS.map((member) => [member.key, valueOf(member)]));
}

/** A draft with the values that the service stores for it. */
export function stored(draft) {
  return draftOf(({ key, input }) => (input === "digits" ? digits(draft[key]) : draft[key]));
}

/** Whether two drafts have the same values. */
export function isSame(left, right) {
  return MEMBERS.every(({ key }) => left[key] === right[key]);
}

/** The request body for a draft. Members that it does not have are left out. Digits are sent as
    typed, so that the service can report an error, but without leading zeros, which JSON does not
    allow. */
export function bodyOf(draft) {
  const members = MEMBERS.filter(({ key }) => key in draft).map(({ key, input }) => {
    const literal = input === "digits" ? number(draft[key]) : JSON.stringify(draft[key]);
    return `${JSON.stringify(key)}:${literal}`;
  });
  return `{${members.join(",")}}`;
}

function number(typed) {
  const text = digits(typed);
  return /^-?\d+$/.test(text) ? text : JSON.stringify(text === "" ? null : text);
}

function digits(typed) {
  const text = typed.trim().replace(/^(-?)0+(?=\d)/, "$1");
  return text === "-0" ? "0" : text;
}
