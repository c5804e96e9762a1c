// Retry and discard: one, those that are picked, or all that match the filter, counted first.

import { operator } from "./api.js";
import { ask } from "./dialog.js";
import { toast } from "./dom.js";
import { undoOf } from "./history.js";
import { titleOf } from "./queue-rows.js";
import { words } from "./words.js";

const path = (operation, action) => `/operations/${encodeURIComponent(operation.id)}/${action}`;
const takeBack = (ids) => ({
  label: words.undo,
  run: () => undoOf(ids).then((count) => toast(words.takenBack(count))).catch((problem) => toast(problem.message)),
});

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
  for (const operation of operations)
    await operator.post(path(operation, action), { revision: operation.revision }).then(() => done.push(operation.id), () => {});
  toast(words.bulkDone(done.length, operations.length - done.length), action === "discard" && done.length ? takeBack(done) : undefined);
}

/** Does it to all that match, on the server, after a dry run has told how many those are. */
export async function actOnAll(action, filter) {
  const wanted = Object.fromEntries(Object.entries(filter).filter(([, value]) => value));
  if (wanted.state === "all") delete wanted.state;
  if (wanted.state) wanted.state = [wanted.state];
  try {
    const preview = await operator.post(`/operations/${action}`, { filter: wanted, dryRun: true });
    if (!(await ask(words[`${action}All`](preview.matched), words.bulkAsk[action](preview.matched), words[action]))) return;
    const outcome = await operator.post(`/operations/${action}`, { filter: wanted });
    toast(words.bulkDone(outcome.changed, outcome.refused));
  } catch (problem) {
    toast(problem.message);
  }
}
