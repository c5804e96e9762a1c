// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "../shared/api.js";
import { decideEach } from "../conflicts/actions.js";
import { choiceButtons, manyChoices } from "../conflicts/rendering.js";
import { ask, sheet } from "../shared/dialog.js";
import { button, fill, h } from "../shared/dom.js";
import { attempt, showProblem, takeBack, toast } from "../shared/messages.js";
import { addressOfState, bodyOf, titleOf } from "./state.js";
import { queueWords as said } from "./words.js";
import { words } from "../shared/words.js";

const partSize = 500;
const eachShown = 20; // More that are done one by one have a sheet with their progress.
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
 * @param {{ sync(): void, changed(): void, retried(ids: string[]): void }} after
 */
export async function act(action, operation, { sync, changed, retried }) {
  if (action === "discard") {
    const text = said.discardAsk(titleOf(operation));
    if (!(await ask(said.discard, text, said.discardUnsent(1), "danger"))) return;
  }
  await attempt(async () => {
    await send(action, operation);
    if (action === "discard") return toast(said.discarded, takeBack([operation.id], changed));
    toast(said.retried, syncAfter(sync));
    retried([operation.id]);
  });
}

/**
 * Retries or discards operations that were picked in the list of a filter, one by one; asks before it
 * discards. Gives whether it was done.
 * @param {OperationAction} action
 * @param {OperationSummary[]} operations
 * @param {QueueFilter} filter
 */
export async function actOnEach(action, operations, filter, after) {
  const { length } = operations;
  if (action === "discard" && !(await askToDiscard(length))) return false;
  const outcome = begin();
  const progress = length > eachShown ? progressSheet(said[action]) : null;
  // The latest comes first, because an operation goes before the one that it builds on.
  for (const operation of [...operations].sort((a, b) => b.seq - a.seq)) {
    progress?.draw(said.bulkProgress(outcome.done.length + outcome.refused, length));
    await send(action, operation).then(() => outcome.done.push(operation.id), (problem) => {
      if (problem.status === 0) outcome.problem = problem; // The rest would fail as well.
      else outcome.refused++;
    });
    if (outcome.problem || progress?.isStopped()) break;
  }
  progress?.close();
  report(action, filter, outcome, after);
  return true;
}

/** Decides the conflicts among operations that were picked, by one choice; `changed()` follows an undo. */
export async function decidePicked(operations, changed) {
  const conflicts = [];
  for (const { id, state } of operations) {
    if (state === "conflict") conflicts.push(await operator.get(`/conflicts/${encodeURIComponent(id)}`));
  }
  const choice = await sheet(said.decide(conflicts.length), (close) =>
    [choiceButtons(manyChoices, close), button({ onclick: () => close() }, words.cancel)]);
  return choice ? decideEach(conflicts, choice, () => {}, changed) : false;
}

/** What became of many: the ids of those that were done in this order, and why the work ended early. */
const begin = () => ({
  done: /** @type {string[]} */ ([]), refused: 0, problem: /** @type {Error | null} */ (null),
});

const askToDiscard = (count) =>
  ask(said.discardUnsent(count), said.bulkAsk.discard(count), said.discardUnsent(count), "danger");

/**
 * Retries or discards all operations that match, after a question with their count. Gives whether it was
 * done.
 * @param {OperationAction} action
 * @param {QueueFilter} filter
 */
export async function actOnAll(action, filter, after) {
  const selection = bodyOf(filter);
  const isDone = await attempt(async () => {
    const { matched } = await operator.post(`/operations/${action}`, { ...selection, dryRun: true });
    const isSure = action === "discard"
      ? await askToDiscard(matched)
      : await ask(said.retryAll(matched), said.bulkAsk.retry(matched), said.retry);
    if (isSure) report(action, filter, await partByPart(action, selection, matched), after);
    return isSure;
  });
  return isDone === true;
}

/** @param {OperationAction} action */
async function partByPart(action, selection, matched) {
  const outcome = begin();
  // A single part ends before a person could read its progress.
  const progress = matched > partSize ? progressSheet(said[action]) : null;
  const draw = () => progress?.draw(said.bulkProgress(outcome.done.length + outcome.refused, matched));
  draw();
  try {
    let after = null;
    do {
      const part = await operator.post(`/operations/${action}`, { ...selection, limit: partSize, after });
      outcome.done.push(...part.operations);
      outcome.refused += part.refused;
      after = part.next;
      draw();
    } while (after && !progress?.isStopped());
  } catch (problem) {
    outcome.problem = problem; // What was done before it can still be undone.
  }
  progress?.close();
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
 * Says what became of them and offers what can follow: the undo of a discard, the sync of a retry. Its link
 * shows the filter's list in their new state.
 */
function report(action, filter, { done, refused, problem }, { sync, changed, retried }) {
  if (done.length === 0 && problem) return showProblem(problem);
  // Undo begins with what was done last.
  const next = action === "discard" ? takeBack(done.toReversed(), changed) : syncAfter(sync);
  const text = joinedSentences(said.bulkDone[action](done.length, refused), problem?.message);
  const href = addressOfState(filter, stateAfter[action]);
  if (done.length) toast(text, next, { label: said.showThem, href });
  else toast(text);
  if (action === "retry") retried(done);
}

const joinedSentences = (...texts) => texts.filter(Boolean).join(" ");
