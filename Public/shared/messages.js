// Short messages: a line at the bottom of the page for some seconds, with at most one action, and the same
// sentence for screen readers.

import { operator, sendDecisions } from "./api.js";
import { ask } from "./dialog.js";
import { button, byId, fill, h } from "./dom.js";
import { words } from "./words.js";

const shownMilliseconds = 8000;

let timer;
let shown = ""; // The sentence on screen.
/** @type {Action | null} */
let lastUndo = null; // The latest that a message offered and that did not work yet.
let isHolding = false; // The undo on screen is of decisions that are held back meanwhile.
let ending = Promise.resolve(); // The latest end of a hold: the next decision is held after it.

/** Tells screen readers about a change of meaning. */
export function announce(sentence) {
  const region = byId("announcer");
  region.textContent = "";
  requestAnimationFrame(() => (region.textContent = sentence));
}

/**
 * Shows a sentence, a button for the action if there is one, and a link to what the sentence is about.
 * @param {string} sentence
 * @param {Action} [action]
 * @param {{ label: string, href: string }} [link]
 */
export function toast(sentence, action, link) {
  const box = byId("toast");
  endHold();
  clearTimeout(timer);
  shown = sentence;
  isHolding = action?.isHeld === true;
  if (action?.isUndo) lastUndo = action;
  fill(box, h("span", { title: sentence }, sentence),
    link && h("a", { href: link.href }, link.label),
    action && button({ onclick: () => runAction(action) }, action.label));
  box.hidden = false;
  announce(sentence);
  timer = setTimeout(() => {
    box.hidden = true;
    endHold();
  }, shownMilliseconds);
}

/** Once the undo of decisions is no longer on screen, they are sent. */
export async function endHold() {
  if (isHolding) ending = sendDecisions();
  isHolding = false;
  await ending;
}
addEventListener("pagehide", endHold);

export const showProblem = (problem) => toast(problem.message);

/** Does `work` and shows why it did not work. Gives what it gave, else null. */
export async function attempt(work) {
  try {
    return await work();
  } catch (problem) {
    showProblem(problem);
    return null;
  }
}

/**
 * The action of a message that undoes what the message tells; `run()` gives null where it did not work.
 * @returns {Action}
 */
export const undoBy = (run) => ({ label: words.undo, run, isUndo: true });

/** Runs the latest undo that a message offered. False where there is none. */
export function undoLast() {
  if (!lastUndo) return false;
  runAction(lastUndo);
  return true;
}

/**
 * Runs an action. An undo that did not work is offered again, beside the sentence that says why.
 * @param {Action} action
 */
async function runAction(action) {
  if (action === lastUndo) lastUndo = null; // It does not run twice at once.
  if (action.isUndo) isHolding = false; // What it undoes is not sent meanwhile.
  byId("toast").hidden = true;
  const done = await action.run();
  if (done === null && action.isUndo && !lastUndo) toast(shown, action);
}

const partSize = 500;

/**
 * Undoes the latest decision about each operation, in this order, or only asks what that would do.
 * @param {string[]} ids
 * @returns {Promise<UndoneDecision[]>}
 */
async function undoDecisions(ids, dryRun, onProgress) {
  const found = [];
  for (let start = 0; start < ids.length; start += partSize) {
    const part = ids.slice(start, start + partSize);
    found.push(...(await operator.post("/history/undo", { operations: part, dryRun })).items);
    onProgress(found.length);
  }
  return found;
}

/** Whether what is undone was sent: then it is a new change, and a person is asked first. */
const isSent = ({ effect }) => effect === "reverted" || effect === "clashed";

/**
 * Asks before an undo of what was sent already. What was not sent is undone without a question.
 * @param {Pick<UndoneDecision, "effect" | "sentence">[]} planned
 */
export async function mayUndo(planned) {
  return !planned.some(isSent) || ask(words.undoAsk, words.undoSays(planned), words.undo);
}

/**
 * The action that undoes what was decided about these operations; `done(isUndone)` is called after it.
 * `isHeld` says that nothing of it is sent while the undo is on screen.
 * @param {string[]} ids
 * @param {(isUndone: boolean) => void} done
 * @returns {Action}
 */
export function takeBack(ids, done = () => {}, isHeld = false) {
  const onProgress = (count) => {
    if (ids.length > partSize) toast(words.takingBack(count, ids.length));
  };
  const run = async () => {
    const undone = await attempt(async () => {
      if (!(await mayUndo(await undoDecisions(ids, true, () => {})))) return null;
      const items = await undoDecisions(ids, false, onProgress);
      const count = items.filter(({ effect }) => effect).length;
      if (!count) throw new Error(words.undoSays(items));
      toast(words.takenBack(count, items));
      return true;
    });
    done(undone !== null);
    return undone;
  };
  return { ...undoBy(run), ...(isHeld && { isHeld }) };
}
