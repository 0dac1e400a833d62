// The bars of the chart: for each, its label at the axis, its title, the numbers of robots by series, and the conditions
// of the filter that shows them. Years, dates and numbers are in bins.

import { inWords } from "./kinds.js";
import { member } from "./robot.js";
import { NONE } from "./view.js";

/** The maximum number of bins and gaps, and of bars of other values. */
const MAX_BINS = 16;

/** The maximum number of values in the table of the chart. */
export const MAX_VALUES = 1000;

/** The maximum number of consecutive bins without robots. */
const MAX_EMPTY = 3;

/** What is shown instead of more of them. */
const GAP = { label: "⋯", counts: new Map() };

/** The years that the service can store. */
const [MIN_YEAR, MAX_YEAR] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Years with more characters are shown as powers of ten. */
const MAX_DIGITS = 6;

const SCIENTIFIC = new Intl.NumberFormat("en", { notation: "scientific", maximumSignificantDigits: 3 });

/** The series of a bar that is not divided. */
const ALL = "";

/** The bins of decades in order. Their step is the smallest one with which they are few enough, so that years from
    -10^18 to 10^18 have room. */
export function binsOf(groups) {
  const decades = groups.map(({ type, decade, count }) => ({ series: type ?? "no type", start: decade, count }));
  const choose = (from, to) => ({ year_from: String(from), year_to: String(to) });
  return intervals(decades, 10n, choose, "no year", { year: NONE });
}

/** The bins of a date by its years, which the service counts. */
export function dateBins(key, groups) {
  const years = groups.map(({ value, count }) => ({ series: ALL, start: value, count }));
  const year = (number) => String(number).padStart(4, "0");
  const choose = (from, to) => ({ [`${key}_from`]: `${year(from)}-01-01`, [`${key}_to`]: `${year(to)}-12-31` });
  return intervals(years, 1n, choose, "none", { [key]: NONE });
}

function intervals(groups, least, choose, words, conditions) {
  const isKnown = ({ start }) => (start ?? "") !== "";
  const known = groups.filter(isKnown).map((group) => ({ ...group, start: BigInt(group.start) }));
  const none = groups.filter((group) => !isKnown(group));
  let bins;
  for (let at = 0; !bins; at++) bins = binned(known, stepAt(at, least), choose);
  if (none.length > 0) {
    if (bins.length > 0) bins.push(GAP);
    bins.push({ title: words, label: words, counts: countsOf(none), conditions });
  }
  return bins;
}

/** The steps are those of the service, 1 or 10 years, then 2, 5, 10, … times as many. */
function stepAt(at, least) {
  return [1n, 2n, 5n][at % 3] * least * 10n ** BigInt(Math.floor(at / 3));
}

/** The bins of a step from the first one with robots to the last one; undefined if they are too many. */
function binned(groups, step, choose) {
  const filled = new Map();
  for (const group of groups) {
    const start = group.start - (((group.start % step) + step) % step);
    if (!filled.has(start)) filled.set(start, []);
    filled.get(start).push(group);
    if (filled.size > MAX_BINS) return undefined;
  }
  const starts = [...filled.keys()].sort((one, other) => (one < other ? -1 : 1));
  const bins = starts.flatMap((start, index) => {
    const before = index === 0 ? start : starts[index - 1] + step;
    const bin = binAt(start, step, filled.get(start), choose);
    const empty = Number((start - before) / step);
    if (empty > MAX_EMPTY) return [GAP, bin];
    const binAfter = (_, at) => binAt(before + step * BigInt(at), step, [], choose);
    return [...Array.from({ length: empty }, binAfter), bin];
  });
  return bins.length > MAX_BINS ? undefined : bins;
}

function binAt(start, step, groups, choose) {
  const end = start + step - 1n;
  const from = start < MIN_YEAR ? MIN_YEAR : start;
  const to = end > MAX_YEAR ? MAX_YEAR : end;
  const text = String(start);
  const label = text.length > MAX_DIGITS ? SCIENTIFIC.format(start) : text;
  const title = from === to ? String(from) : `${from}${start < 0n ? " to " : "–"}${to}`;
  return { title, label, counts: countsOf(groups), conditions: choose(from, to) };
}

function countsOf(groups) {
  const counts = new Map();
  for (const { series, count } of groups) counts.set(series, (counts.get(series) ?? 0) + count);
  return counts;
}

/** The ends of about ten bins of equal width for numbers, of which both ends are known. */
export function numberRanges(least, greatest, isWhole) {
  const rough = (greatest - least) / 10 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const nice = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const step = isWhole ? Math.max(1, Math.round(nice)) : nice;
  const at = (number) => Number((Math.floor(least / step) * step + number * step).toPrecision(12));
  const ranges = [];
  for (let number = 0; at(number) <= greatest; number++) {
    const end = at(number + 1);
    // The greatest number below the next bin.
    ranges.push({ from: at(number), to: isWhole ? end - 1 : end - Math.abs(end) * Number.EPSILON });
  }
  return ranges;
}

/** The end of a bin for people. */
export const rounded = (number) => String(Number(Number(number).toPrecision(12)));

/** The bars of counted ranges of numbers; `none` is the number of robots without a value. */
export function rangeBars(key, ranges, none) {
  const bars = ranges.map(({ from, to, count }) => ({
    title: from === to ? String(from) : `${from} – ${rounded(to)}`,
    label: String(from),
    counts: new Map(count > 0 ? [[ALL, count]] : []),
    conditions: { [`${key}_from`]: String(from), [`${key}_to`]: String(to) },
  }));
  const last = { title: "none", label: "none", counts: new Map([[ALL, none]]), conditions: { [key]: NONE } };
  return none > 0 ? [...bars, GAP, last] : bars;
}

/** A bar for each value, and one for the others. */
export function valueBars(key, groups, count) {
  const { input, choices } = member(key);
  const place = ({ value }) => (choices.indexOf(value) + 1 || choices.length + 1);
  const ordered = choices.length > 0 ? groups.toSorted((one, other) => place(one) - place(other)) : groups;
  const [known, none] = [true, false].map((is) => ordered.filter(({ value }) => (value !== "") === is));
  const bars = [...known, ...none].map(({ value, count }) => {
    const words = value === "" ? "none" : inWords(input, value);
    const chosen = value || NONE;
    const conditions = { [key]: ["choice", "boolean"].includes(input) ? [chosen] : chosen };
    return { title: words, label: words, isWord: true, isNone: value === "", counts: new Map([[value, count]]), conditions };
  });
  return [...bars, ...others(count - sumOf(bars))];
}

/** The bar of so many others, if there are any. */
function others(count) {
  return count > 0 ? [{ title: "all others", label: "others", isWord: true, counts: new Map([[ALL, count]]) }] : [];
}

/** The bars for which a picture has room: of many values, the first ones, and one for the others. */
export function drawable(bars) {
  if (bars.length <= MAX_BINS || !bars.every(({ isWord }) => isWord)) return bars;
  const kept = bars.filter(({ isNone }, index) => isNone || index < MAX_BINS - 2);
  return [...kept, ...others(sumOf(bars) - sumOf(kept))];
}

const sumOf = (bars) => bars.reduce((sum, { counts }) => sum + total(counts), 0);

/** The number of robots of a bar. */
export function total(counts) {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}
