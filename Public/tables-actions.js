// What a click in the tables view does: purge a table, change and delete a row, and undo a deletion.

import { operator, tables } from "./api.js";
import { ask } from "./dialog.js";
import { showProblem, toast } from "./messages.js";
import { words } from "./words.js";

/**
 * Removes the rows of a table that match the filter from this device, after a question. With open operations
 * the proxy refuses and says which: the person is asked again with that, as `lost`.
 */
export async function purge(table, filter, changed, lost = "") {
  if (!(await ask(words.purge, words.purgeAsk(table, filter, lost), words.purge))) return;
  const rows = filter ? { query: `$filter=${encodeURIComponent(filter)}` } : { all: true };
  const body = { ...rows, force: lost !== "" };
  try {
    const { purged, discarded } = await operator.post(`/tables/${encodeURIComponent(table)}/purge`, body);
    toast(words.purged(purged, discarded));
  } catch (problem) {
    if (problem.code === "operations-open" && !lost) {
      purge(table, filter, changed, problem.message);
      return;
    }
    showProblem(problem);
  }
  changed();
}

export async function saveRow(table, id, changes) {
  await tables.update(table, id, changes);
  toast(words.saved);
}

/** Deletes a row; `changed()` is called after an undo. */
export async function removeRow(table, id, changed) {
  await tables.remove(table, id);
  const run = () => tables.undelete(table, id).then(changed, showProblem);
  toast(words.deleted(id), { label: words.undo, run });
}
