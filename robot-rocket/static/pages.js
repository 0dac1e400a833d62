// The pages of the list in the document: a sliding window, so that a million robots take no more
// memory than some hundreds.
//
// The service pages by place, not by number. For each page that has left the window, the places
// where it starts and ends are kept, to load it again.

import { START, find, showsFrom } from "./api.js";
import { byId, element, show } from "./elements.js";
import { EVERYTHING, comparator, includes } from "./view.js";

/** Robots per page. */
const SIZE = 100;

/** The minimum number of rows in the document after pages were removed from it: several times the
    height of a screen. If both ends of the window were in view, they would be loaded in turn,
    endlessly. Rows are counted, not pages, because others may have deleted most robots of a page. */
const MIN_ROWS = 400;

/** Milliseconds until a page that does not arrive is reported. */
const SLOW = 3000;

/** The distance to the end of the list at which the next page is loaded. */
const MARGIN = "900px 0px";

export class Pages {
  #rowOf;
  #changed;
  #failed;
  #calls = new AbortController();

  /** The same robots in the same order can have other columns. */
  view = EVERYTHING;

  isBusy = false;

  /** The action that is under way, if `isBusy`, or the last one; and its promise. */
  #action;
  #loading;

  /** The minimum number of rows that stay in the document. */
  #kept = MIN_ROWS;

  /** Whether the pages are those of the view: false while it is loaded, and after a failure. */
  #isOpen = false;

  /** The pages before the window: `start`, `end` and `count` of each. */
  #earlier = [];

  /** The pages in the window, with `body` and `entries` (a robot and its row). */
  #pages = [];

  /** What is shown above them: robots that were added here, and edited ones that are not on the first page. */
  #above = { entries: [], body: element("tbody", { role: "rowgroup", class: "added" }) };

  #ends;

  /** `rowOf` creates the row of a robot. `changed` is called with "opening", "opened", "grown" or "waiting",
      and `failed` with an error and the action to retry. */
  constructor(rowOf, changed, failed) {
    this.#rowOf = rowOf;
    this.#changed = changed;
    this.#failed = failed;
    byId("table").append(this.#above.body);
    byId("more").addEventListener("click", () => this.#more());
    byId("earlier").addEventListener("click", () => this.#back());
    this.#ends = new IntersectionObserver((seen) => this.#near(seen), { root: byId("scroller"), rootMargin: MARGIN });
  }

  /** The number of robots up to the end of the window. */
  get size() {
    const counts = [...this.#earlier.map((page) => page.count), ...this.#all.map(countOf)];
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** The number of those of the view. */
  get count() {
    return this.size - this.#above.entries.filter(({ robot }) => !includes(this.view, robot)).length;
  }

  get #all() {
    return [this.#above, ...this.#pages];
  }

  /** The robots in the window. */
  get robots() {
    return this.#all.flatMap(({ entries }) => entries.map(({ robot }) => robot));
  }

  get isWhole() {
    return this.#pages.at(-1)?.end === undefined;
  }

  /** Creates the rows anew, for other columns of the same robots. */
  redraw() {
    for (const entry of this.#all.flatMap(({ entries }) => entries.filter(({ row }) => row))) {
      const row = this.#rowOf(entry.robot);
      row.className = entry.row.className;
      entry.row.replaceWith(row);
      entry.row = row;
    }
    this.#number();
  }

  /** Shows the robots of a view, from the first one on. */
  open(view) {
    this.#abort();
    this.#isOpen = false;
    this.view = view;
    return this.#load(() => this.open(view), async (signal) => {
      const found = await find(view, START, SIZE, signal);
      showsFrom(found.position);
      this.#changed("opening");
      const focused = document.activeElement;
      // Later, this would lay out the rows an extra time.
      byId("scroller").scrollTop = 0;
      for (const page of this.#pages) page.body.remove();
      this.#above.entries = [];
      this.#above.body.replaceChildren();
      this.#earlier = [];
      this.#pages = [];
      this.#append({ start: START, ...found });
      this.#isOpen = true;
      this.#changed("opened");
      // A row that is edited is shown again.
      if (focused.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true });
    });
  }

  /** Shows the robots of the view from the first one on, up to so many. */
  async openWhole(most) {
    this.#kept = most;
    if (this.#earlier.length > 0) await this.open(this.view);
    for (let before = -1; this.size > before && this.size < most && !this.isWhole;) {
      before = this.size;
      await (this.isBusy ? this.#loading : this.#more());
    }
    this.#kept = MIN_ROWS;
  }

  /** Repeats the request that is under way, if any: its response may be older than a change that the
      user has made. */
  refresh() {
    if (!this.isBusy) return;
    this.#abort();
    this.#action();
  }

  #abort() {
    this.#calls.abort();
    this.#calls = new AbortController();
    this.isBusy = false;
  }

  /** Loads the page after the window. */
  #more() {
    const start = this.#pages.at(-1)?.end;
    if (!this.#isOpen || this.isBusy || start === undefined) return undefined;
    return this.#load(() => this.#more(), async (signal) => {
      const found = await find(this.view, start, SIZE, signal);
      this.#withoutScrolling(this.#pages.at(-1), () => {
        this.#append({ start, ...found });
        while (this.#isSurplus(this.#pages[0])) {
          const page = this.#take(this.#pages.shift());
          this.#earlier.push({ start: page.start, end: page.end, count: countOf(page) });
        }
      });
      this.#changed("grown");
      if (document.activeElement === byId("more") && this.isWhole) this.#pages.at(-1).body.querySelector("a")?.focus();
    });
  }

