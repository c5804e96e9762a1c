// One row of any table, or a new one: each column in a field of its kind. Only what a person changed is sent.
// What is typed is a draft until it is saved or given up.

import { canWrite } from "./api.js";
import { oneAtATime } from "./coalesce.js";
import { askDangerous } from "./dialog.js";
import { readable } from "./diff.js";
import { button, column, facts, focusCard, form, h, note, saveButton } from "./dom.js";
import { draft, draftOf } from "./drafts.js";
import { attempt } from "./messages.js";
import { asText, rowField } from "./row-field.js";
import { typedColumns } from "./row-values.js";
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

  /** Where a newer row differs in other columns alone, the edit is about the same, and nobody is asked. */
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
    if (await askDangerous(words.delete, words.deleteAsk(item.id), words.delete, 1)) attempt(remove);
  };

  const system = systemColumns.filter((name) => name in item);
  return card(item.id, close, [
    reason && note(reason, " ", operationId && h("a", { href: `#/queue/${operationId}` }, words.details)),
    form({ class: "editor", oninput: keep }, oneAtATime(() => attempt(submit)),
      folded(fields, columns.shown),
      !canWrite && note(words.onlyLooking),
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

const unsavedNote = (giveUp) => h("div", { class: "bar" },
  h("span", { class: "quiet-text" }, words.unsavedHere),
  button({ class: "small", onclick: giveUp }, words.giveUp));

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

/** What a person changed. What was not touched is not sent, in whatever form it came. */
function valuesOf(fields) {
  return Object.fromEntries(fields.filter((one) => one.isChanged()).map((one) => [one.name, one.value()]));
}

/** The text of each field, by its name. */
const textOfEach = (fields) => new Map(fields.map((one) => [one.name, one.text()]));

/** The columns of a row as text, by their names. */
const textsOfRow = (row) => new Map(Object.keys(row).map((name) => [name, asText(row[name])]));

/** What is kept of an edit: of the row as it was, only the columns that were changed. */
const rowDraft = (table, id, version, began, values) => ({
  table, id, title: id, version, values,
  began: values.map(([name]) => [name, began.get(name) ?? asText(null)]),
});

/** The names and texts of what a person changed. */
const textsOf = (fields) =>
  fields.filter((one) => one.isChanged()).map((one) => [one.name, one.text()]);
