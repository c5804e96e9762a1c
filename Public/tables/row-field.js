// A field for one column of a row, by the kind of its value.

import { readable } from "../shared/diff.js";
import { column, fill, fit, h, options } from "../shared/dom.js";
import { columnKind, kindOf, shown, typed } from "./row-values.js";
import { tableWords as said } from "./words.js";
import { words } from "../shared/words.js";

const lettersOfLine = 50;
const linesMost = 10;

/** A value as text that is the same for the same value. */
export const asText = (value) => JSON.stringify(value ?? null);

/**
 * The field, with the value that a person typed. `earlier` is the text that was typed before and not saved.
 * @param {string | undefined} earlier
 */
export function rowField(name, value, items, isLocked, earlier) {
  const ofColumn = columnKind(name, items);
  const kind = typeof value === "string" && ofColumn === "text" ? "text" : (kindOf(value) ?? ofColumn);
  const text = shown(value, kind);
  const input = inputOf(kind, text);
  input.disabled = isLocked;
  let untouched = input.value; // A browser writes a time or the end of a line in its own way.
  if (earlier !== undefined) input.value = earlier;
  const stored = kind === "time" && value ? h("small", {}, said.wasStored(value)) : null;
  // Beside the label, so that it does not become a part of the field's name.
  const newer = h("small", { class: "attention", dir: "auto", id: `newer-${name}` });
  input.setAttribute("aria-describedby", newer.id);
  return {
    name,
    element: h("div", {}, column(name, h("span", { class: "field" }, input, stored)), newer),
    isChanged: () => input.value !== untouched,
    text: () => input.value,
    /** Shows a newer value of the column below what was typed. */
    showNewer: (value) => fill(newer, said.isNow(readable(value) ?? words.absent)),
    value: () => typed(name, input.value, kind),
    /** The column is stored with this value now. What was typed since the text `sent` stays. */
    rebase(value, sent) {
      const isSent = input.value === sent;
      untouched = inputOf(kind, shown(value, kind)).value;
      if (isSent) input.value = untouched;
      fill(newer);
    },
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
    default: {
      const area = h("textarea", {
        dir: "auto", spellcheck: "false", value: text, class: kind === "json" ? "code" : null,
      });
      fit(area, lettersOfLine, linesMost);
      return area;
    }
  }
}
