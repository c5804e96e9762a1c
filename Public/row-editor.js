// One row of any table, or a new one: each column in a field of its kind. Only what a person changed is sent.

import { canWrite } from "./api.js";
import { askDangerous } from "./dialog.js";
import { readable } from "./diff.js";
import { button, column, facts, focusCard, form, h, linesOf, note, options } from "./dom.js";
import { attempt } from "./messages.js";
import { columnKind, kindOf, shown, typed, typedColumns } from "./row-values.js";
import { systemColumns } from "./tables-state.js";
import { tableWords as said } from "./words-tables.js";
import { words } from "./words.js";

const lettersOfLine = 50;
const linesMost = 10;

/**
 * The card of a row; `save(changes)` and `remove()` may throw.
 * @param {TableItem} row
 * @param {RowColumns} columns
 * @param {{ close(): void, save(changes: Item): Promise<void>, remove(): Promise<void> }} actions
 */
export function rowEditor({ item, reason, operationId }, columns, { close, save, remove }) {
  const own = Object.keys(item).filter((name) => !systemColumns.includes(name));
  const isLocked = item.deleted === true || !canWrite;
  const fields = own.map((name) => rowField(name, item[name], columns.items, isLocked));

  const onDelete = async () => {
    if (await askDangerous(words.delete, words.deleteAsk(item.id), words.delete, 1)) attempt(remove);
  };

  const system = systemColumns.filter((name) => name in item);
  return card(item.id, close, [
    reason && note(reason, " ", operationId && h("a", { href: `#/queue/${operationId}` }, words.details)),
    form({ class: "editor" }, () => attempt(() => save(valuesOf(fields))),
      folded(fields, columns.shown),
      !canWrite && note(words.onlyLooking),
      canWrite && !item.deleted && h("div", { class: "actions" },
        h("button", { class: "primary" }, words.save),
        button({ onclick: onDelete }, words.delete))),
    facts(system.map((name) => [name, readable(item[name])])),
  ]);
}

/**
 * The card of a new row; `add(item)` may throw.
 * @param {string} table
 * @param {RowColumns} columns
 * @param {{ close(): void, add(item: Item): Promise<void> }} actions
 */
export function newRow(table, columns, { close, add }) {
  const own = [...new Set(columns.items.flatMap((item) => Object.keys(item)))]
    .filter((name) => !systemColumns.includes(name));
  const id = h("input", { autocomplete: "off", spellcheck: "false", placeholder: said.idMade });
  const fields = own.map((name) => rowField(name, undefined, columns.items, false));
  const others = h("textarea", { class: "code", rows: 2, spellcheck: "false", placeholder: said.othersHint });
  const submit = () => attempt(() => {
    const given = { ...typedColumns(others.value), ...valuesOf(fields) };
    return add(id.value.trim() ? { id: id.value.trim(), ...given } : given);
  });
  return card(said.newRowOf(table), close, [
    form({ class: "editor" }, submit,
      column("id", id), folded(fields, columns.shown), column(said.others, others),
      h("div", { class: "actions" }, h("button", { class: "primary" }, said.add))),
  ]);
}

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
    h("details", {}, h("summary", {}, said.moreColumns(hidden.length)),
      h("div", { class: "editor" }, elementsOf(hidden))),
  ];
}

/** What a person changed. What was not touched is not sent, in whatever form it came. */
function valuesOf(fields) {
  return Object.fromEntries(fields.filter((one) => one.isChanged()).map((one) => [one.name, one.value()]));
}

/** A field for a column, with the value that a person typed. */
function rowField(name, value, items, isLocked) {
  const ofColumn = columnKind(name, items);
  const kind = typeof value === "string" && ofColumn === "text" ? "text" : (kindOf(value) ?? ofColumn);
  const text = shown(value, kind);
  const input = inputOf(kind, text);
  input.disabled = isLocked;
  const untouched = input.value; // A browser writes a time or the end of a line in its own way.
  const stored = kind === "time" && value ? h("small", {}, said.wasStored(value)) : null;
  return {
    name,
    element: column(name, h("span", { class: "field" }, input, stored)),
    isChanged: () => input.value !== untouched,
    value: () => typed(name, input.value, kind),
  };
}

/**
 * @param {ValueKind | null} kind
 * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement}
 */
function inputOf(kind, text) {
  switch (kind) {
    case "boolean": {
      const select = h("select", {}, options([["", said.noValue], ["true", said.yes], ["false", said.no]]));
      select.value = text;
      return select;
    }
    // The browser's own field for numbers may round them.
    case "number":
      return h("input", { inputmode: "decimal", autocomplete: "off", class: "number", value: text });
    case "time": return h("input", { type: "datetime-local", step: "0.001", value: text });
    case "day": return h("input", { type: "date", value: text });
    default:
      return h("textarea", {
        dir: "auto", rows: Math.min(linesMost, linesOf(text, lettersOfLine)), spellcheck: "false",
        value: text, class: kind === "json" ? "code" : null,
      });
  }
}
