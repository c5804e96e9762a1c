// The card at the side of the rows: a row, a new one, or what was typed for a row that is gone.

import { operator, query } from "../shared/api.js";
import { draft, draftOf } from "../shared/drafts.js";
import { newRow, rowEditor } from "./row-editor.js";
import { addRow, removeRow, saveRow } from "./actions.js";

/**
 * `question()` is what the address asks for, `close()` closes the card and takes it out of the address,
 * `refresh()` reads the rows again.
 * @param {{ question(): TableQuestion, close(): void, refresh(): void }} view
 */
export function tableSide(page, view) {
  const { question, close, refresh } = view;
  /** @type {string | null} */
  let open = null; // What the card is about: "row …" with its id, or "new".

  function draw(card, nowOpen) {
    open = nowOpen;
    page.drawSide(card);
    drawUnsaved();
  }

  const drawUnsaved = () => page.drawUnsaved(question(), open);
  const isRow = (id) => open === `row ${id}`;

  /** Opens a row of a table, which is that of the grid: an address may ask for another one already. */
  function openRow(row, table) {
    const { id } = row.item;
    const name = draftOf.row(table, id);
    const typed = draft.read(name);
    if (row.item.deleted && typed) return showLeft(name, typed);
    const done = () => {
      if (isRow(id)) close();
      refresh();
    };
    draw(rowEditor(table, row, page.columns(), {
      close,
      giveUp: () => giveUp(name),
      async save(changes, version) {
        const stored = await saveRow(table, id, changes, version);
        page.drawStored(stored);
        refresh();
        return stored;
      },
      saved: done,
      async remove() {
        await removeRow(table, id, refresh);
        draft.forget(name);
        done();
      },
    }), `row ${id}`);
  }

  function openNewRow() {
    const { table } = question();
    draw(newRow(table, page.columns(), {
      close,
      giveUp: () => giveUp(draftOf.newRow(table)),
      async add(item) {
        const stored = await addRow(table, item);
        refresh();
        return stored;
      },
      added() {
        if (open === "new") close();
      },
      goOn: (item) => openRow({ item, state: "pending" }, table),
    }), "new");
  }

  /** Opens a row with unsaved text that is not among the rows on screen. It may be gone. */
  async function openUnsaved(asked) {
    const name = draftOf.row(asked.table, asked.id);
    const typed = draft.read(name);
    if (!typed) return;
    const filter = `id eq '${asked.id.replaceAll("'", "''")}'`;
    const parameters = query({ filter, includeDeleted: "true" });
    const path = /** @type {const} */ (`/tables/${encodeURIComponent(asked.table)}/items${parameters}`);
    const { items } = await operator.get(path);
    if (asked !== question() || page.hasSide()) return;
    if (items[0]) openRow(items[0], asked.table);
    else showLeft(name, typed);
  }

  /** Shows what was typed for a row that is gone: it can be copied, and is not in a field. */
  function showLeft(name, typed) {
    draw(null, `row ${typed.id}`);
    page.drawLeft(typed, () => giveUp(name));
  }

  /** Forgets what was typed, and closes the card. */
  function giveUp(name) {
    draft.forget(name);
    close();
  }

  return { openRow, openNewRow, openUnsaved, drawUnsaved, isRow, clear: () => draw(null, null) };
}
