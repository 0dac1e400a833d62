// The menu that exports what the list shows to a file: the robots, in their order, with the shown columns.

import { action } from "./action.js";
import { currentView } from "./address.js";
import { announce } from "./announcements.js";
import { orNoResponse, responseTo } from "./api.js";
import { shownColumns } from "./columns.js";
import { byId, element } from "./elements.js";
import { printList } from "./list.js";
import { closeMenu, startMenu } from "./panels.js";
import { definition } from "./robot.js";
import { filterOf } from "./view.js";

/** Milliseconds until the browser has surely started to save a file. */
const SAVING = 60_000;

/** The link of each format. */
const links = byId("exports").querySelectorAll("a");

/** Starts the menu. */
export function startExporting() {
  startMenu(byId("export"));
  byId("export").addEventListener("toggle", offer);
  byId("export-all").addEventListener("change", offer);
  for (const link of links) link.addEventListener("click", follow);
  byId("print").addEventListener("click", () => {
    closeMenu(byId("export"));
    printList();
  });
}

/** Offers what is shown now; or all fields, with ids and revisions, so that the file can be changed and imported again. */
function offer() {
  const { sort, ...view } = currentView();
  const fields = byId("export-all").checked ? "*" : shownColumns().map(({ key }) => key).join(",");
  const parameters = new URLSearchParams([...filterOf(view), ["sort", sort], ["fields", fields]]);
  for (const link of links) link.search = `${link.dataset.format}&${parameters}`;
}

/** The page receives the file, since a link has no token to send, and the service does not name it as its owner does. */
function follow(event) {
  const { href, download } = event.currentTarget;
  closeMenu(byId("export"));
  event.preventDefault();
  receive(href, download.replace("robots", definition.document.title ?? "robots"));
}

const receive = action({
  async perform(address, name) {
    showState("Exporting…");
    try {
      const { body } = await responseTo(address);
      save(await orNoResponse(new Response(body.pipeThrough(counted())).blob()), name);
    } finally {
      showState("");
    }
    announce(`Exported ${name}.`);
  },
  failed({ messages }) {
    showState(`The file is not complete. ${messages.join(" ")}`);
    announce(byId("export-state").textContent);
  },
});

/** Shows the number of bytes that pass. */
function counted() {
  let count = 0;
  return new TransformStream({
    transform(bytes, controller) {
      count += bytes.length;
      showState(`Exporting… ${(count / 1e6).toFixed(1)} MB`);
      controller.enqueue(bytes);
    },
  });
}

function showState(text) {
  byId("export-state").textContent = text;
}

/** Saves a blob, which browsers keep on disk if it is large. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), SAVING);
}
