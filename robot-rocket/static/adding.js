// The form that adds a robot.

import { say } from "./announcements.js";
import { add, named } from "./api.js";
import { whenBack } from "./connection.js";
import { byId, element, spokenName } from "./elements.js";
import { Fields } from "./fields.js";
import { welcome } from "./list.js";
import { askForToken } from "./token.js";

let fields;
let isBusy = false;

/** Starts the form. */
export function startAdding() {
  fields = new Fields({ name: "", type: "", year: "" }, "shown");
  const button = element("button", { type: "submit", class: "main" }, "Add");
  const boxes = fields.all.map((field) => field.element);
  byId("add").append(fields.general, ...boxes, element("div", { class: "buttons" }, button));
  byId("add").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
}

/** Whether something was typed and not added. */
export function isUnfinished() {
  return fields.name.box.value !== "" || fields.year.box.value !== "";
}

async function submit() {
  if (isBusy) return;
  isBusy = true;
  const draft = fields.draft();
  try {
    done(await add(draft));
  } catch (error) {
    if (error.asksForToken) askForToken(error, submit);
    else if (error.isPassing) unknown(error, draft);
    else fields.tell(error);
  } finally {
    isBusy = false;
  }
}

/** The next robot may be of the same type. */
function done(robot) {
  fields.clear();
  fields.name.box.value = "";
  fields.year.box.value = "";
  fields.focus(fields.name);
  welcome(robot);
  say(`Added ${spokenName(robot.name)}, ${robot.type}, ${robot.year}.`);
}

/** Nobody answered. When somebody does, the page looks whether the robot is there. */
function unknown(error, draft) {
  const words = "Whether the robot was added will be looked up as soon as the server answers.";
  fields.tell({ status: error.status, messages: [...error.messages, words] });
  whenBack(error, async () => {
    // Where that fails, too, it stays unknown.
    const robot = await named(draft.name).catch(() => undefined);
    if (robot?.type === draft.type && !isOld(robot, draft)) return done(robot);
    const isMissing = robot === null;
    const missing = "The robot was not added. Add it again.";
    const untold = "Add the robot again; it is refused if its name is there.";
    fields.tell({ status: 0, messages: [isMissing ? missing : untold] });
  });
}

/** Whether a robot of this name is another one than the draft would have become. */
function isOld(robot, draft) {
  return robot.year !== draft.year.trim().replace(/^0+(?=\d)/, "");
}
