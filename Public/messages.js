// Short messages: a line at the bottom of the page for some seconds, with at most one action, and the same
// sentence for screen readers.

import { button, byId, fill, h } from "./dom.js";

const shownMilliseconds = 8000;

let timer;
let lastAction = null;

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
  if (action) lastAction = action;
  fill(box, h("span", {}, sentence),
    link && h("a", { href: link.href }, link.label),
    action && button({ onclick: undoLast }, action.label));
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

/** Runs the last action that a message offered. False where there is none. */
export function undoLast() {
  const action = lastAction;
  lastAction = null;
  byId("toast").hidden = true;
  action?.run();
  return action !== null;
}
