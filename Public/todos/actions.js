// What a person does to the todos of a table: add, edit, complete and delete, with undo.

import { operator, query, tables } from "../shared/api.js";
import { attempt, toast, undoBy } from "../shared/messages.js";
import { quoted } from "./list-state.js";
import { titleOf } from "./row.js";
import { words } from "../shared/words.js";

/**
 * `changed()` is called after each action.
 * @param {TodoSource} source
 */
export function todoActions(source, changed) {
  const { table, text: textColumn, done: doneColumn } = source;

  async function act(work) {
    const row = await attempt(work);
    changed();
    return row;
  }

  async function rowWith(id) {
    const filter = `id eq ${typeof id === "string" ? quoted(id) : id}`;
    const { items } = await operator.get(
      `/tables/${encodeURIComponent(table)}/items${query({ filter, top: 1 })}`);
    return items.find((row) => row.item.deleted !== true) ?? null;
  }

  /** The id that a row has now; null where it is gone. The id from before its insert was sent answers too. */
  async function idNow(id) {
    try {
      return (await tables.read(table, id)).id;
    } catch (problem) {
      if (problem.status === 404 || problem.status === 410) return null;
      throw problem;
    }
  }

  /** Throws, as `save` does. */
  async function insert(text) {
    const done = doneColumn ? { [doneColumn]: false } : {};
    const row = await tables.insert(table, { [textColumn]: text, ...done });
    changed();
    return row;
  }

  return {
    changed,
    insert,

    /** Stores a text over a version of the row. Throws, since its field says what went wrong. */
    async save(id, text, version) {
      const row = await tables.update(table, id, { [textColumn]: text }, version);
      changed();
      return row;
    },

    /**
     * The row with an id, which may have another one now; null where there is none, undefined where that is
     * not known now.
     */
    async find(id) {
      try {
        const row = await rowWith(id);
        if (row) return row;
        const now = await idNow(id);
        return now === null ? null : ((await rowWith(now)) ?? undefined);
      } catch {
        return undefined;
      }
    },

    /** Gives whether it is stored. */
    async complete(row, done) {
      const { id } = row.item;
      const column = doneColumn ?? "";
      const before = row.item[column] ?? null; // A todo that nobody ticked yet may have no value.
      const setDone = (value) => act(() => tables.update(table, id, { [column]: value }));
      if (!(await setDone(done))) return false;
      const sentence = done ? words.completed : words.reopened;
      toast(sentence(titleOf(row, source)), undoBy(() => setDone(before)));
      return true;
    },

    remove(row) {
      const { id } = row.item;
      return act(async () => {
        await tables.remove(table, id);
        const undelete = () => act(() => tables.undelete(table, id));
        toast(words.deleted(titleOf(row, source)), undoBy(undelete));
      });
    },
  };
}
