// What a click in the tables view does: purge a table, change and delete a row, and undo a deletion.

import { operator, tables } from "../shared/api.js";
import { ask } from "../shared/dialog.js";
import { attempt, toast, undoBy } from "../shared/messages.js";
import { isOData } from "./state.js";
import { tableWords } from "./words.js";
import { words } from "../shared/words.js";

/**
 * Removes the rows of a table that match the filter from this device, after a question. Where changes would
 * be lost with them, the person is asked about these instead.
 * @param {{ name: string }} table
 * @param {string} filter
 * @param {{ changed(): void, pull(): void }} after `pull()` brings the server's rows again.
 */
export async function purge({ name }, filter, { changed, pull }) {
  if (filter && !isOData(filter)) return toast(tableWords.noRemovalByText);
  const rows = filter ? { query: `$filter=${encodeURIComponent(filter)}` } : { all: true };
  const path = `/tables/${encodeURIComponent(name)}/purge`;
  await attempt(async () => {
    const counts = await operator.post(path, { ...rows, force: true, dryRun: true });
    if (!(await askToPurge(name, filter, counts))) return;
    // With a filter, changes of other rows may be open: they stay, but need force.
    const force = counts.discarded > 0 || Boolean(filter);
    const done = await operator.post(path, { ...rows, force });
    const undo = done.historyId === null ? pull : () => takeBack(done.historyId, changed);
    toast(words.purged(done.purged, done.discarded), undoBy(undo));
    changed();
  });
}

function askToPurge(table, filter, { purged, discarded }) {
  const text = [words.purgeAsk(table, filter), discarded && words.purgeLoses(table, discarded)];
  const label = discarded ? words.purgeUnsent(discarded) : words.purgeRows(purged);
  return ask(words.purgeTitle(table), text.filter(Boolean).join(" "), label, "danger");
}

/** Brings back what a removal discarded: all of it, in one step. */
const takeBack = (entry, changed) => attempt(async () => {
  await operator.post(`/history/${encodeURIComponent(entry)}/undo`);
  toast(words.purgeUndone);
  changed();
  return true;
});

/** A row of /tables as the operator API has it, where an integer id is a text too. @param {Item} row */
const withTextID = (row) => ({ ...row, id: String(row.id) });

/** Adds a row, and gives it as it is stored. @param {Item} item */
export async function addRow(table, item) {
  const row = withTextID(await tables.insert(table, item));
  toast(tableWords.added(row.id));
  return row;
}

/** Saves over this version of the row alone, and gives the row; the problem of another one has that row. */
export async function saveRow(table, id, changes, version) {
  const row = withTextID(await tables.update(table, id, changes, version));
  toast(words.saved);
  return row;
}

/** Deletes a row; `changed()` is called after an undo. */
export async function removeRow(table, id, changed) {
  await tables.remove(table, id);
  const undelete = async () => {
    await tables.undelete(table, id);
    changed();
  };
  toast(words.deleted(id), undoBy(() => attempt(undelete)));
}
