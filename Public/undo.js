// Undoes decisions: settled conflicts and discarded operations, one or very many.

import { operator } from "./api.js";
import { attempt, toast, undoBy } from "./messages.js";
import { words } from "./words.js";

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
