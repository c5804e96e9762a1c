// One row of any table: every column in a field of its own, changed ones sent, nothing else.

import { canWrite, parseJSON } from "./api.js";
import { readable } from "./diff.js";
import { ask } from "./dialog.js";
import { focusCard, h, toast } from "./dom.js";
import { words } from "./words.js";

const system = ["id", "createdAt", "updatedAt", "version", "deleted"];

/** The card of a row; `save(changes)` and `remove()` may throw, `close()` leaves it. */
export function rowEditor(row, { close, save, remove }) {
  const { item } = row;
  const fields = new Map();
  const own = Object.keys(item).filter((name) => !system.includes(name));
  const attempt = async (work) => {
    try {
      await work();
    } catch (problem) {
      toast(problem instanceof SyntaxError ? words.invalidResult(problem.column) : problem.message);
    }
  };

  /** What differs from the row as it came; a text column takes any text, the others JSON. */
  function changes() {
    const changed = {};
    for (const [name, field] of fields) {
      const before = item[name];
      if (field.value === (readable(before) ?? "")) continue;
      try {
        changed[name] = typeof before === "string" ? field.value : parseJSON(field.value || "null");
      } catch (problem) {
        if (before !== null && before !== undefined) throw Object.assign(problem, { column: name });
        changed[name] = field.value; // A column without a value so far may become a text.
      }
    }
    return changed;
  }

  const inputs = own.map((name) => {
    const text = readable(item[name]) ?? "";
    const field = h("textarea", { rows: Math.min(10, Math.max(1, text.split("\n").length, Math.ceil(text.length / 50))), spellcheck: "false", value: text, disabled: item.deleted === true || !canWrite });
    fields.set(name, field);
    return h("label", { class: "column" }, h("span", {}, name), field);
  });
  const facts = system.filter((name) => name in item).map((name) => [h("dt", {}, name), h("dd", {}, readable(item[name]))]);
  const element = h("article", { class: "card", "aria-labelledby": "row-title" },
    h("div", { class: "bar" }, h("h2", { id: "row-title", tabindex: "-1" }, item.id),
      h("button", { type: "button", class: "quiet", "aria-label": words.close, onclick: close }, "×")),
    row.reason && h("p", { class: "quiet-text" }, row.reason, " ", row.operationId && h("a", { href: `#/queue/${row.operationId}` }, words.details)),
    h("form", { class: "editor", onsubmit: (event) => (event.preventDefault(), attempt(() => save(changes()))) },
      inputs,
      !canWrite && h("p", { class: "quiet-text" }, words.onlyLooking),
      canWrite && !item.deleted && h("div", { class: "actions" }, h("button", { class: "primary" }, words.save),
        h("button", { type: "button", onclick: async () => (await ask(words.delete, words.deleteAsk(item.id), words.delete)) && attempt(remove) }, words.delete))),
    h("dl", { class: "facts" }, facts));
  setTimeout(() => focusCard(element));
  return element;
}
