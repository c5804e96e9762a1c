// The card of a new row of any table. What is typed is a draft until it is added or given up.

import { oneAtATime } from "./coalesce.js";
import { column, form, h } from "./dom.js";
import { draft, draftOf } from "./drafts.js";
import { attempt } from "./messages.js";
import {
  card, folded, rowDraft, textOfEach, textsOf, textsOfRow, unsavedNote, valuesOf,
} from "./row-card.js";
import { asText, rowField } from "./row-field.js";
import { typedColumns } from "./row-values.js";
import { systemColumns } from "./tables-state.js";
import { tableWords as said } from "./words-tables.js";

/**
 * The card of a new row; `add(item)` gives the stored row and may throw. `added()` closes the card, and
 * `goOn(row)` opens that of the row, for which a text was typed while it was added.
 * @param {string} table
 * @param {RowColumns} columns
 * @param {{
 *   close(): void, giveUp(): void, add(item: Item): Promise<Item>, added(): void, goOn(row: Item): void,
 * }} actions
 */
export function newRow(table, columns, { close, giveUp, add, added, goOn }) {
  const draftName = draftOf.newRow(table);
  const earlier = draft.read(draftName);
  const typed = new Map(earlier?.values);
  const known = columns.items.flatMap((item) => Object.keys(item));
  const own = [...new Set([...known, ...typed.keys()])].filter((name) => !systemColumns.includes(name));
  const id = h("input", {
    autocomplete: "off", spellcheck: "false", placeholder: said.idMade, value: earlier?.id,
  });
  const fields = own.map((name) => rowField(name, undefined, columns.items, false, typed.get(name)));
  const others = h("textarea", {
    class: "code", rows: 2, spellcheck: "false", placeholder: said.othersHint, value: earlier?.others,
  });

  function keep() {
    const values = textsOf(fields);
    if (values.length === 0 && !id.value && !others.value) draft.forget(draftName);
    else draft.write(draftName, { table, id: id.value, others: others.value, values });
  }

  async function submit() {
    keep();
    const given = { ...typedColumns(others.value), ...valuesOf(fields) };
    const [sent, sentId, sentOthers] = [textOfEach(fields), id.value, others.value];
    const kept = asText(draft.read(draftName));
    const row = await add(id.value.trim() ? { id: id.value.trim(), ...given } : given);
    if (kept === asText(draft.read(draftName))) {
      draft.forget(draftName);
      return added();
    }
    if (!id.isConnected) return; // Another card of a new row has what was typed meanwhile.
    const values = [...textOfEach(fields)].filter(([name, text]) => text !== sent.get(name));
    const restId = id.value === sentId ? "" : id.value;
    const restOthers = others.value === sentOthers ? "" : others.value;
    if (!restId && !restOthers) draft.forget(draftName);
    else draft.write(draftName, { table, id: restId, others: restOthers, values: [] });
    if (values.length === 0) return added();
    draft.write(draftOf.row(table, row.id),
      rowDraft(table, row.id, row.version ?? null, textsOfRow(row), values));
    goOn(row);
  }

  return card(said.newRowOf(table), close, [
    form({ class: "editor", oninput: keep }, oneAtATime(() => attempt(submit)),
      column("id", id), folded(fields, columns.shown), column(said.others, others),
      earlier && unsavedNote(giveUp),
      h("div", { class: "actions" }, h("button", { class: "primary" }, said.add))),
  ]);
}