  /** Loads the page before the window. */
  #back() {
    const page = this.#earlier.at(-1);
    if (!this.#isOpen || this.isBusy || page === undefined) return;
    this.#load(() => this.#back(), async (signal) => {
      const robots = await this.#between(page.start, page.end, signal);
      this.#withoutScrolling(this.#pages[0], () => {
        this.#earlier.pop();
        if (robots.length > 0) this.#prepend({ ...page, robots });
        else this.#pages[0].start = page.start;
        while (this.#isSurplus(this.#pages.at(-1))) this.#take(this.#pages.pop());
      });
      this.#changed("grown");
    });
  }

  /** The current robots of a page that was shown before. */
  async #between(start, end, signal) {
    const compare = comparator(this.view.sort);
    const robots = [];
    let place = start;
    while (place && (place === start || compare(place.robot, end.robot) < 0)) {
      const found = await find(this.view, place, SIZE, signal);
      robots.push(...found.robots.filter((robot) => compare(robot, end.robot) <= 0));
      place = found.end;
    }
    return robots;
  }

  #load(again, work) {
    this.#loading = this.#run(again, work);
    return this.#loading;
  }

  async #run(again, work) {
    const { signal } = this.#calls;
    this.isBusy = true;
    this.#action = again;
    byId("table").setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.#changed("waiting"), SLOW);
    try {
      await work(signal);
    } catch (error) {
      // A fault of the page itself.
      if (!signal.aborted && !error.messages) throw error;
      // A view that was opened meanwhile takes precedence over the retry.
      if (!signal.aborted) this.#failed(error, () => signal.aborted || again());
      return;
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) {
        this.isBusy = false;
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

  #made({ start, end, robots }) {
    const isAbove = ({ id }) => this.#above.entries.some(({ robot }) => robot.id === id);
    const entries = robots.map((robot) => ({ robot, row: isAbove(robot) ? undefined : this.#rowOf(robot) }));
    const rows = entries.flatMap(({ row }) => row ?? []);
    return { start, end, entries, body: element("tbody", { role: "rowgroup" }, ...rows) };
  }

  /** Removes a page from the document, and moves the focus out of it. */
  #take(page) {
    if (page.body.contains(document.activeElement)) byId("robots").focus({ preventScroll: true });
    page.body.remove();
    return page;
  }

  /** Changes the other pages without moving the rows of one. */
  #withoutScrolling({ body }, change) {
    const before = body.getBoundingClientRect().top;
    change();
    show(byId("earlier"), this.#earlier.length > 0);
    byId("scroller").scrollBy(0, body.getBoundingClientRect().top - before);
  }

  /** Whether the window has enough rows without a page, in which the user is not editing a cell. */
  #isSurplus(page) {
    if (page.body.contains(document.activeElement.closest(".editing"))) return false;
    const rows = this.#pages.reduce((sum, each) => sum + countOf(each), 0);
    return rows - countOf(page) >= this.#kept;
  }

  /** Numbers the rows for screen readers; the header is row 1. */
  #number() {
    let number = this.#earlier.reduce((sum, page) => sum + page.count, 2);
    for (const { entries } of this.#pages) {
      for (const { row } of entries) row?.setAttribute("aria-rowindex", number++);
    }
  }

  #entry(id) {
    return this.#all.flatMap((page) => page.entries).find(({ robot }) => robot.id === id);
  }

  /** Whether a robot is in the window, or above it. */
  has(id) {
    return this.#entry(id) !== undefined;
  }

  /** The robot with an id, if it is here. */
  robot(id) {
    return this.#entry(id)?.robot;
  }

  /** The row of a robot, if it is here. */
  row(id) {
    return this.#entry(id)?.row;
  }

  /** The robot before or after another one in the window. */
  neighbour(id, step) {
    const robots = this.#all.flatMap(({ entries }) => entries.flatMap(({ robot, row }) => (row ? robot : [])));
    const at = robots.findIndex((robot) => robot.id === id);
    return at === -1 ? undefined : robots[at + step];
  }

  /** Shows a robot above the window. */
  addAbove(robot) {
    const row = this.#rowOf(robot);
    this.#above.entries.push({ robot, row });
    this.#above.body.prepend(row);
  }

  /** Removes a deleted robot and its row. */
  remove(id) {
    this.row(id)?.remove();
    for (const page of this.#all) page.entries = page.entries.filter(({ robot }) => robot.id !== id);
    this.#number();
  }

  /** Replaces the values and the row of a robot. */
  change(robot, row) {
    const entry = this.#entry(robot.id);
    if (entry) Object.assign(entry, { robot, row });
    this.#number();
  }

  /** Inserts a robot at its position, if that is in the window and the view includes it. Returns its
      row. */
  place(robot) {
    if (!this.#isOpen) return undefined;
    if (this.has(robot.id)) return this.row(robot.id);
    const compare = comparator(this.view.sort);
    const isUpTo = ({ end }) => end === undefined || compare(robot, end.robot) <= 0;
    const first = this.#pages[0]?.start.robot;
    const isAfterStart = first === undefined || compare(robot, first) > 0;
    const page = this.#pages.find(isUpTo);
    if (!isAfterStart || !page || !includes(this.view, robot)) return undefined;
    const entry = { robot, row: this.#rowOf(robot) };
    const at = page.entries.findIndex((known) => compare(known.robot, robot) > 0);
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
