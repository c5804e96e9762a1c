// The card of a row of any table, or of a new one: each column in a field of its kind. Only what a person
// changed is sent.

import { canWrite, whyNotWrite } from "../shared/api.js";
import { oneAtATime } from "../shared/coalesce.js";
import { ask } from "../shared/dialog.js";
import { readable } from "../shared/diff.js";
import { button, column, facts, focusCard, form, h, note, saveButton } from "../shared/dom.js";
import { draft, draftOf } from "../shared/drafts.js";
import { edit } from "../shared/edit.js";
import { attempt } from "../shared/messages.js";
import { asText, rowField } from "./row-field.js";
import { typedColumns } from "./row-values.js";
import { systemColumns } from "./state.js";
import { tableWords as said } from "./words.js";
import { words } from "../shared/words.js";

/** @typedef {ReturnType<typeof rowField>} Field */

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
  const isLocked = item.deleted === true || !canWrite;
  const name = draftOf.row(table, item.id);
  const earlier = draft.read(name);
  const fields = fieldsOf(Object.keys(item), item, columns, isLocked, earlier);
  /** @type {Field[]} */
  let sending = []; // Those that the latest save was about.
  const begunOf = (row) => ({ version: row.version ?? null, row, texts: textsOfRow(row) });
  const began = begunOf(item);
  const editing = edit(name, !earlier ? began :
    { ...began, version: earlier.version, texts: { ...began.texts, ...Object.fromEntries(earlier.began) } }, {
    typed: (began) => rowDraft(table, item.id, began, textsOf(changedOf(fields))),
    nowOf: ({ row }) => row && begunOf(row),
    isSame: (now, began) => sending.every((one) => isSameText(one, now, began)),
  });

  async function submit() {
    sending = changedOf(fields);
    const [changes, sent] = [valuesOf(fields), new Map(textsOf(fields))];
    await editing.submit((version) => save(changes, version), {
      changedWhileTyping: said.changedWhileTyping,
      showNewer(now, began) {
        for (const one of sending)
          if (!isSameText(one, now, began)) one.showNewer(now.row[one.name]);
      },
      done: saved,
      goOn(row) {
        if (!fields[0].element.isConnected) return; // Another card of the row has it.
        for (const one of fields) one.rebase(row[one.name], sent.get(one.name));
        editing.begin(begunOf(row));
      },
    });
  }

  const onDelete = async () => {
    if (await ask(words.delete, words.deleteAsk(item.id), words.delete, "danger")) attempt(remove);
  };

  const system = systemColumns.filter((name) => name in item);
  return card(item.id, close, [
    reason && note(reason, " ", operationId && h("a", { href: `#/queue/${operationId}` }, words.details)),
    form({ class: "editor", oninput: editing.keep }, oneAtATime(() => attempt(submit)),
      folded(fields, columns.shown),
      !canWrite && note(whyNotWrite),
      earlier && unsavedNote(giveUp),
      canWrite && !item.deleted && h("div", { class: "actions" },
        saveButton(words.save),
        button({ onclick: onDelete }, words.delete))),
    facts(system.map((name) => [name, readable(item[name])])),
  ]);
}

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
  const name = draftOf.newRow(table);
  const earlier = draft.read(name);
  const known = columns.items.flatMap((item) => Object.keys(item));
  const fields = fieldsOf(known, {}, columns, false, earlier);
  const id = h("input", {
    autocomplete: "off", spellcheck: "false", placeholder: said.idMade, value: earlier?.id,
  });
  const others = h("textarea", {
    class: "code", rows: 2, spellcheck: "false", placeholder: said.othersHint, value: earlier?.others,
  });
  const kept = (id, others, values) =>
    (id || others || values.length ? { table, id, others, values } : null);
  const editing = edit(name, { version: null }, {
    typed: () => kept(id.value, others.value, textsOf(changedOf(fields))),
    nowOf: () => null,
    isSame: () => true,
  });

  async function submit() {
    const given = { ...typedColumns(others.value), ...valuesOf(fields) };
    const [sent, sentId, sentOthers] = [new Map(textsOf(fields)), id.value, others.value];
    await editing.submit(() => add(sentId.trim() ? { id: sentId.trim(), ...given } : given), {
      done: added,
      goOn(row) {
        if (!id.isConnected) return; // Another card of a new row has what was typed meanwhile.
        const values = textsOf(fields).filter(([name, text]) => text !== sent.get(name));
        const rest = (field, sent) => (field.value === sent ? "" : field.value);
        const left = kept(rest(id, sentId), rest(others, sentOthers), []);
        if (left) draft.write(name, left);
        else draft.forget(name);
        if (values.length === 0) return added();
        const began = { version: row.version ?? null, texts: textsOfRow(row) };
        draft.write(draftOf.row(table, row.id), rowDraft(table, row.id, began, values));
        goOn(row);
      },
    });
  }

  return card(said.newRowOf(table), close, [
    form({ class: "editor", oninput: editing.keep }, oneAtATime(() => attempt(submit)),
      column("id", id), folded(fields, columns.shown), column(said.others, others),
      earlier && unsavedNote(giveUp),
      h("div", { class: "actions" }, h("button", { class: "primary" }, said.add))),
  ]);
}

