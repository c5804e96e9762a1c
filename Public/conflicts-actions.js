// What a choice in the conflicts view does: it decides one conflict, those that are alike, or all of a table.

import { operator, query } from "./api.js";
import { alikeOnes } from "./conflicts-state.js";
import { askDangerous } from "./dialog.js";
import { showProblem, toast } from "./messages.js";
import { takeBack } from "./undo.js";
import { words } from "./words.js";

const idsPage = 500;

function settle({ id, revision }, choice, item) {
  const body = { revision, choice, ...(item ? { item } : {}) };
  return operator.post(`/conflicts/${encodeURIComponent(id)}/resolve`, body);
}

const askForAll = (choice, count) =>
  askDangerous(words.forAll[choice], words.forAllAsk(count), words.forAllOf(choice, count), count);

/** Decides one conflict. Gives whether it is decided; `changed()` is called after an undo. */
export async function decideOne(conflict, choice, item, changed) {
  try {
    await settle(conflict, choice, item);
    toast(words.resolved, takeBack([conflict.id], changed));
    return true;
  } catch (problem) {
    if (problem.code === "operation-changed") toast(words.changedMeanwhile);
    else showProblem(problem);
    return false;
  }
}

/** All conflicts that are alike, page by page; `onProgress` is told how many were found. */
export async function allAlike(conflict, onProgress) {
  const found = [];
  /** @type {string | null} */
  let after = null;
  do {
    const page = await operator.get(`/conflicts${query({ limit: idsPage, after })}`);
    found.push(...alikeOnes({ list: page.items }, conflict));
    onProgress(found.length);
    after = page.next;
  } while (after);
  return found;
}

/** Decides conflicts one by one, after a question. Gives whether it was done. */
export async function decideEach(conflicts, choice, onProgress, changed) {
  if (!(await askForAll(choice, conflicts.length))) return false;
  const done = [];
  let refused = 0;
  for (const conflict of conflicts) {
    try {
      await settle(conflict, choice);
      done.push(conflict.id);
    } catch {
      refused++; // It changed meanwhile, and stays here to be decided on its own.
    }
    onProgress(done.length + refused);
  }
  report(done.length, refused, done, changed);
  return true;
}

/** Decides all conflicts of a table, after a question with their count. Gives whether it was done. */
export async function decideWholeTable(table, choice, changed) {
  /** @type {OperationFilter} */
  const filter = { table, state: ["conflict"] };
  const { matched } = await operator.post("/conflicts/resolve", { filter, choice, dryRun: true });
  if (!(await askForAll(choice, matched))) return false;
  const ids = await conflictsOf(table);
  const result = await operator.post("/conflicts/resolve", { filter, choice });
  // One that was refused may have an earlier decision, which an undo of this one must not touch.
  const left = new Set(result.refused ? await conflictsOf(table) : []);
  report(result.changed, result.refused, ids.filter((id) => !left.has(id)), changed);
  return true;
}

function report(count, refused, ids, changed) {
  toast(words.decided(count, refused), count ? takeBack(ids, changed) : undefined);
}

/** The ids of all open conflicts of a table. */
async function conflictsOf(table) {
  const ids = [];
  /** @type {string | null} */
  let after = null;
  do {
    const parameters = query({ state: "conflict", table, limit: idsPage, after });
    const page = await operator.get(`/operations${parameters}`);
    ids.push(...page.items.map((one) => one.id));
    after = page.next;
  } while (after);
  return ids;
}
