// The pages of the list in the document: a sliding window, so that a million robots take no more
// memory than some hundreds.
//
// The service pages by name, not by number. For each page that has left the window, the name that
// it starts after is kept, to load it again.

import { find } from "./api.js";
import { byId, element, show } from "./elements.js";

/** Robots per page. */
const SIZE = 100;

/** The maximum number of pages in the document. */
const MAX_PAGES = 4;

/** The distance to the end of the list at which the next page is loaded. */
const MARGIN = "900px 0px";

/** Compares names by code points, as the service orders them. */
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

  /** The pages before the window: `after`, `next` and `count` of each. */
  #earlier = [];

  /** The pages in the window, with `body` and `entries` (a robot and its row). */
  #pages = [];

  #ends;

  /** `rowOf` creates the row of a robot. `changed` is called with "opening", "opened" or "grown",
      and `failed` with an error and the action to retry. */
  constructor(rowOf, changed, failed) {
    this.#rowOf = rowOf;
    this.#changed = changed;
    this.#failed = failed;
    byId("more").addEventListener("click", () => this.#more());
    byId("earlier").addEventListener("click", () => this.#back());
    this.#ends = new IntersectionObserver((seen) => this.#near(seen), { rootMargin: MARGIN });
  }

  get query() {
    return this.#query;
  }

  /** The number of robots up to the end of the window. */
  get count() {
    const counts = [...this.#earlier.map((page) => page.count), ...this.#pages.map(countOf)];
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
      this.#earlier = [];
      this.#pages = [];
      this.#changed("opening");
      this.#append({ after: "", ...found });
      this.#changed("opened");
    });
  }

  /** Loads the page after the window. */
  #more() {
    const after = this.#pages.at(-1)?.next;
    if (this.#isBusy || after === undefined) return;
    this.#load(() => this.#more(), async (signal) => {
      const found = await find(this.#query, after, SIZE, signal);
      this.#withoutScrolling(() => {
        this.#append({ after, ...found });
        if (this.#pages.length > MAX_PAGES) {
          const page = this.#take(this.#pages.shift());
          this.#earlier.push({ after: page.after, next: page.next, count: countOf(page) });
        }
      });
      this.#changed("grown");
      if (document.activeElement === byId("more") && this.isWhole) this.#focusLastPage();
    });
  }

  /** Loads the page before the window. */
  #back() {
    const page = this.#earlier.at(-1);
    if (this.#isBusy || page === undefined) return;
    this.#load(() => this.#back(), async (signal) => {
      const robots = await this.#between(page.after, page.next, signal);
      this.#withoutScrolling(() => {
        this.#earlier.pop();
        this.#prepend({ ...page, robots });
        if (this.#pages.length > MAX_PAGES) this.#take(this.#pages.pop());
      });
      this.#changed("grown");
    });
  }

  /** The current robots of a page that was shown before. */
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

  /** Observes both ends anew: an end that stays visible causes no event. */
  #watch() {
    show(byId("more"), !this.isWhole);
    show(byId("earlier"), this.#earlier.length > 0);
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

  /** Removes a page from the document, and moves the focus out of it. */
  #take(page) {
    if (page.body.contains(document.activeElement)) byId("robots").focus({ preventScroll: true });
    page.body.remove();
    return page;
  }

  /** Changes the pages without moving the visible rows. */
  #withoutScrolling(change) {
    const middle = this.#pages[Math.floor(this.#pages.length / 2)].body;
    const before = middle.getBoundingClientRect().top;
    change();
    show(byId("earlier"), this.#earlier.length > 0);
    scrollBy(0, middle.getBoundingClientRect().top - before);
  }

  #focusLastPage() {
    this.#pages.at(-1).body.querySelector("button")?.focus();
  }

  /** Numbers the rows for screen readers; the header is row 1. */
  #number() {
    let number = this.#earlier.reduce((sum, page) => sum + page.count, 2);
    for (const { entries } of this.#pages) {
      for (const { row } of entries) row?.setAttribute("aria-rowindex", number++);
    }
  }

  /** Removes a deleted robot. */
  remove(id) {
    for (const page of this.#pages) {
      const entry = page.entries.find(({ robot }) => robot.id === id);
      if (entry) page.entries.splice(page.entries.indexOf(entry), 1);
    }
    this.#number();
  }

  /** Replaces the values and the row of a robot. */
  change(robot, row) {
    const entries = this.#pages.flatMap((page) => page.entries);
    const entry = entries.find((known) => known.robot.id === robot.id);
    if (entry) Object.assign(entry, { robot, row });
    this.#number();
  }

  /** Inserts a robot at its position, if that is in the window and the search finds it. Returns its
      row. */
  place(robot) {
    const reaches = ({ next }) => next === undefined || compare(robot.name, next) <= 0;
    const isAfterStart = this.#pages.length > 0 && compare(robot.name, this.#pages[0].after) > 0;
    const page = this.#pages.find(reaches);
    if (!isAfterStart || !page || !robot.name.includes(this.#query)) return undefined;
    const entry = { robot, row: this.#rowOf(robot) };
    const at = page.entries.findIndex((known) => compare(known.robot.name, robot.name) > 0);
    const following = page.entries.slice(at === -1 ? Infinity : at).find(({ row }) => row);
    page.entries.splice(at === -1 ? page.entries.length : at, 0, entry);
    page.body.insertBefore(entry.row, following?.row ?? null);
    this.#number();
    return entry.row;
  }
}

/** The number of rows of a page. A robot that was just added has its row elsewhere. */
function countOf(page) {
  return page.entries.filter(({ row }) => row).length;
}
