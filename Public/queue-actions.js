// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "./api.js";
import { ask, sheet } from "./dialog.js";
import { fill, h, toast } from "./dom.js";
import { titleOf } from "./queue-rows.js";
import { takeBack } from "./undo.js";
import { words } from "./words.js";

const partSize = 500;
const path = (operation, action) => `/operations/${encodeURIComponent(operation.id)}/${action}`;

/** Retries or discards one operation; asks before it discards. */
export async function act(action, operation) {
  if (action === "discard" && !(await ask(words.discard, words.discardAsk(titleOf(operation)), words.discard))) return;
  try {
    await operator.post(path(operation, action), { revision: operation.revision });
    if (action === "discard") toast(words.discarded, takeBack([operation.id]));
    else toast(words.retried);
  } catch (problem) {
    toast(problem.message);
  }
}

/** Does it to those that were picked, one by one. */
export async function actOnEach(action, operations) {
  if (action === "discard" && !(await ask(words.discard, words.bulkAsk.discard(operations.length), words.discard))) return;
  const done = [];
  // The latest first: what builds on a change goes before it.
  for (const operation of [...operations].sort((a, b) => b.seq - a.seq))
    await operator.post(path(operation, action), { revision: operation.revision }).then(() => done.unshift(operation.id), () => {});
  report(action, done, operations.length - done.length);
}

/** Does it to all that match, on the server, after a dry run has told how many those are. */
export async function actOnAll(action, filter) {
  const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
  if (wanted.state === "all") delete wanted.state;
  if (wanted.state) wanted.state = [wanted.state];
  try {
    const preview = await operator.post(`/operations/${action}`, { filter: wanted, dryRun: true });
    if (!(await ask(words[`${action}All`](preview.matched), words.bulkAsk[action](preview.matched), words[action]))) return;
    const outcome = await partByPart(action, wanted, preview.matched);
    report(action, outcome.done, outcome.refused);
  } catch (problem) {
    toast(problem.message);
  }
}

/** Goes through all that match, some at a time, so that one sees how far it is and can stop it. */
async function partByPart(action, filter, matched) {
  const outcome = { done: [], refused: 0 };
  let stopped = false;
  let close = null;
  const line = h("p", {});
  const say = () => fill(line, words.bulkProgress(outcome.done.length + outcome.refused, matched));
  say();
  // What fits into one part is over before anybody could read how far it is.
  if (matched > partSize)
    sheet(words[action], (closeSheet) => {
      close = closeSheet;
      return [line, h("div", { class: "actions end" }, h("button", { type: "button", onclick: () => closeSheet() }, words.cancelSync))];
    }).then(() => (stopped = true));
  try {
    let after = null;
    do {
      const part = await operator.post(`/operations/${action}`, { filter, limit: partSize, after });
      // It was done to the latest first; taking it back begins with what was done last.
      outcome.done.unshift(...part.operations.reverse());
      outcome.refused += part.refused;
      after = part.next;
      say();
    } while (after && !stopped);
  } finally {
    close?.();
  }
  return outcome;
}

function report(action, done, refused) {
  toast(words.bulkDone(done.length, refused), action === "discard" && done.length ? takeBack(done) : undefined);
}
