// What a person does to the todos of a table: add, edit, complete and delete, with undo.

import { tables } from "./api.js";
import { attempt, toast, undoBy } from "./messages.js";
import { titleOf } from "./todo-row.js";
import { words } from "./words.js";

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

  const update = (id, changes) => act(() => tables.update(table, id, changes));

  return {
    add(text) {
      const done = doneColumn ? { [doneColumn]: false } : {};
      return act(() => tables.insert(table, { [textColumn]: text, ...done }));
    },

    save: (row, text) => update(row.item.id, { [textColumn]: text }),

    async complete(row, done) {
      const { id } = row.item;
      const setDone = (value) => update(id, { [doneColumn ?? ""]: value });
      if (!(await setDone(done))) return;
      const sentence = done ? words.completed : words.reopened;
      toast(sentence(titleOf(row, source)), undoBy(() => setDone(!done)));
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
