// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "./api.js";
import { ask, askDangerous, sheet } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { attempt, toast } from "./messages.js";
import { bodyOf, titleOf } from "./queue-state.js";
import { takeBack } from "./undo.js";
import { words } from "./words.js";

const partSize = 500;
const stateAfter = { retry: "queued", discard: "discarded" };

/** @param {OperationAction} action */
const send = (action, { id, revision }) =>
  operator.post(`/operations/${encodeURIComponent(id)}/${action}`, { revision });

/** What can follow a retry, which itself sends nothing. */
const syncAfter = (sync) => ({ label: words.syncNow, run: sync });

/**
 * Retries or discards one operation; asks before it discards.
 * @param {OperationAction} action
 * @param {OperationSummary} operation
 * @param {{ sync(): void, changed(): void }} after
 */
export async function act(action, operation, { sync, changed }) {
  if (action === "discard") {
    const text = words.discardAsk(titleOf(operation));
    if (!(await askDangerous(words.discard, text, words.discardUnsent(1), 1))) return;
  }
  await attempt(async () => {
    await send(action, operation);
    if (action === "discard") toast(words.discarded, takeBack([operation.id], changed));
    else toast(words.retried, syncAfter(sync));
  });
}

/** Retries or discards the operations that were picked, one by one; asks before it discards. */
export async function actOnEach(action, operations, after) {
  if (action === "discard" && !(await askToDiscard(operations.length))) return;
  const done = [];
  // The latest comes first, because an operation goes before the one that it builds on.
  for (const operation of [...operations].sort((a, b) => b.seq - a.seq))
    await send(action, operation).then(() => done.unshift(operation.id), () => {});
  report(action, done, operations.length - done.length, after);
}

const askToDiscard = (count) =>
  askDangerous(words.discardUnsent(count), words.bulkAsk.discard(count), words.discardUnsent(count), count);

/**
 * Retries or discards all operations that match, after a question with their count.
 * @param {OperationAction} action
 * @param {QueueFilter} filter
 */
export async function actOnAll(action, filter, after) {
  const selection = bodyOf(filter);
  await attempt(async () => {
    const { matched } = await operator.post(`/operations/${action}`, { ...selection, dryRun: true });
    const isSure = action === "discard"
      ? await askToDiscard(matched)
      : await ask(words.retryAll(matched), words.bulkAsk.retry(matched), words.retry);
    if (!isSure) return;
    const outcome = await partByPart(action, selection, matched);
    report(action, outcome.done, outcome.refused, after);
  });
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

/**
 * Says what became of them, leads to them, and offers what can follow: the undo of a discard, the sync of a
 * retry.
 */
function report(action, done, refused, { sync, changed }) {
  const next = action === "discard" ? takeBack(done, changed) : syncAfter(sync);
  const text = words.bulkDone[action](done.length, refused);
  if (done.length) toast(text, next, { label: words.showThem, href: `#/queue?state=${stateAfter[action]}` });
  else toast(text);
}
