// What became of the changes that were retried here: said once, when all of them have had their turn,
// whatever view is on screen then.

import { operator } from "../shared/api.js";
import { coalesce } from "../shared/coalesce.js";
import { attempt, toast } from "../shared/messages.js";
import { addressOfState } from "./state.js";
import { queueWords as said } from "./words.js";

const partSize = 5000; // The API takes no more ids at once.
const restMilliseconds = 1000;
// After the end of a run, so that the message about the run itself comes first.
const waitMilliseconds = 700;

/**
 * Watches retried operations. `isRunning()` says whether a run is under way. `look()` asks where they are.
 * @returns {{ begin(ids: string[], filter: QueueFilter): void, look(): void }}
 */
export function retryWatch(isRunning) {
  /** @type {string[]} */
  let watched = [];
  /** @type {QueueFilter | null} */
  let shown = null; // The list that they were retried in.

  async function read() {
    const ids = watched;
    if (ids.length === 0) return;
    if (isRunning()) return void setTimeout(look, restMilliseconds);
    const outcomes = await outcomesOf(ids);
    const isOver = !outcomes.some(({ state }) => state === "queued" || state === "sending");
    if (!isOver || ids !== watched) return; // Others were retried meanwhile.
    watched = [];
    const isBack = shown && outcomes.some(({ state }) => state === "quarantined");
    const link = isBack
      ? { label: said.showThem, href: addressOfState(shown, "quarantined") } : undefined;
    toast(said.outcome(outcomes), undefined, link);
  }
  const look = coalesce(() => attempt(read), waitMilliseconds, restMilliseconds);

  return {
    begin(ids, filter) {
      [watched, shown] = [ids, filter];
      look();
    },
    look() {
      if (watched.length > 0) look();
    },
  };
}

/** @param {string[]} ids */
async function outcomesOf(ids) {
  /** @type {Map<string, OperationOutcome>} */
  const found = new Map();
  for (let start = 0; start < ids.length; start += partSize) {
    const body = { operations: ids.slice(start, start + partSize) };
    for (const one of (await operator.post("/operations/outcomes", body)).items) {
      const key = JSON.stringify([one.state, one.status, one.reason]);
      found.set(key, { ...one, count: one.count + (found.get(key)?.count ?? 0) });
    }
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
}
