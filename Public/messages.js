// Short messages: a line at the bottom of the page for some seconds, with at most one action, and the same
// sentence for screen readers.

import { operator } from "./api.js";
import { button, byId, fill, h } from "./dom.js";
import { words } from "./words.js";

const shownMilliseconds = 8000;

let timer;
let shown = ""; // The sentence on screen.
/** @type {Action | null} */
let lastUndo = null; // The latest that a message offered and that did not work yet.

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
  clearTimeout(timer);
  shown = sentence;
  if (action?.isUndo) lastUndo = action;
  fill(box, h("span", { title: sentence }, sentence),
    link && h("a", { href: link.href }, link.label),
    action && button({ onclick: () => runAction(action) }, action.label));
  box.hidden = false;
  announce(sentence);
  timer = setTimeout(() => (box.hidden = true), shownMilliseconds);
}

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
  byId("toast").hidden = true;
  const done = await action.run();
  if (done === null && action.isUndo && !lastUndo) toast(shown, action);
}

const partSize = 500;

/** Undoes the latest decision about each operation, in this order. Gives how many were undone. */
async function undoDecisions(ids, onProgress) {
  let count = 0;
  for (let start = 0; start < ids.length; start += partSize) {
    const part = ids.slice(start, start + partSize);
    const { changed } = await operator.post("/history/undo", { operations: part });
    count += changed;
    onProgress(count);
  }
  if (!count) throw new Error(words.nothingToUndo);
  return count;
}

/**
 * The action that undoes what was decided about these operations; `done(isUndone)` is called after it.
 * @param {string[]} ids
 * @param {(isUndone: boolean) => void} done
 */
export function takeBack(ids, done = () => {}) {
  const onProgress = (count) => {
    if (ids.length > partSize) toast(words.takingBack(count, ids.length));
  };
  const run = async () => {
    const undone = await attempt(async () => toast(words.takenBack(await undoDecisions(ids, onProgress))));
    done(undone !== null);
    return undone;
  };
  return undoBy(run);
}
