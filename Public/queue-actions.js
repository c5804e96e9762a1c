// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "./api.js";
import { ask, sheet } from "./dialog.js";
import { fill, h, toast } from "./dom.js";
import { titleOf } from "./queue-state.js";
import { takeBack } from "./undo.js";
import { words } from "./words.js";

const partSize = 500;

const send = (action, { id, revision }) =>
  operator.post(`/operations/${encodeURIComponent(id)}/${action}`, { revision });

/** Retries or discards one operation; asks before it discards. */
export async function act(action, operation) {
  if (action === "discard") {
    const isSure = await ask(words.discard, words.discardAsk(titleOf(operation)), words.discard);
    if (!isSure) return;
  }
  try {
    await send(action, operation);
    if (action === "discard") toast(words.discarded, takeBack([operation.id]));
    else toast(words.retried);
  } catch (problem) {
    toast(problem.message);
  }
}

/** Does it to those that were picked, one by one; asks before it discards. */
export async function actOnEach(action, operations) {
  if (action === "discard") {
    const isSure = await ask(words.discard, words.bulkAsk.discard(operations.length), words.discard);
    if (!isSure) return;
  }
  const done = [];
  // The latest first: what builds on a change goes before it.
  for (const operation of [...operations].sort((a, b) => b.seq - a.seq))
    await send(action, operation).then(() => done.unshift(operation.id), () => {});
  report(action, done, operations.length - done.length);
}

/** Does it to all that match, on the server, after a dry run has told how many those are. */
export async function actOnAll(action, parameters) {
  const filter = bodyFilter(parameters);
  const title = { retry: words.retryAll, discard: words.discardAll }[action];
  try {
    const { matched } = await operator.post(`/operations/${action}`, { filter, dryRun: true });
    if (!(await ask(title(matched), words.bulkAsk[action](matched), words[action]))) return;
    const outcome = await partByPart(action, filter, matched);
    report(action, outcome.done, outcome.refused);
  } catch (problem) {
    toast(problem.message);
  }
}

/** The parameters of the list as a request names them: without what is empty, with a list of states. */
function bodyFilter(parameters) {
  const filter = Object.fromEntries(Object.entries(parameters).filter(([, value]) => value));
  if (filter.state === "all") delete filter.state;
  if (filter.state) filter.state = [filter.state];
  return filter;
}

/** Goes through all that match, some at a time, so that a person sees how far it is and can stop it. */
async function partByPart(action, filter, matched) {
  const outcome = { done: [], refused: 0 };
  // What fits into one part is over before its progress could be read.
  const progress = matched > partSize ? progressSheet(words[action]) : null;
  const say = () => progress?.say(words.bulkProgress(outcome.done.length + outcome.refused, matched));
  say();
  try {
    let after = null;
    do {
      const part = await operator.post(`/operations/${action}`, { filter, limit: partSize, after });
      // It was done to the latest first; taking it back begins with what was done last.
      outcome.done.unshift(...part.operations.reverse());
      outcome.refused += part.refused;
      after = part.next;
      say();
    } while (after && !progress?.isStopped());
  } finally {
    progress?.close();
  }
  return outcome;
}

/** A sheet with one line that tells how far the work is, and a button that stops it. */
function progressSheet(title) {
  let isStopped = false;
  let close = () => {};
  const line = h("p", {});
  sheet(title, (closeSheet) => {
    close = closeSheet;
    const stop = h("button", { type: "button", onclick: () => closeSheet() }, words.cancelSync);
    return [line, h("div", { class: "actions end" }, stop)];
  }).then(() => (isStopped = true));
  return { say: (text) => fill(line, text), close: () => close(), isStopped: () => isStopped };
}

function report(action, done, refused) {
  const undo = action === "discard" && done.length ? takeBack(done) : undefined;
  toast(words.bulkDone(done.length, refused), undo);
}
