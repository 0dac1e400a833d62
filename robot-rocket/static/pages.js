// The pages of the list that are in the document: a window that slides over a catalogue of any
// length, so that a million robots take no more memory than some hundreds.
//
// The service has pages by name and no numbers, so that the way back is remembered: of each page
// that went, the name that it began behind.

import { find } from "./api.js";
import { byId, element, show } from "./elements.js";

/** Robots of a page. */
const SIZE = 100;

/** Pages in the document at a time. */
const MOST = 4;

/** How near the end of the window comes to that of the list before there is more. */
const NEAR = "900px 0px";

/** Compares names as the service orders them, by code points; JavaScript has its own order. */
export function compare(one, other) {
  const [ones, others] = [[...one], [...other]];
  const at = ones.findIndex((character, index) => character !== others[index]);
  if (at === -1) return ones.length - others.length;
  return at < others.length ? ones[at].codePointAt(0) - others[at].codePointAt(0) : 1;
}

export class Pages {
  #rowOf;
  #changed;
  #failed;
  #query = "";
  #calls = new AbortController();
  #isBusy = false;

  /** What was before the window: `after`, `next` and `count` of each page. */
  #gone = [];

  /** What is in it: the same, with `body` and `entries` (a robot and its row). */
  #pages = [];

  #ends;

