// One row of any table: each column in a field of its kind. Only what a person changed is sent.
// What is typed is a draft until it is saved or given up.

import { canWrite, whyNotWrite } from "./api.js";
import { oneAtATime } from "./coalesce.js";
import { ask } from "./dialog.js";
import { readable } from "./diff.js";
import { button, facts, form, h, note, saveButton } from "./dom.js";
import { draft, draftOf } from "./drafts.js";
import { attempt } from "./messages.js";
import {
  card, folded, rowDraft, textOfEach, textsOf, textsOfRow, unsavedNote, valuesOf,
} from "./row-card.js";
import { asText, rowField } from "./row-field.js";
import { systemColumns } from "./tables-state.js";
import { tableWords as said } from "./words-tables.js";
import { words } from "./words.js";

/**
 * The card of a row. `save(changes, version)` gives the stored row; it and `remove()` may throw. `saved()`
 * closes the card. The edit is about the version of the row in which it was begun, also where it goes on
 * after a newer one has come.
 * @param {string} table
 * @param {TableItem} row
 * @param {RowColumns} columns
 * @param {{
 *   close(): void, giveUp(): void, save(changes: Item, version: string | null): Promise<Item>,
 *   saved(): void, remove(): Promise<void>,
 * }} actions
 */
export function rowEditor(table, { item, reason, operationId }, columns, actions) {
  const { close, giveUp, save, saved, remove } = actions;
  const own = Object.keys(item).filter((name) => !systemColumns.includes(name));
  const isLocked = item.deleted === true || !canWrite;
  const draftName = draftOf.row(table, item.id);
  const earlier = draft.read(draftName);
  /** @type {string | null} */
  let version = earlier ? earlier.version : (item.version ?? null);
  // The columns as they were when the edit began, as text.
  let began = new Map([...own.map((name) => [name, asText(item[name])]), ...(earlier?.began ?? [])]);
  const typed = new Map(earlier?.values);
  const fields = [...new Set([...own, ...typed.keys()])].map((name) =>
    rowField(name, item[name], columns.items, isLocked, typed.get(name)));

  function keep() {
    const values = textsOf(fields);
    if (values.length === 0) draft.forget(draftName);
    else draft.write(draftName, rowDraft(table, item.id, version, began, values));
  }

  async function submit() {
    keep();
    const changed = fields.filter((field) => field.isChanged());
    const sent = textOfEach(fields);
    const kept = asText(textsOf(fields));
    try {
      const row = await saveAbove(valuesOf(changed), changed);
      if (kept === asText(draft.read(draftName)?.values ?? [])) {
        draft.forget(draftName);
        saved();
      } else if (fields[0].element.isConnected) goOn(row, sent); // Else another card of the row has it.
    } catch (problem) {
      if (problem.status !== 412 || !problem.row) throw problem;
      showNewer(problem.row, changed);
      throw new Error(said.changedWhileTyping);
    }
  }

  /** The edit is about the row as it was stored, with what was typed meanwhile. */
  function goOn(row, sent) {
    for (const field of fields) field.rebase(row[field.name], sent.get(field.name));
    beginAt(row);
    keep();
  }

  /** Where a newer row differs in other columns alone, the edit is saved above it without a question. */
  async function saveAbove(changes, changed) {
    try {
      return await save(changes, version);
    } catch (problem) {
      const isSame = problem.row
        && changed.every(({ name }) => asText(problem.row[name]) === began.get(name));
      if (!isSame) throw problem;
      return await save(changes, problem.row.version);
    }
  }

  /** Shows what the row has now beside what was typed; another press of the button replaces it. */
  function showNewer(row, changed) {
    for (const field of changed) {
      if (asText(row[field.name]) !== began.get(field.name)) field.showNewer(row[field.name]);
    }
    beginAt(row);
    keep();
  }

  function beginAt(row) {
    version = row.version ?? null;
    began = textsOfRow(row);
  }

  const onDelete = async () => {
    if (await ask(words.delete, words.deleteAsk(item.id), words.delete, "danger")) attempt(remove);
  };

  const system = systemColumns.filter((name) => name in item);
  return card(item.id, close, [
    reason && note(reason, " ", operationId && h("a", { href: `#/queue/${operationId}` }, words.details)),
    form({ class: "editor", oninput: keep }, oneAtATime(() => attempt(submit)),
      folded(fields, columns.shown),
      !canWrite && note(whyNotWrite),
      earlier && unsavedNote(giveUp),
      canWrite && !item.deleted && h("div", { class: "actions" },
        saveButton(words.save),
        button({ onclick: onDelete }, words.delete))),
    facts(system.map((name) => [name, readable(item[name])])),
  ]);
}
