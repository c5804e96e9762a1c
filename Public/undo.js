// Takes decisions back: settled conflicts and discarded operations, one or very many.

import { operator } from "./api.js";
import { toast } from "./dom.js";
import { words } from "./words.js";

const partSize = 500;

/** Undoes the latest decision about each of these operations, in this order. Gives how many were undone. */
async function undoDecisions(ids, onProgress) {
  let count = 0;
  for (let start = 0; start < ids.length; start += partSize) {
    const { changed } = await operator.post("/history/undo", { operations: ids.slice(start, start + partSize) });
    count += changed;
    onProgress(count);
  }
  if (!count) throw new Error(words.nothingToUndo);
  return count;
}

/** The action that takes back what was decided about these operations; `done()` hears when it has. */
export function takeBack(ids, done = () => {}) {
  const run = async () => {
    try {
      const count = await undoDecisions(ids, (count) => ids.length > partSize && toast(words.takingBack(count, ids.length)));
      toast(words.takenBack(count));
    } catch (problem) {
      toast(problem.message);
    }
    done();
  };
  return { label: words.undo, run };
}