/** The fields of the columns that are no part of every row, with what a person typed `earlier`. */
function fieldsOf(names, item, columns, isLocked, earlier) {
  const typed = new Map(earlier?.values);
  return [...new Set([...names, ...typed.keys()])].filter((name) => !systemColumns.includes(name))
    .map((name) => rowField(name, item[name], columns.items, isLocked, typed.get(name)));
}

/** @param {Field[]} fields */
const changedOf = (fields) => fields.filter((one) => one.isChanged());

/** @param {Field[]} fields */
const textsOf = (fields) => fields.map((one) => /** @type {[string, string]} */ ([one.name, one.text()]));

/** What a person changed. What was not touched is not sent, in whatever form it came. */
const valuesOf = (fields) => Object.fromEntries(changedOf(fields).map((one) => [one.name, one.value()]));

/** The columns of a row as text, by their names. */
const textsOfRow = (row) => Object.fromEntries(Object.keys(row).map((name) => [name, asText(row[name])]));

const isSameText = ({ name }, now, began) =>
  (now.texts[name] ?? asText(null)) === (began.texts[name] ?? asText(null));

/** What is kept of an edit: of the row as it was, only the columns that were changed. */
const rowDraft = (table, id, { version, texts }, values) => (values.length === 0 ? null : {
  table, id, title: id, version, values,
  began: values.map(([name]) => [name, texts[name] ?? asText(null)]),
});

const unsavedNote = (giveUp) => h("div", { class: "bar" },
  h("span", { class: "quiet-text" }, words.unsavedHere),
  button({ class: "small", onclick: giveUp }, words.giveUp));

/** The card itself. The focus goes to its heading. */
function card(title, close, parts) {
  const element = h("article", { class: "card", "aria-labelledby": "row-title" },
    h("div", { class: "bar" },
      h("h2", { id: "row-title", tabindex: "-1" }, title),
      button({ class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    parts);
  setTimeout(() => focusCard(element));
  return element;
}

/** The fields of the columns that the grid shows; those of the hidden ones can be unfolded. */
function folded(fields, shown) {
  const elementsOf = (some) => some.map((one) => one.element);
  const hidden = fields.filter(({ name }) => !shown.includes(name));
  if (hidden.length < 2) return elementsOf(fields);
  return [
    elementsOf(fields.filter(({ name }) => shown.includes(name))),
    h("details", { open: hidden.some((one) => one.isChanged()) },
      h("summary", {}, said.moreColumns(hidden.length)),
      h("div", { class: "editor" }, elementsOf(hidden))),
  ];
}
