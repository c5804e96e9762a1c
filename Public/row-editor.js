// One row of any table: each column in a field of its own. Only the columns that were changed are sent.

import { canWrite, parseJSON } from "./api.js";
import { askDangerous } from "./dialog.js";
import { readable } from "./diff.js";
import { button, column, facts, focusCard, form, h, note } from "./dom.js";
import { attempt } from "./messages.js";
import { systemColumns } from "./tables-state.js";
import { words } from "./words.js";

const lettersOfLine = 50;
const linesMost = 10;

/**
 * The card of a row; `save(changes)` and `remove()` may throw.
 * @param {TableItem} row
 * @param {{ close(): void, save(changes: Item): Promise<void>, remove(): Promise<void> }} actions
 */
export function rowEditor({ item, reason, operationId }, { close, save, remove }) {
  const own = Object.keys(item).filter((name) => !systemColumns.includes(name));
  const fields = new Map(own.map((name) => [name, fieldOf(item, name)]));

  const onDelete = async () => {
    if (await askDangerous(words.delete, words.deleteAsk(item.id), words.delete, 1)) attempt(remove);
  };

  const inputs = own.map((name) => column(name, fields.get(name)));
  const system = systemColumns.filter((name) => name in item);
  const element = h("article", { class: "card", "aria-labelledby": "row-title" },
    h("div", { class: "bar" },
      h("h2", { id: "row-title", tabindex: "-1" }, item.id),
      button({ class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    reason && note(reason, " ", operationId && h("a", { href: `#/queue/${operationId}` }, words.details)),
    form({ class: "editor" }, () => attempt(() => save(changesOf(item, fields))),
      inputs,
      !canWrite && note(words.onlyLooking),
      canWrite && !item.deleted && h("div", { class: "actions" },
        h("button", { class: "primary" }, words.save),
        button({ onclick: onDelete }, words.delete))),
    facts(system.map((name) => [name, readable(item[name])])));
  setTimeout(() => focusCard(element));
  return element;
}

function fieldOf(item, name) {
  const text = readable(item[name]) ?? "";
  const lines = Math.max(1, text.split("\n").length, Math.ceil(text.length / lettersOfLine));
  return h("textarea", {
    dir: "auto", rows: Math.min(linesMost, lines), spellcheck: "false", value: text,
    disabled: item.deleted === true || !canWrite,
  });
}

/** What differs from the row as it came. A text column takes any text, the others take JSON. */
function changesOf(item, fields) {
  /** @type {Item} */
  const changes = {};
  for (const [name, { value }] of fields) {
    const before = item[name];
    if (value === (readable(before) ?? "")) continue;
    changes[name] = typeof before === "string" ? value : valueOf(name, value, before);
  }
  return changes;
}

function valueOf(name, text, before) {
  try {
    return parseJSON(text || "null");
  } catch {
    if (before !== null && before !== undefined) throw new Error(words.invalidResult(name));
    return text; // A column without a value so far may become a text.
  }
}
