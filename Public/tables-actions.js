// What a click in the tables view does: purge a table, change and delete a row, and undo a deletion.

import { operator, query, tables } from "./api.js";
import { askDangerous } from "./dialog.js";
import { attempt, showProblem, toast } from "./messages.js";
import { tableWords } from "./words-tables.js";
import { words } from "./words.js";

const recentEntries = 20; // The entry of a removal is among the latest.

/**
 * Removes the rows of a table that match the filter from this device, after a question. Where changes would
 * be lost with them, the person is asked about these instead.
 * @param {{ name: string, items: number }} table
 * @param {string} filter
 * @param {{ changed(): void, pull(): void }} after `pull()` brings the server's rows again.
 */
export async function purge(table, filter, { changed, pull }) {
  const { name } = table;
  const { total } = await operator.get(`/operations${query({ table: name, limit: 1 })}`);
  if (!(await askToPurge(table, filter, total))) return;
  const body = { ...(filter ? { query: filter } : {}), force: total > 0 };
  try {
    const { purged, discarded } = await operator.post(`/tables/${encodeURIComponent(name)}/purge`, body);
    const undo = discarded ? await undoOfPurge(name, changed) : pull;
    toast(words.purged(purged, discarded), { label: words.undo, run: undo });
  } catch (problem) {
    showProblem(problem);
  }
  changed();
}

function askToPurge({ name, items }, filter, unsent) {
  const rows = filter ? words.purgeMatching : words.purgeRows(items);
  const changes = filter ? words.purgeMatchingUnsent : words.purgeUnsent(unsent);
  const text = [words.purgeAsk(name, filter), unsent && words.purgeLoses(name, unsent)];
  return askDangerous(
    words.purgeTitle(name), text.filter(Boolean).join(" "), unsent ? changes : rows, unsent || items);
}

/** The action that brings back what the latest removal of this table deleted: all of it, in one step. */
async function undoOfPurge(table, changed) {
  const { items } = await operator.get(`/history?limit=${recentEntries}`);
  const entry = items.find((one) => one.kind === "purged" && one.table === table);
  return () => attempt(async () => {
    if (!entry) throw new Error(words.nothingToUndo);
    await operator.post(`/history/${encodeURIComponent(entry.id)}/undo`);
    toast(words.purgeUndone);
    changed();
  });
}

/** @param {Item} item */
export async function addRow(table, item) {
  const row = await tables.insert(table, item);
  toast(tableWords.added(row.id));
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
