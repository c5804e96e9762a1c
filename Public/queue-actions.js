// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "./api.js";
import { ask, sheet } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { attempt, toast } from "./messages.js";
import { titleOf } from "./queue-state.js";
import { takeBack } from "./undo.js";
import { words } from "./words.js";

const partSize = 500;

/** @param {OperationAction} action */
const send = (action, { id, revision }) =>
  operator.post(`/operations/${encodeURIComponent(id)}/${action}`, { revision });

/** Retries or discards one operation; asks before it discards. */
export async function act(action, operation) {
  if (action === "discard") {
    const isSure = await ask(words.discard, words.discardAsk(titleOf(operation)), words.discard);
    if (!isSure) return;
  }
  await attempt(async () => {
    await send(action, operation);
    if (action === "discard") toast(words.discarded, takeBack([operation.id]));
    else toast(words.retried);
  });
}

/** Retries or discards the operations that were picked, one by one; asks before it discards. */
export async function actOnEach(action, operations) {
  if (action === "discard") {
    const isSure = await ask(words.discard, words.bulkAsk.discard(operations.length), words.discard);
    if (!isSure) return;
  }
  const done = [];
  // The latest comes first, because an operation goes before the one that it builds on.
  for (const operation of [...operations].sort((a, b) => b.seq - a.seq))
    await send(action, operation).then(() => done.unshift(operation.id), () => {});
  report(action, done, operations.length - done.length);
}

/**
 * Retries or discards all operations that match, after a question with their count.
 * @param {OperationAction} action
 */
export async function actOnAll(action, parameters) {
  const selection = selectionOf(parameters);
  const title = { retry: words.retryAll, discard: words.discardAll }[action];
  await attempt(async () => {
    const { matched } = await operator.post(`/operations/${action}`, { ...selection, dryRun: true });
    if (!(await ask(title(matched), words.bulkAsk[action](matched), words[action]))) return;
    const outcome = await partByPart(action, selection, matched);
    report(action, outcome.done, outcome.refused);
  });
}

/**
 * The parameters of the list as a request names them; without a filter all are meant.
 * @returns {{ filter: OperationFilter, all?: boolean }}
 */
function selectionOf(parameters) {
  const filter = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value));
  if (filter.state === "all") delete filter.state;
  if (filter.state) filter.state = [filter.state];
  return Object.keys(filter).length ? { filter } : { filter, all: true };
}

/** @param {OperationAction} action */
async function partByPart(action, selection, matched) {
  const outcome = { done: /** @type {string[]} */ ([]), refused: 0 };
  // A single part ends before a person could read its progress.
  const progress = matched > partSize ? progressSheet(words[action]) : null;
  const draw = () => progress?.draw(words.bulkProgress(outcome.done.length + outcome.refused, matched));
  draw();
  try {
    let after = null;
    do {
      const part = await operator.post(`/operations/${action}`, { ...selection, limit: partSize, after });
      // The work began with the latest operation. Undo begins with what was done last.
      outcome.done.unshift(...part.operations.reverse());
      outcome.refused += part.refused;
      after = part.next;
      draw();
    } while (after && !progress?.isStopped());
  } finally {
    progress?.close();
  }
  return outcome;
}

/** A sheet that tells how far the work is, with a button that stops it. */
function progressSheet(title) {
  let isStopped = false;
  let close = () => {};
  const line = h("p", {});
  sheet(title, (closeSheet) => {
    close = closeSheet;
    const stop = button({ onclick: () => closeSheet() }, words.cancelSync);
    return [line, h("div", { class: "actions end" }, stop)];
  }).then(() => (isStopped = true));
  return { draw: (text) => fill(line, text), close: () => close(), isStopped: () => isStopped };
}

function report(action, done, refused) {
  const undo = action === "discard" && done.length ? takeBack(done) : undefined;
  toast(words.bulkDone(done.length, refused), undo);
}