  /** `rowOf` makes the row of a robot. `changed` is called when there are other robots, with
      "opening", "opened" or "grown", and `failed` with an error and what to do again. */
  constructor(rowOf, changed, failed) {
    this.#rowOf = rowOf;
    this.#changed = changed;
    this.#failed = failed;
    byId("more").addEventListener("click", () => this.#more());
    byId("earlier").addEventListener("click", () => this.#back());
    this.#ends = new IntersectionObserver((seen) => this.#near(seen), { rootMargin: NEAR });
  }

  get query() {
    return this.#query;
  }

  /** How many robots there are up to the end of the window. */
  get count() {
    const counts = [...this.#gone.map((page) => page.count), ...this.#pages.map(countOf)];
    return counts.reduce((sum, count) => sum + count, 0);
  }

  get isWhole() {
    return this.#pages.at(-1)?.next === undefined;
  }

  /** Shows the robots whose name contains a text, from the first one on. */
  open(query) {
    this.#calls.abort();
    this.#calls = new AbortController();
    this.#isBusy = false;
    this.#query = query;
    return this.#load(() => this.open(query), async (signal) => {
      const found = await find(query, "", SIZE, signal);
      for (const page of this.#pages) page.body.remove();
      this.#gone = [];
      this.#pages = [];
      this.#changed("opening");
      this.#append({ after: "", ...found });
      this.#changed("opened");
    });
  }

  /** The robots behind those in the window. */
  #more() {
    const after = this.#pages.at(-1)?.next;
    if (this.#isBusy || after === undefined) return;
    this.#load(() => this.#more(), async (signal) => {
      const found = await find(this.#query, after, SIZE, signal);
      this.#staying(() => {
        this.#append({ after, ...found });
        if (this.#pages.length > MOST) {
          const page = this.#take(this.#pages.shift());
          this.#gone.push({ after: page.after, next: page.next, count: countOf(page) });
        }
      });
      this.#changed("grown");
      if (document.activeElement === byId("more") && this.isWhole) this.#focusLastPage();
    });
  }

  /** The robots before those in the window. */
  #back() {
    const page = this.#gone.at(-1);
    if (this.#isBusy || page === undefined) return;
    this.#load(() => this.#back(), async (signal) => {
      const robots = await this.#between(page.after, page.next, signal);
      this.#staying(() => {
        this.#gone.pop();
        this.#prepend({ ...page, robots });
        if (this.#pages.length > MOST) this.#take(this.#pages.pop());
      });
      this.#changed("grown");
    });
  }

  /** The robots of a page, whatever was added and deleted there since. */
  async #between(after, last, signal) {
    const robots = [];
    let next = after;
    while (next !== undefined && compare(next, last) < 0) {
      const found = await find(this.#query, next, SIZE, signal);
      robots.push(...found.robots.filter((robot) => compare(robot.name, last) <= 0));
      next = found.next;
    }
    return robots;
  }

  async #load(again, work) {
    const { signal } = this.#calls;
    this.#isBusy = true;
    byId("table").setAttribute("aria-busy", "true");
    try {
      await work(signal);
    } catch (error) {
      if (!signal.aborted) this.#failed(error, again);
      return;
    } finally {
      if (!signal.aborted) {
        this.#isBusy = false;
        byId("table").removeAttribute("aria-busy");
      }
    }
    this.#watch();
  }

  /** Whether there is more is found out each time anew, because nothing is told of an end that
      was in sight before and still is. */
  #watch() {
    show(byId("more"), !this.isWhole);
    show(byId("earlier"), this.#gone.length > 0);
    this.#ends.disconnect();
    for (const id of ["more", "earlier"]) this.#ends.observe(byId(id));
  }

  #near(seen) {
    const isSeen = (id) => seen.some((entry) => entry.isIntersecting && entry.target.id === id);
    if (isSeen("more")) this.#more();
    else if (isSeen("earlier")) this.#back();
  }

  #append(page) {
    this.#pages.push(this.#made(page));
    byId("table").append(this.#pages.at(-1).body);
    this.#number();
  }

  #prepend(page) {
    this.#pages.unshift(this.#made(page));
    this.#pages[1].body.before(this.#pages[0].body);
    this.#number();
  }

  #made({ after, next, robots }) {
    const entries = robots.map((robot) => ({ robot, row: this.#rowOf(robot) }));
    const rows = entries.flatMap(({ row }) => row ?? []);
    return { after, next, entries, body: element("tbody", { role: "rowgroup" }, ...rows) };
  }

  /** Takes a page out of the document. A focus in it would be lost without a word. */
  #take(page) {
    if (page.body.contains(document.activeElement)) byId("robots").focus({ preventScroll: true });
    page.body.remove();
    return page;
  }

  /** Changes the pages, and keeps what is seen of them where it is. */
  #staying(change) {
    const middle = this.#pages[Math.floor(this.#pages.length / 2)].body;
    const before = middle.getBoundingClientRect().top;
    change();
    show(byId("earlier"), this.#gone.length > 0);
    scrollBy(0, middle.getBoundingClientRect().top - before);
  }

  #focusLastPage() {
    this.#pages.at(-1).body.querySelector("button")?.focus();
  }

  /** Numbers the rows for screen readers; the headings are the first. */
  #number() {
    let number = this.#gone.reduce((sum, page) => sum + page.count, 2);
    for (const { entries } of this.#pages) {
      for (const { row } of entries) row?.setAttribute("aria-rowindex", number++);
    }
  }

  /** Lets go of a robot that was deleted. */
  remove(id) {
    for (const page of this.#pages) {
      const entry = page.entries.find(({ robot }) => robot.id === id);
      if (entry) page.entries.splice(page.entries.indexOf(entry), 1);
    }
    this.#number();
  }

  /** Knows a robot under its new values, in another row. */
  change(robot, row) {
    const entries = this.#pages.flatMap((page) => page.entries);
    const entry = entries.find((known) => known.robot.id === robot.id);
    if (entry) Object.assign(entry, { robot, row });
    this.#number();
  }

  /** Puts a robot where it belongs, if that is in the window and the search finds it; its row. */
  place(robot) {
    const reaches = ({ next }) => next === undefined || compare(robot.name, next) <= 0;
    const isBehindStart = this.#pages.length > 0 && compare(robot.name, this.#pages[0].after) > 0;
    const page = this.#pages.find(reaches);
    if (!isBehindStart || !page || !robot.name.includes(this.#query)) return undefined;
    const entry = { robot, row: this.#rowOf(robot) };
    const at = page.entries.findIndex((known) => compare(known.robot.name, robot.name) > 0);
    const following = page.entries.slice(at === -1 ? Infinity : at).find(({ row }) => row);
    page.entries.splice(at === -1 ? page.entries.length : at, 0, entry);
    page.body.insertBefore(entry.row, following?.row ?? null);
    this.#number();
    return entry.row;
  }
}

/** How many robots of a page are shown in it: one that was just added has its row elsewhere. */
function countOf(page) {
  return page.entries.filter(({ row }) => row).length;
}
